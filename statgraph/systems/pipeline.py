"""Training a system: from a corpus and a configuration to a finished run folder."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import numpy as np

from statgraph import artifacts
from statgraph.augmentation.law_questions import with_law_questions
from statgraph.augmentation.synthetic import write_expansion
from statgraph.config import RunConfig
from statgraph.corpus.records import Corpus
from statgraph.errors import StatgraphError
from statgraph.runs.article_store import write_article_store
from statgraph.runs.claiming import claimed, give_back
from statgraph.runs.provenance import commit, versions
from statgraph.runs.run import CorpusFacts, Run
from statgraph.search.evaluating import evaluate_split
from statgraph.search.ranker import write_lexical_index
from statgraph.search.retriever import Retriever
from statgraph.systems.dense import train_dense
from statgraph.systems.ensemble import FoundOnDev, for_corpus, train_ensemble
from statgraph.systems.job import DEFAULT_OPTIONS, Job, TrainingOptions
from statgraph.systems.model_card import backbone_licences, corpus_entry, write_model_cards
from statgraph.systems.student import train_student


def train_run(corpus: Corpus, config: RunConfig, folder: Path, options: TrainingOptions = DEFAULT_OPTIONS) -> Run:
    """Train a system into a run folder; the manifest comes last, so a folder without one is an unfinished run.

    A configuration or corpus that is refused leaves nothing behind in a folder that was empty. Of several processes the
    first alone writes, and BM25 is its work alone.

    With `options.final`, all questions train, or all but those of test: each stage on its schedule up to the epoch that
    run kept, and an ensemble with the trees that it learnt.

    Raises:
        RunError: if the folder is in use by another run or another process, or `resume` meets another corpus, or other
            values of settings that the work in the folder has used.
        CorpusError, UsageError, ModelError: if corpus and configuration cannot be trained on.
    """
    if options.final is not None:
        corpus = corpus.all_in_train(but_test=options.keep_test)
    config = for_corpus(config, corpus)
    job, world = Job(corpus, config, folder, options), options.world
    cache = options.run_cache if config.has_vectors and world.size == 1 and options.final is None else None
    if cache and not options.resume and (kept := cache.take(corpus, config, folder)):
        return kept
    with claimed(folder, corpus, config, resume=options.resume) if world.is_first else nullcontext():
        world.barrier()
        run = _trained(job)
        if cache:
            cache.keep(corpus, run)
        return run


def _trained(job: Job) -> Run:
    """Return the run of a job whose folder is claimed."""
    corpus, config, folder, world = job.corpus, job.config, job.folder, job.world
    on_dev: FoundOnDev | None = None
    try:
        if world.is_first:
            write_article_store(corpus.articles, folder)
        if config.is_ensemble:
            on_dev = train_ensemble(job, train_run)
        elif config.student.epochs:
            train_student(job)
        elif config.has_vectors:
            train_dense(replace(job, corpus=with_law_questions(corpus, seed=config.seed)) if config.from_law else job)
        elif world.is_first and config.bm25.expansion and not (folder / artifacts.RUN_SYNTHETIC).exists():
            _write_expansion(job)
    except StatgraphError:
        if world.is_first and not job.options.resume:
            give_back(folder)
        raise
    run = _finished(job, on_dev) if world.is_first else None
    manifest = world.json_from_first(lambda: run.to_dict())
    return run or Run.from_dict(folder, manifest)


def _write_expansion(job: Job) -> None:
    with job.clock.step("synthetic questions"):
        write_expansion(
            job.corpus,
            job.config.augment,
            job.folder / artifacts.RUN_SYNTHETIC,
            job.generation,
            most=job.config.bm25.expansion,
        )


def _finished(job: Job, on_dev: FoundOnDev | None) -> Run:
    """Return the trained run after its evaluation, with report and manifest on disk."""
    config = job.config
    run = Run(
        job.folder,
        config,
        CorpusFacts.of(job.corpus),
        data=corpus_entry(job.corpus),
        backbone_licences=backbone_licences(job.config),
        processes=job.world.size,
        versions=versions(),
        commit=commit(),
        final=str(job.options.final.folder) if job.options.final else "",
        keeps_test=job.options.keep_test,
        teacher=str(job.options.teacher.folder) if job.options.teacher else "",
    )
    if not run.has_vectors and not config.is_ensemble:
        with job.clock.step("BM25 index"):
            write_lexical_index(run, job.corpus.articles)
    report = None
    if job.corpus.split("dev"):
        with job.clock.step("evaluation on dev"):
            ranks = on_dev or Retriever.of(run, device=run.config.device)
            report = evaluate_split(ranks, job.corpus, "dev", rng=np.random.default_rng(run.config.seed))
        artifacts.write_json(run.folder / artifacts.RUN_REPORT, report.to_dict())
    run = replace(run, steps=tuple(job.clock.steps))
    write_model_cards(run, report)
    run.write()
    return run
