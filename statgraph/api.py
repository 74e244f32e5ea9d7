"""What Python users call, and the command line with them; what is not here is exported from the room that it is about.

    from statgraph import import_corpus, train

    corpus = import_corpus("harbour", "csv", language="en")
    run = train(corpus, fast=True)
    print(run.evaluate("test").metrics["R@10"])
    for hit in run.retriever().search("Does a dinghy pay a fee?"):
        print(hit.rank, hit.title)

All errors that a caller can cause are a `StatgraphError` of one line (a `CorpusError` lists every problem of a corpus).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Self

from statgraph.config import AugmentConfig, GraphConfig, RunConfig
from statgraph.errors import UsageError, checked, option
from statgraph.extras import require
from statgraph.formats.catalogue.catalogue import fetch_corpus
from statgraph.law.catalogue import SAMPLE, sample_folder
from statgraph.law.records import MAIN_SET, Corpus, checked_corpus
from statgraph.law.splitting import HASH
from statgraph.law.store import read_corpus
from statgraph.progress import Progress, resumable, silent
from statgraph.runs.hub import SCHEME, local_run
from statgraph.service.config import ServiceConfig
from statgraph.settings import Settings, check_settings

if TYPE_CHECKING:  # these load torch
    from statgraph.augmentation.synthetic import Written
    from statgraph.evaluation.report import Report
    from statgraph.evaluation.significance import MetricComparison
    from statgraph.graph.build import LegalGraph
    from statgraph.retrieval.index.engines.contract import EngineAddress
    from statgraph.retrieval.search.comparing import RunComparison
    from statgraph.retrieval.search.retriever import Retriever
    from statgraph.runs.run import RunFolder
    from statgraph.systems.dense import RehearsedStep
    from statgraph.systems.updating.update import UpdateSummary


@dataclass(frozen=True)
class Evaluation:
    """How well a run answers the questions of a split.

    Attributes:
        report: every metric with its interval, over all questions and in each stratum.
        comparison: how far the run is from the baseline; None without one.
        question_set: which questions of the split.
        baseline: the folder of the run that it is compared with; blank without one.
        others: the split's further question sets, by name.
        caveats: a line for each reason why the figures are too good.
    """

    report: Report
    comparison: RunComparison | None = None
    question_set: str = MAIN_SET
    baseline: str = ""
    others: Mapping[str, Evaluation] = field(default_factory=dict)
    caveats: tuple[str, ...] = ()

    @property
    def metrics(self) -> dict[str, float]:
        """Return the mean of each metric over all questions, from 0 to 1, by name: `R@10`, `mAP`, ..."""
        return self.report.metrics

    @property
    def comparisons(self) -> Mapping[str, MetricComparison]:
        """Return the difference of each metric from the baseline's, by name; none without a baseline."""
        return {} if self.comparison is None else self.comparison.metrics

    @property
    def intervals(self) -> dict[str, tuple[float, float]]:
        """Return the 95 % bootstrap interval of each metric."""
        return {name: (estimate.low, estimate.high) for name, estimate in self.report.strata["all"].metrics.items()}

    def to_dict(self) -> dict[str, object]:
        """Return JSON values: what `statgraph evaluate --json` prints."""
        values = self.report.to_dict()
        if self.comparison is not None:
            values["against"] = {"run": self.baseline, **asdict(self.comparison)}
        return values | (
            {"question_sets": {name: each.to_dict() for name, each in self.others.items()}} if self.others else {}
        )


