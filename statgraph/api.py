"""What Python users call: import or fetch a corpus, build its graph, train, evaluate, search, update.

    from statgraph import Corpus, train

    corpus = Corpus.from_csv("harbour", language="en")
    run = train(corpus, fast=True)
    print(run.evaluate("test").metrics["R@10"])
    for hit in run.retriever().search("Does a dinghy pay a fee?"):
        print(hit.rank, hit.title)

All errors that a caller can cause are a `StatgraphError` of one line (a `CorpusError` lists every problem of a corpus).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from statgraph.config import GraphConfig, RunConfig
from statgraph.corpus.catalogue import CATALOGUE, default_folder, fetch_corpus, sample_folder
from statgraph.corpus.records import MAIN_SET, Corpus
from statgraph.corpus.splitting import HASH
from statgraph.corpus.store import read_corpus
from statgraph.errors import UsageError, unknown_name
from statgraph.progress import Progress, silent

if TYPE_CHECKING:  # these load torch
    from statgraph.evaluation.report import Report
    from statgraph.graph.build import LegalGraph
    from statgraph.search.retriever import Retriever

SAMPLE = "sample"
Value = TypeVar("Value")


@dataclass(frozen=True)
class Evaluation:
    """How well a run answers the questions of a split.

    Attributes:
        report: every metric with its interval, over all questions and in each stratum.
    """

    report: Report

    @property
    def metrics(self) -> dict[str, float]:
        """Return the mean of each metric over all questions, from 0 to 1, by name: `R@10`, `mAP`, ..."""
        return {name: estimate.mean for name, estimate in self.report.strata["all"].metrics.items()}

    @property
    def intervals(self) -> dict[str, tuple[float, float]]:
        """Return the 95 % bootstrap interval of each metric."""
        return {name: (estimate.low, estimate.high) for name, estimate in self.report.strata["all"].metrics.items()}


class Run:
    """A trained run: a folder, and the corpus whose questions measure it.

    Attributes:
        folder: what `statgraph search --run` takes.
        corpus: the corpus that it was trained on, or updated to; None for a run opened without it.
        config: every setting that it was trained with.
    """

    folder: Path
    corpus: Corpus | None
    config: RunConfig

    def __init__(self, folder: Path | str, corpus: Corpus | None = None):
        """Open a finished run.

            Run("runs/harbour", corpus)

        Raises:
            RunError: if the folder holds no finished run, or one of another corpus.
            UsageError: if an argument has the wrong type.
        """
        from statgraph.runs.run import Run as RunFolder

        opened = RunFolder.read(_checked("run", folder, (str, os.PathLike), "the folder of a run"))
        if corpus is not None:
            opened.check_corpus(_checked_corpus(corpus))
        self.folder, self.corpus, self.config = opened.folder, corpus, opened.config

    def __repr__(self) -> str:
        return f"Run({str(self.folder)!r}, system={self.config.system!r})"

    def retriever(self, device: str = "auto") -> Retriever:
        """Return what searches the run."""
        from statgraph.search.retriever import Retriever

        return Retriever.load(self.folder, device=device)

    def evaluate(self, split: str = "test", *, question_set: str = MAIN_SET, device: str = "auto") -> Evaluation:
        """Return how well the run answers a split of its corpus; see `evaluate`."""
        if self.corpus is None:
            raise UsageError(f"{self.folder}: opened without its corpus; call evaluate(run, corpus, '{split}')")
        return evaluate(self, self.corpus, split, question_set=question_set, device=device)


def fetch(name: str, folder: Path | str | None = None, *, splits: str = HASH, accept_terms: bool = False) -> Corpus:
    """Return a corpus of the catalogue, downloaded to a folder unless it is there already.

        fetch("sample")  # the embedded one, without a network

    Args:
        name: `sample`, or one of `statgraph fetch --list`, which shows the licences.
        folder: the corpus folder; None for corpora/NAME, where `statgraph fetch` writes too.
        splits: how questions without a split get one when the corpus is downloaded: `hash` or `by-labels`.
        accept_terms: whether you accept the terms of a corpus for research only, which is not downloaded otherwise.

    Raises:
        UsageError: if there is no such corpus, or its terms have to be accepted.
        FetchError: if it cannot be downloaded.
    """
    if name == SAMPLE:
        return read_corpus(sample_folder())
    if name not in CATALOGUE:
        raise unknown_name("corpus", name, (SAMPLE, *CATALOGUE))
    place = default_folder(name, splits) if folder is None else Path(folder)
    if place.is_dir():
        return read_corpus(place)
    return fetch_corpus(name, place, splits=splits, accept_terms=accept_terms)


def build_graph(corpus: Corpus, relations: Iterable[str] = GraphConfig.relations) -> LegalGraph:
    """Return the graph of a corpus: its headings, articles and training questions, and what joins them.

        build_graph(corpus).heterograph

    Args:
        corpus: the corpus.
        relations: groups of `tree`, `bipartite`, `order`, `citations`, `citing`.

    Raises:
        UsageError: if an argument has the wrong type, or a group is unknown.
    """
    _checked_corpus(corpus)
    if isinstance(relations, str) or not isinstance(relations, Iterable):
        raise UsageError(f"relations: must be a list of names, such as ['tree'] (got {relations!r})")
    from statgraph.graph import build

    return build.build_graph(corpus, tuple(relations))


def train(
    corpus: Corpus,
    system: str = "ensemble",
    *,
    fast: bool = False,
    seed: int = 0,
    out: Path | str | None = None,
    settings: Mapping[str, object] | Iterable[str] = (),
    progress: Progress = silent,
) -> Run:
    """Return a run of a system, trained on a corpus.

        train(corpus, "qabisar", out="runs/mine", settings={"stage2.epochs": 5, "device": "cpu"})

    Args:
        corpus: the corpus; its train questions train, its dev questions choose epochs and rankers.
        system: one of `statgraph train --help`.
        fast: whether to leave transformers out of the ensemble.
        seed: of every random choice.
        out: the folder of the run; None for a new one under runs/.
        settings: by dotted name, or as texts `a.b=c`; `statgraph train --help-settings` lists them.
        progress: called with a `statgraph.progress.Step` as the long steps go on.

    Raises:
        UsageError: if an argument has the wrong type, or a setting is unknown or outside its limits.
        CorpusError, ModelError: if corpus and settings cannot be trained on.
        RunError: if the folder is in use.
    """
    _checked_corpus(corpus)
    _checked("system", system, (str,), "the name of a system")
    _checked("out", out, (str, os.PathLike, type(None)), "a folder")
    if not callable(progress):
        raise UsageError(f"progress: must be a function of a step (got {progress!r})")
    from statgraph.runs.folders import new_run_folder
    from statgraph.systems.job import TrainingOptions
    from statgraph.systems.pipeline import train_run
    from statgraph.systems.presets import training_request

    request = training_request(system, _assignments(settings), seed=seed, fast=fast)
    folder = Path(out) if out is not None else new_run_folder(corpus.name, system)
    train_run(corpus, request.config, folder, TrainingOptions(progress=progress))
    return Run(folder, corpus)


def evaluate(
    run: Run | Path | str, corpus: Corpus, split: str = "test", *, question_set: str = MAIN_SET, device: str = "auto"
) -> Evaluation:
    """Return how well a run answers the questions of a split.

        evaluate("runs/mine", corpus, "dev").intervals["mAP"]

    Args:
        run: the run, or its folder.
        corpus: the corpus that it was trained on.
        split: train, dev or test.
        question_set: which questions of the split; the corpus's own unless named.
        device: auto, cpu or cuda.

    Raises:
        UsageError: if the split is unknown or empty, or an argument has the wrong type.
        RunError: if it is no finished run, or one of another corpus.
    """
    import numpy as np

    from statgraph.evaluation.report import evaluation_report
    from statgraph.runs.run import Run as RunFolder
    from statgraph.search.evaluating import split_metrics
    from statgraph.search.retriever import Retriever

    opened = RunFolder.read(_folder_of(run))
    opened.check_measurable(split)
    opened.check_corpus(_checked_corpus(corpus))
    measured = split_metrics(Retriever.of(opened, device=device), corpus, split, question_set)
    rng, n_articles = np.random.default_rng(0), len(corpus.articles)
    return Evaluation(evaluation_report(measured.metrics, measured.masks, split=split, n_articles=n_articles, rng=rng))


def update(
    run: Run | Path | str,
    corpus: Corpus,
    *,
    out: Path | str | None = None,
    full: bool = False,
    device: str = "auto",
    progress: Progress = silent,
) -> Run:
    """Return a run brought to a new version of its corpus, without training.

        update(run, new_version, out="runs/mine-2027")

    Args:
        run: the run, or its folder.
        corpus: the new version; articles with the same id are the same article.
        out: a folder for the updated run; None for the run itself, updated completely or not at all.
        full: whether to embed and compute everything again, changed or not.
        device: auto, cpu or cuda.
        progress: called with a `statgraph.progress.Step` as embedding goes on.

    Raises:
        RunError: if the run cannot be updated to that corpus.
        UsageError: if an argument has the wrong type.
    """
    from statgraph.systems.updating.update import TextVectors, update_run

    folder, place = _folder_of(run), None if out is None else Path(out)
    summary = update_run(
        folder, _checked_corpus(corpus), out=place, full=full, texts=TextVectors(device=device, progress=progress)
    )
    return Run(summary.run, corpus)


def _folder_of(run: Run | Path | str) -> Path:
    return run.folder if isinstance(run, Run) else Path(_checked("run", run, (str, os.PathLike), "a run or its folder"))


def _checked_corpus(corpus: Corpus) -> Corpus:
    return _checked("corpus", corpus, (Corpus,), "a Corpus, such as Corpus.from_csv(...) or read_corpus(...) makes")


def _checked(name: str, value: Value, kinds: tuple[type, ...], wanted: str) -> Value:
    """Return a value of one of the kinds.

    Raises:
        UsageError: if it is of another.
    """
    if not isinstance(value, kinds):
        raise UsageError(f"{name}: must be {wanted} (got {type(value).__name__})")
    return value


def _assignments(settings: Mapping[str, object] | Iterable[str]) -> tuple[str, ...]:
    """Return settings as texts `a.b=c`."""
    if isinstance(settings, Mapping):
        return tuple(
            f"{name}={','.join(map(str, value)) if isinstance(value, list | tuple) else value}"
            for name, value in settings.items()
        )
    if isinstance(settings, str) or not isinstance(settings, Iterable):
        raise UsageError(
            f"settings: must be a mapping, or a list of texts such as 'stage1.epochs=3' (got {settings!r})"
        )
    return tuple(str(setting) for setting in settings)
