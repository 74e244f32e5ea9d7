"""The runs of a table: a configuration for each row and seed, trained or resumed, and measured."""

from __future__ import annotations

import gc
import platform
import shlex
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path

from statgraph import artifacts
from statgraph.config import RunConfig
from statgraph.contrib.tuning.bm25_grid import tuned_bm25
from statgraph.errors import UsageError, option
from statgraph.law.query import Ranked, Ranks
from statgraph.law.records import MAIN_SET, Corpus
from statgraph.retrieval.search.ensemble_run import read_ensemble
from statgraph.retrieval.search.evaluating import SplitMetrics, sets_of_split
from statgraph.retrieval.search.retriever import Retriever
from statgraph.retrieval.signals.signal import QuestionBatch, Signal
from statgraph.runs import parts
from statgraph.runs.folders import is_finished
from statgraph.runs.kind import kind_of
from statgraph.runs.provenance import commit, published
from statgraph.runs.run import RunFolder
from statgraph.studies.spec import RowSpec, TableSpec
from statgraph.studies.store import FOLLOWED, KeptRuns, RunResult, RunStore
from statgraph.studies.summary import COMPARED_BY_SET, GivenAway, metrics_of_sets
from statgraph.systems.job import DEFAULT_OPTIONS, TrainingOptions
from statgraph.systems.pipeline import train_run
from statgraph.systems.presets import regime_of, resolve_config, without_transformers
from statgraph.training.checkpoints import MetricsLog

ID_DIGITS = 16


@dataclass(frozen=True)
class PlannedRun:
    """A row's run with one seed. `settings`, seed aside, are what `statgraph train` needs on top of the system."""

    row: RowSpec
    seed: int
    config: RunConfig
    settings: tuple[str, ...]

    @property
    def name(self) -> str:
        """Return row and seed, as in "BM25, seed 0"."""
        return f"{self.row.name}, seed {self.seed}"

    def train_command(self, corpus_folder: str) -> str:
        """Return the command that makes the same run, with publishable paths; a blank folder stands for the sample, and
        one that ends in `-without-questions` for a corpus of its articles alone."""
        if self.row.without_questions:
            corpus_folder = f"{corpus_folder or 'sample'}-without-questions"
        words = ["statgraph", "train", *(("--corpus", corpus_folder) if corpus_folder else ())]
        words += ["--system", self.config.system, "--seed", str(self.seed)]
        for setting in self.settings:
            words += ["--set", published(setting)]
        if not self.row.retrained:
            return shlex.join(words)
        again = ["statgraph", "train", *words[2 : words.index("--system")], "--final", "RUN", "--keep-test"]
        return f"{shlex.join([*words, '--out', 'RUN'])} && {shlex.join(again)}"


def planned_runs(
    spec: TableSpec, *, seeds: int, backbone: str = "", settings: Sequence[str] = (), only: Sequence[str] = ()
) -> list[PlannedRun]:
    """Return the runs of a table, seed by seed, so that a table that is cut short has all of its rows.

    Args:
        seeds: how many; a row without anything random is run with seed 0 alone.
        backbone: of every dense row that does not have its own; blank for what the machine decides.
        settings: `a.b=c`, on top of those of every row.
        only: names of rows; none for all.

    Raises:
        UsageError: for an unknown row, or an invalid setting.
    """
    names = [row.name for row in spec.rows]
    for name in only:
        if name not in names:
            listed = ", ".join(f"'{known}'" for known in names) or "none"
            raise UsageError(f"{option('only')} '{name}': is not a row of {spec.name}; its rows are {listed}")
    return [
        _planned(row, seed, backbone, settings)
        for seed in range(seeds)
        for row in spec.rows
        if (not only or row.name in only) and (row.seeded or seed == 0)
    ]


def run_id(config: RunConfig, corpus_hash: str, split: str, *variants: str) -> str:
    """Return the first 16 hex digits of the SHA-256 of all that decides a result: rows of several tables with the same
    configuration share one run. `variants` name every other difference from a plain run."""
    decided_by = {"config": config.to_dict(), "corpus_hash": corpus_hash, "split": split}
    return artifacts.key_of(decided_by | ({"variants": variants} if variants else {}), ID_DIGITS)