class Run:
    """A trained run: a folder, and the corpus whose questions measure it.

    Attributes:
        folder: what `statgraph search --run` takes.
        corpus: the corpus that it was trained on, or updated to; None for a run opened without it.
        config: every setting that it was trained with.
        about: what its manifest says, such as `steps` and `versions`.
        notes: of a run that `train` returns, a line for each choice that the training made.
        was_finished: of a run that `train` returns, whether there was nothing left to resume.
        summary: of a run that `update` returns, what the update did, or a dry run would do; else None.
    """

    folder: Path
    corpus: Corpus | None
    config: RunConfig
    about: RunFolder
    notes: tuple[str, ...] = ()
    was_finished: bool = False
    summary: UpdateSummary | None = None

    def __init__(self, folder: Path | str | RunFolder, corpus: Corpus | None = None):
        """Open a finished run: its folder, or `hf://OWNER/NAME` of the Hugging Face hub.

            Run("runs/harbour", corpus)

        Raises:
            RunError: if the folder holds no finished run, or one of another corpus.
            UsageError: if an argument has the wrong type.
        """
        from statgraph.runs.run import RunFolder

        opened = folder
        if not isinstance(opened, RunFolder):  # of several processes that train, one alone may reach the folder
            opened = RunFolder.read(local_run(folder))
            if corpus is not None:
                opened.check_corpus(checked_corpus(corpus))
        self.folder, self.corpus, self.config, self.about = opened.folder, corpus, opened.config, opened

    @classmethod
    def newest(cls, corpus: Corpus | None = None) -> Self:
        """Open the run under runs/ that was finished last; RunError if there is none, or it is of another corpus."""
        from statgraph.runs.folders import newest_run

        return cls(newest_run(), corpus)

    @classmethod
    def untrained(
        cls, corpus: Corpus, *, progress: Progress = silent, announce: Callable[[str], None] = lambda line: None
    ) -> Self:
        """Return the run that finds a corpus's articles without training, made unless the cache has it: by words,
        headings, citations and, of up to 5,000 articles, the vectors of the embedded transformer.

        Args:
            corpus: the corpus.
            progress: called with a `statgraph.progress.Step` as embedding goes on.
            announce: called with a line before articles are embedded.
        """
        from statgraph.systems.pipeline import untrained_run

        return cls(untrained_run(checked_corpus(corpus), progress, announce))

    def __repr__(self) -> str:
        return f"Run({str(self.folder)!r}, system={self.config.system!r})"

    def retriever(self, device: str = "auto", *, engine: EngineAddress | None = None) -> Retriever:
        """Return what searches the run; see `Retriever.load`."""
        from statgraph.retrieval.search.retriever import Retriever

        return Retriever.of(self.about, device=device, engine=engine)

    def evaluate(
        self,
        split: str = "test",
        *,
        question_set: str | None = None,
        against: Run | Path | str | None = None,
        device: str = "auto",
    ) -> Evaluation:
        """Return how well the run answers a split of its corpus; see `evaluate`."""
        if self.corpus is None:
            raise UsageError(f"{self.folder}: opened without its corpus; call evaluate(run, corpus, '{split}')")
        return evaluate(self, self.corpus, split, question_set=question_set, against=against, device=device)


@dataclass(frozen=True)
class Rehearsal:
    """A step of each stage of a training, taken with a tiny model, and the configuration of that training."""

    config: RunConfig
    steps: Sequence[RehearsedStep]


def fetch(
    name: str,
    out: Path | str | None = None,
    *,
    from_folder: Path | str | None = None,
    splits: str = HASH,
    accept_terms: bool = False,
    again: bool = False,
) -> Corpus:
    """Return a corpus of the catalogue, downloaded to a folder unless it is there already.

        fetch("sample")  # the embedded one, without a network

    Args:
        name: `sample`, or one of `statgraph fetch --list`, which shows the licences.
        out: the corpus folder; None for corpora/NAME, where `statgraph fetch` writes too.
        from_folder: the archives or files, already downloaded; the network is then not used.
        splits: how questions without a split get one when the corpus is downloaded: `hash`, `by-labels` or `by-topics`.
        accept_terms: whether you accept the terms of a corpus for research only, which is not downloaded otherwise.
        again: whether to replace a corpus that is there already.

    Raises:
        UsageError: if there is no such corpus, or its terms have to be accepted.
        FetchError: if it cannot be downloaded.
    """
    if name == SAMPLE and not again:
        if out is not None:
            raise UsageError("out: the sample is embedded and written nowhere; leave it out, or use write_corpus")
        return read_corpus(sample_folder())
    folder, source = (None if each is None else Path(each) for each in (out, from_folder))
    return fetch_corpus(name, folder, source, splits, accept_terms=accept_terms, again=again)


