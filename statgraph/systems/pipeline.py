"""Training a system: from a corpus and a configuration to a finished run folder."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import numpy as np

from statgraph import artifacts
from statgraph._version import __version__
from statgraph.augmentation.synthetic import write_expansion
from statgraph.cache import cached, share_files
from statgraph.config import RunConfig
from statgraph.distributed import current_world, is_elastic
from statgraph.encoders.article_text import article_texts
from statgraph.encoders.backbone import EMBEDDED_E5
from statgraph.encoders.backbones import longer_texts, resolve_backbone
from statgraph.errors import StatgraphError, option
from statgraph.formats.doubts import language_doubts
from statgraph.graph.store import default_folder
from statgraph.law.query import Ranks
from statgraph.law.records import Corpus
from statgraph.law.splitting import with_near_duplicates
from statgraph.law.synonyms import write_synonyms
from statgraph.law.titles import number_or_title
from statgraph.progress import Progress, resumable, silent
from statgraph.retrieval.search.evaluating import evaluate_split
from statgraph.retrieval.search.ranker import write_lexical_index
from statgraph.retrieval.search.retriever import Retriever
from statgraph.runs import parts
from statgraph.runs.article_store import write_article_store
from statgraph.runs.folders import claimed, is_finished, is_unfinished, new_run_folder, newest_unfinished_run, unclaim
from statgraph.runs.kind import kind_of
from statgraph.runs.own_corpus import write_training_texts
from statgraph.runs.provenance import commit, versions
from statgraph.runs.run import CorpusFacts, RunFolder
from statgraph.systems.job import DEFAULT_OPTIONS, Job, TrainingOptions
from statgraph.systems.model_card import backbone_licences, corpus_entry, write_model_cards
from statgraph.systems.presets import DEFAULT_SYSTEM, TrainingRequest, member_config, resolve_config

EMBEDDED_MOST = 5_000  # articles up to which a corpus is embedded to be searched without training: a minute or two
_MANY_REPEATED = 0.2  # of the dev questions
_UNTRAINED = ("device=cpu",)
_MEMBER = f"zero-shot@{EMBEDDED_E5}"


def train_run(corpus: Corpus, config: RunConfig, folder: Path, options: TrainingOptions = DEFAULT_OPTIONS) -> RunFolder:
    """Train a system into a run folder; the manifest comes last, so a folder without one is an unfinished run.

    A configuration or corpus that is refused leaves nothing behind in a folder that was empty. Of several processes the
    first alone writes.

    With `options.final`, all questions train, or all but those of test: each stage on its schedule up to the epoch that
    run kept, and an ensemble with the weights that it learnt.

    Raises:
        RunError: if the folder is in use by another run or another process, or `resume` meets another corpus, or other
            values of settings that the work in the folder has used.
        CorpusError, UsageError, ModelError: if corpus and configuration cannot be trained on.
    """
    if options.final is not None:
        corpus = corpus.all_in_train(exclude_test=options.keep_test)
    kind, world = kind_of(config), current_world()
    config = kind.for_corpus(config, corpus)
    cache = options.run_cache if kind.is_shared and world.size == 1 and options.final is None else None
    if cache and not options.resume and (kept := cache.take(corpus, config, folder)):
        return kept
    with claimed(folder, corpus, config, resume=options.resume) if world.is_first else nullcontext():
        world.barrier()
        run = _trained(Job(corpus, config, folder, options, world=world))
        if cache:
            cache.keep(corpus, run)
        return run


def train_requested(
    corpus: Corpus, request: TrainingRequest, out: Path | None, options: TrainingOptions
) -> tuple[RunFolder, bool]:
    """Return the run of a request, trained or resumed in `out` or in a folder under runs/, and whether it was finished
    before. torchrun resumes by itself, in `out`, what it starts again.

    Raises:
        RunError: also if there is nothing to resume, or `request.final` is of another corpus.
        CorpusError, UsageError, ModelError: as in `train_run`.
    """
    world, final = current_world(), request.final
    if final is not None:
        final.check_corpus(corpus)

    def place() -> tuple[bool, str, bool]:
        """Return whether the training resumes a run, the run's folder, and whether it is finished already."""
        resumes = options.resume or (is_elastic() and out is not None and is_unfinished(out))
        name = request.config.system if final is None else f"{request.config.system}-final"
        folder = out or (newest_unfinished_run() if resumes else new_run_folder(corpus.name, name))
        return resumes, str(folder), resumes and is_finished(folder)

    resumes, chosen, was_finished = world.json_from_first(place)
    folder = Path(chosen)
    if was_finished:
        return RunFolder.read(folder), True
    graph = default_folder(corpus.name) if final is None else None  # it has no questions of dev and test
    options = replace(options, resume=resumes, final=final, teacher=request.teacher, graph_folder=graph)
    with resumable(
        f"with: {option('out')} {folder} {option('resume')}", lambda: world.is_first and is_unfinished(folder)
    ):
        return train_run(corpus, request.config, folder, options), False


def _trained(job: Job) -> RunFolder:
    """Return the run of a job whose folder is claimed."""
    world = job.world
    try:
        if world.is_first:
            if job.options.measured and job.options.teacher is None:  # a student follows another run
                for doubt in _doubts(job.corpus, job.config):
                    job.options.announce(doubt)
            write_article_store(job.corpus.articles, job.folder)
            write_synonyms(job.corpus.synonyms, job.folder / parts.SYNONYMS)
            if kind_of(job.config).has_members:
                write_training_texts(job.corpus, job.folder)
        dev_rankings = kind_of(job.config).train(job)
    except StatgraphError:
        if world.is_first and not job.options.resume:
            unclaim(job.folder, job.config)
        raise
    run = _finished(job, dev_rankings) if world.is_first else None
    manifest = world.json_from_first(lambda: run.to_dict() if run is not None else {})
    return run or RunFolder.from_dict(job.folder, manifest)


