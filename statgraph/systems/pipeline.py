"""Training a system: from a corpus and a configuration to a finished run folder."""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from statgraph import __version__, artifacts
from statgraph.augmentation.synthetic import partial_beside, write_expansion
from statgraph.config import RunConfig
from statgraph.corpus.records import Corpus
from statgraph.errors import RunError, StatgraphError
from statgraph.runs.provenance import commit
from statgraph.runs.run import CorpusFacts, Run
from statgraph.search.article_store import STORE_FILES, write_article_store
from statgraph.search.evaluating import evaluate_split
from statgraph.search.ranker import write_lexical_index
from statgraph.search.retriever import Retriever
from statgraph.settings import changed_settings
from statgraph.systems.dense import train_dense
from statgraph.systems.job import DEFAULT_OPTIONS, Job, TrainingOptions
from statgraph.systems.model_card import backbone_licences, corpus_entry, write_model_cards
from statgraph.training.stage1 import Stage1
from statgraph.training.stage2 import Stage2

_VERSIONED = ("torch", "dgl", "faiss-cpu", "sentence-transformers", "transformers", "bm25s", "numpy")


def train_run(corpus: Corpus, config: RunConfig, folder: Path, options: TrainingOptions = DEFAULT_OPTIONS) -> Run:
    """Train a system into a run folder; the manifest comes last, so a folder without one is an unfinished run.

    A configuration or corpus that is refused leaves nothing behind in a folder that was empty. Of several processes the
    first alone writes, and BM25 is its work alone.

    Raises:
        RunError: if the folder is in use by another run, or `resume` meets another corpus, or other values of
            settings that the work in the folder has used.
        CorpusError, UsageError, ModelError: if corpus and configuration cannot be trained on.
    """
    job, world = Job(corpus, config, folder, options), options.world
    if world.is_first:
        _claim(folder, corpus, config, resume=options.resume)
    world.barrier()
    try:
        if world.is_first:
            write_article_store(corpus.articles, folder)
        if config.has_vectors:
            train_dense(job)
        elif world.is_first and config.bm25.expansion and not (folder / artifacts.RUN_SYNTHETIC).exists():
            _write_expansion(job)
    except StatgraphError:
        if world.is_first and not options.resume and not _has_progress(folder):
            _give_back(folder)
        raise
    run = _finished(job) if world.is_first else None
    manifest = world.json_from_first(lambda: run.to_dict())
    return run or Run.from_dict(folder, manifest)


def is_finished(folder: Path) -> bool:
    """Return whether a folder holds a finished run."""
    return (folder / artifacts.MANIFEST).is_file()


def _write_expansion(job: Job) -> None:
    with job.clock.step("synthetic questions"):
        write_expansion(
            job.corpus,
            job.config.augment,
            job.folder / artifacts.RUN_SYNTHETIC,
            job.generation,
            most=job.config.bm25.expansion,
        )


def _finished(job: Job) -> Run:
    """Return the trained run after its evaluation, with report and manifest on disk."""
    run = Run(
        job.folder,
        job.config,
        CorpusFacts.of(job.corpus),
        data=corpus_entry(job.corpus),
        backbone_licences=backbone_licences(job.config),
        processes=job.world.size,
        versions=_versions(),
        commit=commit(),
    )
    if not run.has_vectors:
        with job.clock.step("BM25 index"):
            write_lexical_index(run, job.corpus.articles)
    report = None
    if job.corpus.split("dev"):
        with job.clock.step("evaluation on dev"):
            retriever = Retriever.of(run, device=run.config.device)
            report = evaluate_split(retriever, job.corpus, "dev", rng=np.random.default_rng(run.config.seed))
        artifacts.write_json(run.folder / artifacts.RUN_REPORT, report.to_dict())
    run = replace(run, steps=tuple(job.clock.to_list()))
    write_model_cards(run, report)
    run.write()
    return run