def build_graph(
    corpus: Corpus, relations: Iterable[str] = GraphConfig.relations, *, out: Path | str | None = None
) -> LegalGraph:
    """Return the graph of a corpus: its headings, articles and training questions, and what joins them.

        build_graph(corpus).heterograph

    Args:
        corpus: the corpus.
        relations: groups of `tree`, `bipartite`, `order`, `citations`, `citing`.
        out: a folder to write it to; None to write nothing.

    Raises:
        UsageError: if an argument has the wrong type, or a group is unknown.
        GraphError: if the folder holds anything but a graph.
    """
    checked_corpus(corpus)
    if isinstance(relations, str) or not isinstance(relations, Iterable):
        raise UsageError(f"relations: must be a list of names, such as ['tree'] (got {relations!r})")
    from statgraph.graph import build
    from statgraph.graph.store import write_graph

    graph = build.build_graph(corpus, tuple(relations))
    if out is not None:
        write_graph(graph, Path(out))
    return graph


def train(
    corpus: Corpus,
    system: str | None = None,
    *,
    fast: bool = False,
    seed: int | None = None,
    device: str = "auto",
    settings: Settings = (),
    final: Run | Path | str | None = None,
    keep_test: bool = False,
    teacher: Run | Path | str | None = None,
    out: Path | str | None = None,
    resume: bool = False,
    progress: Progress = silent,
) -> Run:
    """Return a run of a system, trained on a corpus.

        train(corpus, "qabisar", out="runs/mine", settings={"stage2.epochs": 5, "device": "cpu"})

    Args:
        corpus: the corpus; its train questions train, its dev questions choose epochs and rankers.
        system: one of `statgraph train --help`; None for the ensemble, or what `final` or `teacher` asks for.
        fast: whether to leave transformers out of the ensemble.
        seed: of every random choice; None for 0.
        device: auto, cpu or cuda.
        settings: by dotted name, or as texts `a.b=c`; `statgraph train --help-settings` lists them.
        final: a run to train again on all questions, with its system, seed, settings and epochs.
        keep_test: whether a final run leaves the test questions out, so that they can measure it.
        teacher: an ensemble to distil into one query encoder and its index.
        out: the folder of the run; None for a new one under runs/, or the newest unfinished one.
        resume: whether to go on with an interrupted run.
        progress: called with a `statgraph.progress.Step` as the long steps go on.

    Raises:
        UsageError: if an argument has the wrong type, or a setting is unknown or outside its limits.
        CorpusError, ModelError: if corpus and settings cannot be trained on.
        RunError: if the folder is in use, or there is nothing to resume.
    """
    place = checked("out", out, (str, os.PathLike, type(None)), "a folder")
    if not callable(progress):
        raise UsageError(f"progress: must be a function of a step (got {progress!r})")
    if keep_test and final is None:
        raise UsageError(f"{option('keep-test')}: only for a final run; add {option('final')} RUN, or omit it")
    from statgraph.systems.job import TrainingOptions
    from statgraph.systems.pipeline import train_requested
    from statgraph.systems.presets import training_request

    checked_corpus(corpus)
    request = training_request(system, settings, seed=seed, device=device, fast=fast, final=final, teacher=teacher)
    notes: list[str] = []
    options = TrainingOptions(resume=resume, keep_test=keep_test, progress=progress, announce=notes.append)
    opened, was_finished = train_requested(corpus, request, None if place is None else Path(place), options)
    run = Run(opened, corpus)
    run.notes, run.was_finished = tuple(notes), was_finished
    return run


def rehearse(
    corpus: Corpus,
    system: str | None = None,
    *,
    fast: bool = False,
    seed: int | None = None,
    device: str = "auto",
    settings: Settings = (),
    final: Run | Path | str | None = None,
    teacher: Run | Path | str | None = None,
) -> Rehearsal:
    """Take a step of each stage of what `train` would train with the same arguments, with a tiny model; nothing is
    written.

    Raises:
        UsageError: as in `train`, and if the system trains no transformer of its own.
        CorpusError: as in `train`.
    """
    from statgraph.runs.kind import kind_of
    from statgraph.systems.presets import training_request

    checked_corpus(corpus)
    config = training_request(
        system, settings, seed=seed, device=device, fast=fast, final=final, teacher=teacher
    ).config
    return Rehearsal(config, kind_of(config).rehearsed(corpus, config))