def _finished(job: Job, dev_rankings: Ranks | None) -> RunFolder:
    """Return the trained run after its evaluation, with report and manifest on disk."""
    config, final, teacher = job.config, job.options.final, job.options.teacher
    run = RunFolder(
        job.folder,
        config,
        CorpusFacts.of(job.corpus),
        data=corpus_entry(job.corpus),
        backbone_licences=backbone_licences(config),
        processes=job.world.size,
        versions=versions(),
        commit=commit(),
        final=str(final.folder) if final else "",
        keeps_test=job.options.keep_test,
        teacher=str(teacher.folder) if teacher else "",
    )
    report = None
    if job.corpus.split("dev") and job.options.measured:
        with job.clock.step("evaluation on dev"):
            ranks = dev_rankings or Retriever.of(run, device=config.device)
            report = evaluate_split(ranks, job.corpus, "dev", rng=np.random.default_rng(config.seed))
        artifacts.write_json(run.folder / parts.REPORT, report.to_dict())
        _announce_repetition(job)
    run = replace(run, steps=tuple(job.clock.steps))
    write_model_cards(run, report)
    artifacts.remove_folder(run.folder / parts.CHECKPOINTS)  # only an unfinished training needs them
    share_files(run.folder)
    run.write()
    return run


def _doubts(corpus: Corpus, config: RunConfig) -> Iterator[str]:
    """Yield what the user should know of a law before it is trained on: that it reads like another language than it
    says, and that articles are longer than what the encoder reads that reads least."""
    for doubt in language_doubts(corpus.articles, corpus.language):
        yield f"{doubt}; words are compared as in '{corpus.language}': import it again with --language"
    kind = kind_of(config)
    encoders = {name: member_config(config, name).encoder for name in config.ensemble.members if kind.has_members}
    if kind.has_encoder:
        encoders = {"the encoder": config.encoder}
    if not encoders:
        return
    reader, encoder = min(encoders.items(), key=lambda item: item[1].max_tokens)
    texts = article_texts(corpus.articles, heading_path=encoder.heading_path)
    longer = longer_texts(texts, resolve_backbone(encoder.backbone), encoder.max_tokens)
    if longer:
        first = number_or_title(corpus.articles[longer[0]])
        yield (
            f"{len(longer):,} of {len(texts):,} articles are longer than the {encoder.max_tokens:,} tokens that "
            f"{reader} reads (first: {first}); what follows these is not in its vectors"
        )


def _announce_repetition(job: Job) -> None:
    """Say where the dev questions repeat training questions, so that what is measured on them is too good."""
    train, dev = (
        {question.question_id: question.article_ids for question in job.corpus.split(split)}
        for split in ("train", "dev")
    )
    repeated = with_near_duplicates(train | dev, train).intersection(dev)
    if len(repeated) >= _MANY_REPEATED * len(dev):
        job.options.announce(
            f"{len(repeated)} of {len(dev)} dev questions have a training question that shares most labels: their "
            "figures flatter; 'statgraph import --splits by-topics' keeps such in one split"
        )


def train_lexical(job: Job) -> None:
    """Write the BM25 index into the run folder, after the synthetic questions where `bm25.expansion` is above 0; of
    several processes the first alone does.

    Raises:
        UsageError: if the settings of the synthetic questions do not fit.
    """
    if not job.world.is_first:
        return
    config, run = job.config, RunFolder(job.folder, job.config, CorpusFacts.of(job.corpus))
    if config.bm25.expansion and not run.synthetic.exists():
        with job.clock.step("synthetic questions"):
            write_expansion(job.corpus, config.augment, run.synthetic, job.generation, most=config.bm25.expansion)
    with job.clock.step("BM25 index"):
        write_lexical_index(run, job.corpus.articles)


def untrained_run(
    corpus: Corpus, progress: Progress = silent, announce: Callable[[str], None] = lambda line: None
) -> Path:
    """Return the run folder of a corpus searched without training: an ensemble of the pretrained
    embedded transformer beside words, headings and citations; of more than 5,000 articles without it.

    It is kept in the cache by the content of the corpus, the settings and the version; dev and test questions reach
    nothing in it, nor do their citing texts. `announce` is called with a line before articles are embedded, and with
    what looks wrong in the corpus.
    """
    n_articles = len(corpus.articles)
    member = _MEMBER if n_articles <= EMBEDDED_MOST else "none"
    config = resolve_config(DEFAULT_SYSTEM, (*_UNTRAINED, f"ensemble.members={member}"))
    # Without dev questions nothing is measured, which would take longer than the rest.
    train = tuple(question for question in corpus.questions if question.split == "train")
    seen = replace(corpus, questions=train, citing=corpus.usable_citing())
    inputs = [corpus.content_hash, config.to_dict(), __version__, *filter(None, [corpus.synonyms])]

    def make(folder: Path) -> None:
        for doubt in _doubts(seen, config):
            announce(f"Note: {doubt}")
        if config.ensemble.members:
            announce(f"Embedding {n_articles:,} articles once with {EMBEDDED_E5}; the cache keeps the vectors")
        # In a folder of its own: training holds the folder that it writes, and the cache holds this one.
        train_run(seen, config, folder / "run", TrainingOptions(progress=progress, measured=False))

    return cached("untrained", inputs, make) / "run"