def with_tuned_bm25(spec: TableSpec, corpus: Corpus, store: RunStore) -> TableSpec:
    """Return the table with the k1 and b of the best dev quality in its `tuned` rows."""

    def tuned(row: RowSpec) -> RowSpec:
        if not row.tuned:
            return row
        config = resolve_config(row.system, row.settings)
        best = best_bm25(corpus, store, heading_path=config.encoder.heading_path, stop_words=config.bm25.stop_words)
        return replace(row, settings=(*row.settings, *(f"bm25.{name}={value:g}" for name, value in best.items())))

    return replace(spec, rows=tuple(map(tuned, spec.rows)))


def best_bm25(corpus: Corpus, store: RunStore, *, heading_path: bool, stop_words: bool) -> dict[str, float]:
    """Return the k1 and b of the best dev quality, as found before or now."""
    without = {"no heading path": heading_path, "no stop words": stop_words}
    decided_by = [corpus.content_hash, *(what for what, kept in without.items() if not kept)]
    path = store.grids / f"{artifacts.key_of(decided_by)}.json"
    if not path.is_file():
        best = tuned_bm25(corpus, heading_path=heading_path, stop_words=stop_words).best
        artifacts.write_json(path, {"k1": best.k1, "b": best.b})
    return artifacts.read_object(path, remedy="remove it, so that BM25 is tuned again")


class Alone:
    """One signal as a ranker of its own."""

    def __init__(self, signal: Signal):
        self._signal = signal

    def rank(self, questions: Sequence[str], k: int) -> list[Ranked]:
        """Return the signal's best `k` articles for each question."""
        return [proposal.candidates for proposal in self._signal.propose(QuestionBatch(questions), k, None)]


@dataclass(frozen=True)
class CorpusRuns:
    """The runs on one corpus, measured on one of its splits and kept in a store.

    `corpus_folder`: as a command names it, blank for the embedded sample. `keep`: keep what was trained, too.
    """

    corpus: Corpus
    split: str
    store: RunStore
    corpus_folder: str = ""
    keep: bool = False

    def result(self, planned: PlannedRun) -> RunResult | None:
        """Return the result of a run, or None where it is not finished."""
        return self.store.result(self._id(planned))

    def finished(self, planned: PlannedRun, options: TrainingOptions = DEFAULT_OPTIONS) -> RunResult:
        """Return the result of a run, training what is missing of it.

        Raises:
            RunBusyError: if another process works on it, or on what it shares with other rows.
            StatgraphError: if the run cannot be trained.
        """
        with self.store.claimed(self._claimed(planned)):
            known = self.result(planned)
            if known is not None:
                return known
            start = time.perf_counter()
            _forget_peak_memory()
            # Members are kept for the next ensemble, whose members they are too.
            cache = KeptRuns(self.store.run_cache, keeps=kind_of(planned.config).has_members)
            options = replace(options, stage1_cache=self.store.stage1_cache, run_cache=cache)
            result = self._carried_out(planned, options)
            about = {"seconds": round(time.perf_counter() - start, 1), "taken": cache.taken}
            result = replace(result, about=result.about | about)
            self.store.finish(self._id(planned), result, keep_run=self.keep)
            return result

    def _carried_out(self, planned: PlannedRun, options: TrainingOptions) -> RunResult:
        run, resumed = self.trained(planned, options)
        metrics, signals = self._measured(run)
        return RunResult(metrics, self._about(planned, run, resumed), signals)

    def trained(self, planned: PlannedRun, options: TrainingOptions) -> tuple[RunFolder, bool]:
        """Return (what a row's system trains, whether its training was begun before)."""
        folder = self.store.trained_folder(self._claimed(planned))
        resumed = (folder / parts.CONFIG).is_file()
        if not is_finished(folder):
            corpus = _without_questions(self.corpus) if planned.row.without_questions else self.corpus
            how = replace(options, resume=resumed)
            if planned.row.retrained:
                how = replace(how, final=_followed(corpus, planned.config, folder, options), keep_test=True)
            train_run(corpus, planned.config, folder, how)
        return RunFolder.read(folder), resumed

    def _claimed(self, planned: PlannedRun) -> str:
        """Return the id of what is trained for a row, on which no other process may work at the same time."""
        return self._id(planned)

    def close(self, planned: Sequence[PlannedRun]) -> None:
        """Release what the runs of a table share."""

    def _id(self, planned: PlannedRun) -> str:
        row = planned.row
        # A corpus may get another question set, or its questions be put into sets.
        variants = [f"set {name}" for name in sets_of_split(self.corpus, self.split) if name != MAIN_SET]
        variants += ["without questions"] * row.without_questions + ["retrained"] * row.retrained
        variants += [f"without {row.without}"] * bool(row.without) + [f"baseline {row.baseline}"] * bool(row.baseline)
        return run_id(planned.config, self.corpus.content_hash, self.split, *variants)

    def _measured(self, run: RunFolder) -> tuple[SplitMetrics, dict[str, SplitMetrics]]:
        """Return the metrics of a run and, of an ensemble, those of each signal alone."""
        device = run.config.device
        if not run.kind.has_members:
            return self._metrics_of(Retriever.of(run, device=device)), {}
        ensemble = read_ensemble(run, len(self.corpus.articles), device=device)
        signals = {}
        for signal in ensemble.signals:
            alone = self._metrics_of(Alone(signal))
            signals[signal.name] = replace(alone, metrics=alone.metrics.only(COMPARED_BY_SET))
        return self._metrics_of(ensemble), signals

    def _metrics_of(self, ranker: Ranks) -> SplitMetrics:
        """Return what a ranker finds for the questions of all sets."""
        return metrics_of_sets(ranker, self.corpus, self.split, self._given_away)

    @cached_property
    def _given_away(self) -> GivenAway:
        return GivenAway(self.corpus)

    def _about(self, planned: PlannedRun, run: RunFolder, resumed: bool) -> dict[str, object]:
        return {
            "config": artifacts.as_json(run.config.to_dict()),
            "seed": planned.seed,
            "corpus": asdict(run.corpus),
            "split": self.split,
            "commit": commit(),
            "versions": run.versions,
            "date": f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
            "machine": machine(planned.config.device),
            "command": planned.train_command(self.corpus_folder),
            "resumed": resumed,
            "steps": list(run.steps),
            "learning_curve": MetricsLog(run.folder / parts.METRICS).records(),
        }