def evaluate(
    run: Run | Path | str,
    corpus: Corpus,
    split: str = "test",
    *,
    question_set: str | None = None,
    against: Run | Path | str | None = None,
    reader: str | None = None,
    device: str = "auto",
) -> Evaluation:
    """Return how well a run answers the questions of a split.

        evaluate("runs/mine", corpus, "dev").intervals["mAP"]

    Args:
        run: the run, or its folder.
        corpus: the corpus that it was trained on.
        split: train, dev or test.
        question_set: which questions of the split; None for each set that it has, the main one first.
        against: a run to compare with, question by question, of this corpus or of another state of it.
        reader: a cross-encoder in place of the run's, as in `Retriever.load`.
        device: auto, cpu or cuda.

    Raises:
        UsageError: if the split is unknown or empty, or an argument has the wrong type.
        RunError: if it is no finished run, or one of another corpus.
    """
    import numpy as np

    from statgraph.retrieval.search.comparing import compare_runs
    from statgraph.retrieval.search.ensemble_run import learnt_from
    from statgraph.retrieval.search.evaluating import report_of, sets_of_split, split_metrics
    from statgraph.retrieval.search.retriever import Retriever
    from statgraph.runs.run import RunFolder

    opened = [RunFolder.read(local_run(each)) for each in ((run,) if against is None else (run, against))]
    for each in opened:
        each.check_measurable(split)
    opened[0].check_corpus(checked_corpus(corpus))
    caveats = tuple(
        f"{each.folder} has learnt to rank from {split}: its figures are too good there"
        for each in opened
        if learnt_from(each) == split
    )
    names = (question_set,) if question_set else sets_of_split(corpus, split)
    readers = (reader, None)  # of what it is compared with, its own
    retrievers = [Retriever.of(each, device=device, reader=own) for each, own in zip(opened, readers, strict=False)]
    (this, *earlier), baseline = list(zip(opened, retrievers, strict=True)), str(opened[-1].folder)
    evaluations = []
    for name in names:
        measured = split_metrics(retrievers[0], corpus, split, name)
        report = report_of(measured, corpus, split, rng=np.random.default_rng(0))
        comparison = compare_runs(this, earlier[0], corpus, split, name, measured) if earlier else None
        evaluations.append(Evaluation(report, comparison, name, baseline if earlier else "", caveats=caveats))
    first, *others = evaluations
    return replace(first, others={each.question_set: each for each in others})


def update(
    run: Run | Path | str,
    corpus: Corpus,
    *,
    out: Path | str | None = None,
    dry_run: bool = False,
    full: bool = False,
    vectors: str | None = None,
    device: str = "auto",
    progress: Progress = silent,
) -> Run:
    """Return a run brought to a new version of its corpus, without training.

        update(run, new_version, out="runs/mine-2027").summary.embedded

    Args:
        run: the run, or its folder.
        corpus: the new version; articles with the same id are the same article.
        out: a folder for the updated run; None for the run itself, updated completely or not at all.
        dry_run: whether to write nothing, and return the run as it is.
        full: whether to embed and compute everything again, changed or not.
        vectors: where `statgraph embed` wrote vectors of its texts, which are then not embedded again.
        device: auto, cpu or cuda.
        progress: called with a `statgraph.progress.Step` as embedding goes on.

    Raises:
        RunError: if the run cannot be updated to that corpus.
        UsageError: if an argument has the wrong type.
        DependencyError: for `vectors`, if the extra `sharding` is not installed.
    """
    from statgraph.systems.updating.update import TextVectors, update_run

    folder, texts = local_run(run), TextVectors(device, progress)
    if vectors is not None:
        from statgraph.contrib.sharding.vector_shards import ShardVectors, VectorShards

        texts = ShardVectors(device, progress, shards=VectorShards(vectors))
    place = None if out is None else Path(out)
    summary = update_run(folder, checked_corpus(corpus), out=place, dry_run=dry_run, full=full, texts=texts)
    updated = Run(folder) if dry_run else Run(summary.run, corpus)
    updated.summary = summary
    return updated