def _claim(folder: Path, corpus: Corpus, config: RunConfig, *, resume: bool) -> None:
    wanted = {"config": config.to_dict(), "corpus_hash": corpus.content_hash}
    wanted = artifacts.as_json(wanted)
    if resume:
        if not (folder / artifacts.RUN_CONFIG).is_file():
            raise RunError(f"{folder}: no run to resume; start it without --resume")
        begun = _begun(folder / artifacts.RUN_CONFIG)
        if begun["corpus_hash"] != wanted["corpus_hash"]:
            raise RunError(
                f"{folder}: was begun on another corpus, or another state of this one; name that one with --corpus, "
                "or train into another folder"
            )
        used = _used_settings(folder, begun["config"])
        changed = changed_settings(begun["config"], wanted["config"], which=used)
        if changed:
            raise RunError(
                f"{folder}: was begun with other settings ({changed}); resume it with the same ones, "
                "or train into another folder"
            )
        if begun != wanted:
            artifacts.write_json(folder / artifacts.RUN_CONFIG, wanted)
        return
    if folder.exists() and not folder.is_dir():
        raise RunError(f"{folder}: is a file; choose another --out")
    if folder.exists() and any(folder.iterdir()):
        unfinished = (folder / artifacts.RUN_CONFIG).is_file() and not is_finished(folder)
        remedy = "add --resume to go on with it, or choose another --out" if unfinished else "choose another --out"
        raise RunError(f"{folder}: not empty; {remedy}")
    folder.mkdir(parents=True, exist_ok=True)
    artifacts.write_json(folder / artifacts.RUN_CONFIG, wanted)


def _used_settings(folder: Path, config: Mapping[str, Any]) -> Callable[[str], bool]:
    """Return what tells of a setting's name whether the work that an unfinished run has saved depends on it.

    A stage uses its settings from its first checkpoint on, and those of the stages before it.
    """
    stage2 = (folder / artifacts.RUN_CHECKPOINTS / Stage2.name).exists()
    stage1 = stage2 or (folder / artifacts.RUN_CHECKPOINTS / Stage1.name).exists()
    synthetic = _has_synthetic(folder)
    negatives = any(
        begun and config.get(stage.name, {}).get("negatives", "none") != "none"
        for begun, stage in ((stage1, Stage1), (stage2, Stage2))
    )
    by_group = {
        "encoder": stage1,
        "pretrain": stage1 and config.get("encoder", {}).get("adapted", False),
        "augment": synthetic or (stage1 and config.get("stage1", {}).get("synthetic", 0) > 0),
        "bm25.expansion": synthetic,
        "bm25": negatives,
        "negatives": negatives,
        "stage1": stage1,
        "graph": stage2,
        "gnn": stage2,
        "stage2": stage2,
    }
    return lambda name: by_group.get(name, by_group.get(name.partition(".")[0], stage1 or synthetic))


def _has_progress(folder: Path) -> bool:
    """Return whether a folder holds work that an interrupted run can resume."""
    return (folder / artifacts.RUN_CHECKPOINTS).exists() or _has_synthetic(folder)


def _has_synthetic(folder: Path) -> bool:
    """Return whether a folder holds synthetic questions, all or the first."""
    synthetic = folder / artifacts.RUN_SYNTHETIC
    return synthetic.exists() or partial_beside(synthetic).exists()


def _give_back(folder: Path) -> None:
    """Leave a folder as empty as it was claimed."""
    for name in (artifacts.RUN_CONFIG, *STORE_FILES, artifacts.RUN_METRICS):
        (folder / name).unlink(missing_ok=True)
    with suppress(OSError):
        folder.rmdir()


def _begun(path: Path) -> dict:
    try:
        begun = artifacts.read_json(path)
        if isinstance(begun["config"], dict) and isinstance(begun["corpus_hash"], str):
            return begun
    except (ValueError, KeyError, TypeError):
        pass  # no JSON, or another's: as damaged as one whose values are of other kinds
    raise RunError(f"{path}: damaged; train into another folder")


def _versions() -> dict[str, str]:
    versions = {"python": platform.python_version(), "statgraph": __version__}
    for package in _VERSIONED:
        with suppress(metadata.PackageNotFoundError):
            versions[package] = metadata.version(package)
    return versions