def machine(device: str) -> str:
    """Return the processor, cores, GPU, system and Python of this machine, in one line."""
    import torch

    from statgraph.device import pick_device, usable_cores

    model = platform.processor() or platform.machine()
    with suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        model = next((line.partition(": ")[2] for line in lines if line.startswith("model name")), model)
    gpu = f", {torch.cuda.get_device_name()}" if pick_device(device).type == "cuda" else ", no GPU"
    return f"{model}, {usable_cores()} cores{gpu}, {platform.system()}, Python {platform.python_version()}"


def _planned(row: RowSpec, seed: int, backbone: str, settings: Sequence[str]) -> PlannedRun:
    own = list(row.settings)
    chosen = row.backbone or backbone
    # Without its settings, which may fit no backbone but the chosen one.
    if chosen and kind_of(resolve_config(row.system)).has_encoder:
        own.insert(0, f"encoder.backbone={chosen}")
    regime = regime_of(resolve_config(row.system, (*own, *settings)).encoder)
    own += [*row.regimes.get(regime, ()), *settings]
    if row.fast:
        own.append(without_transformers(row.system, own))
    config = resolve_config(row.system, (*own, f"seed={seed}"))
    return PlannedRun(row, seed, config, tuple(own))


def _followed(corpus: Corpus, config: RunConfig, folder: Path, options: TrainingOptions) -> RunFolder:
    """Return the run, trained beside a folder, whose number of epochs the run in that folder takes over."""
    beside = folder.with_name(FOLLOWED)
    if is_finished(beside):
        return RunFolder.read(beside)
    return train_run(corpus, config, beside, replace(options, resume=(beside / parts.CONFIG).is_file()))


def _without_questions(corpus: Corpus) -> Corpus:
    """Return the law without its questions, and without the citing texts that belong to one."""
    citing = tuple(text for text in corpus.usable_citing() if not text.question_id)
    return replace(corpus, questions=(), citing=citing)


def _forget_peak_memory() -> None:
    """Reset the peak of resident memory, so that a run is not charged with the one before. Elsewhere than on
    Linux the figure is that of the whole process."""
    gc.collect()
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="utf-8")