def augment(
    corpus: Corpus,
    out: Path | str,
    config: AugmentConfig = AugmentConfig(),
    *,
    run: Run | Path | str | None = None,
    seed: int = 0,
    limit: int | None = None,
    device: str = "auto",
    progress: Progress = silent,
) -> Written:
    """Write a file of synthetic questions about a corpus, for the setting `augment.file`; called again, it resumes.

        augment(corpus, "questions.jsonl").kept

    Args:
        corpus: the corpus.
        out: the file, which must not exist yet.
        config: the generator and its settings.
        run: the run that has to find an article by its question, for `config.round_trip`.
        seed: of what is drawn.
        limit: how many articles to ask about, the first ones; None for all.
        device: auto, cpu or cuda.
        progress: called with a `statgraph.progress.Step` as it goes on.

    Raises:
        UsageError: if an argument has the wrong type or is outside its limits.
        CorpusError: if the file exists.
        ModelError: if the generator's model cannot be loaded.
    """
    from statgraph.artifacts import partial_beside
    from statgraph.augmentation.synthetic import GenerationOptions, write_generated
    from statgraph.device import pick_device

    check_settings(config, "augment")
    if config.round_trip and run is None:
        raise UsageError(
            f"{option('round-trip')} {config.round_trip}: needs a retriever; name its run folder with {option('run')}"
        )
    if run is not None and not config.round_trip:
        raise UsageError(
            f"{option('run')} {run}: only used for a round trip; add {option('round-trip')} K, or omit {option('run')}"
        )
    rank = None
    if run is not None:
        retriever = Run(local_run(run), corpus).retriever(device)
        rank = lambda questions, k: [ranked.rows for ranked in retriever.rank(questions, k)]  # noqa: E731
    options = GenerationOptions(seed, pick_device(device), progress, limit=limit)
    with resumable("again", partial_beside(Path(out)).is_file):
        return write_generated(checked_corpus(corpus), config, Path(out), options, rank=rank)


def serve(
    run: Run | Path | str | Sequence[Run | Path | str],
    config: ServiceConfig = ServiceConfig(),
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    feedback: Path | str | bool = True,
    device: str = "auto",
    announce: Callable[[str], None] = print,
) -> None:
    """Serve a run, or several laws with a run each, over HTTP, with a search page, until SIGTERM or Ctrl-C.

    Args:
        run: the run, or its folder; or several, whose laws requests choose by the names of their corpora.
        config: how the service behaves, and what its page calls itself.
        host: the address to listen on.
        port: 0 for any that is free.
        feedback: the file that readers' marks are appended to; True for one in each run's folder, unless that is in the
            hub's cache, False for none.
        device: auto, cpu or cuda.
        announce: called with the address, and with warnings.

    Raises:
        DependencyError: if the extra `serve` is not installed.
        RunError: if the run cannot be loaded, or the port is taken.
        UsageError: if an argument has the wrong type, marks cannot be written, or two laws have one name.
    """
    require("serve", "fastapi", "uvicorn", "prometheus_client")
    from statgraph.service.feedback import FEEDBACK_FILE, check_writable
    from statgraph.service.server import serve as serve_runs

    runs: dict[Path, Path | None] = {}
    for each in run if isinstance(run, list | tuple) else [run]:
        is_hubs = str(each).startswith(SCHEME)
        if config.editable and is_hubs:
            raise UsageError(
                f"{option('editable')}: {each} is a copy in the hub's cache; download it to a folder, and serve that"
            )
        folder = local_run(each)
        # Not checked: a run on a read-only disk is served, without marks.
        runs[folder] = folder / FEEDBACK_FILE if feedback is True and not is_hubs else None
    if not runs:
        raise UsageError(f"{option('run')}: none is given; name a run, or its folder")
    if not isinstance(feedback, bool):
        check_writable(marks := Path(feedback))
        runs = dict.fromkeys(runs, marks)
    serve_runs(runs, config, host=host, port=port, device=device, announce=announce)
