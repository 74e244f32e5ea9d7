"""An ensemble on disk: its members, its other signals, the law's structure and the ranker."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from statgraph import artifacts
from statgraph.config import RunConfig
from statgraph.corpus.structure import Structure
from statgraph.errors import RunError
from statgraph.index.article_index import ArticleIndex
from statgraph.inference.query_encoder import read_query_encoders
from statgraph.ranking.ensemble import CandidateRanker, Ensemble
from statgraph.ranking.fixed import FixedRanker, signal_weights
from statgraph.ranking.learnt import LambdaMartRanker
from statgraph.registry import SIGNALS
from statgraph.runs.run import Run
from statgraph.signals.dense import DenseSignal
from statgraph.signals.signal import FROM_LAW, TRAINED, ZERO_SHOT, Signal, SignalSource

_LEARNT_FROM = "learnt_from"


def member_folders(run: Run) -> dict[str, Path]:
    """Return the run folder of each member by its name, SYSTEM@BACKBONE."""
    return {name: run.members / re.sub(r"[^\w.]+", "-", name).strip("-") for name in run.config.ensemble.members}


def member_signals(run: Run, *, device: str = "auto", precision: str = "float32") -> Iterator[DenseSignal]:
    """Yield the dense signal of each member.

    Raises:
        RunError: if one is missing or damaged.
    """
    members = {name: Run.read(folder) for name, folder in member_folders(run).items()}
    folders = [member.query_encoder for member in members.values()]
    encoders = read_query_encoders(folders, device=device, precision=precision)
    for (name, member), encoder in zip(members.items(), encoders, strict=True):
        yield DenseSignal(name, _kind(member.config), ArticleIndex.load(member.index, device=device), encoder)


def _kind(config: RunConfig) -> str:
    if not (config.stage1.epochs or config.stage2.epochs):
        return ZERO_SHOT
    return FROM_LAW if config.from_law else TRAINED


def write_signals(run: Run, source: SignalSource) -> list[str]:
    """Save the signals beside the members, and return those that have something to say about this law."""
    written = []
    with artifacts.replaced_folder(run.signals) as staging:
        for name in run.config.ensemble.signals:
            (staging / name).mkdir()
            if SIGNALS.load(name).write(source, staging / name):
                written.append(name)
            else:
                (staging / name).rmdir()
    return written


def write_trees(run: Run, trees: LambdaMartRanker, split: str) -> None:
    """Save the trees of an ensemble, after its fixed ranker, and the split whose questions they have learnt from."""
    trees.write(run.trees)
    write_learnt_from(run, split)


def write_learnt_from(run: Run, split: str) -> None:
    """Save which split's questions the trees have learnt from."""
    artifacts.write_json(run.ranker, artifacts.read_json(run.ranker) | {_LEARNT_FROM: split})


def learnt_from(run: Run) -> str | None:
    """Return the split whose questions a run's trees have learnt from; None where it has no trees.

    Raises:
        RunError: if the ranker's file is missing or damaged.
    """
    return _ranker_entries(run.ranker).get(_LEARNT_FROM) if run.trees.is_file() else None


def taken_over(source: Run, run: Run) -> str:
    """Give a run, after its fixed ranker, the trees of another whose signals are the same, and tell what ranks now."""
    learnt = learnt_from(source)
    if learnt is None:
        return f"ranker fixed weights, as {source.folder}"
    if list(_ranker_entries(source.ranker)["weights"]) != list(_ranker_entries(run.ranker)["weights"]):
        return f"ranker fixed weights: the signals are not those whose trees {source.folder} has"
    shutil.copyfile(source.trees, run.trees)
    write_learnt_from(run, learnt)
    return f"ranker with the trees of {source.folder}"


def write_ranker(run: Run, signals: Sequence[Signal], n_questions: int) -> None:
    """Save the weights of the fixed ranker: of these signals, with so many training questions."""
    weights = signal_weights(signals, n_questions)
    entry = {signal.name: round(float(weight), 4) for signal, weight in zip(signals, weights, strict=True)}
    artifacts.write_json(run.ranker, {"weights": entry})


def read_ensemble(run: Run, n_articles: int, *, device: str = "auto", precision: str = "float32") -> Ensemble:
    """Return the ensemble of a run.

    Raises:
        RunError: if a part is missing or damaged, or does not fit the others.
        UsageError, DependencyError, ModelError: as in `read_query_encoder`.
    """
    members = list(member_signals(run, device=device, precision=precision))
    for member in members:
        if member.n_articles != n_articles:
            raise RunError(f"{run.folder}: member {member.name} has {member.n_articles} articles for {n_articles}")
    signals = (*other_signals(run, members), *members)
    weights = _weights(run.ranker, signals)
    ensemble = Ensemble(
        signals,
        Structure.read(run.structure, n_articles),
        FixedRanker(weights),
        weights=list(weights.values()),
        depth=run.config.ensemble.depth,
        near=run.config.ensemble.near,
    )
    if run.trees.is_file():
        ensemble.ranker = _learnt(run.trees, ensemble)
    return ensemble


def other_signals(run: Run, members: Sequence[DenseSignal]) -> list[Signal]:
    """Return the signals beside the members that the run has saved."""
    return [
        SIGNALS.load(name).read(run.signals / name, run, members)
        for name in run.config.ensemble.signals
        if (run.signals / name).is_dir()
    ]


def _learnt(path: Path, ensemble: Ensemble) -> CandidateRanker:
    return LambdaMartRanker.read(path, ensemble.fixed, len(ensemble.feature_names))


def _ranker_entries(path: Path) -> Mapping[str, object]:
    return artifacts.read_object(path, remedy="train the run again")


def _weights(path: Path, signals: Sequence[Signal]) -> Mapping[str, float]:
    try:
        weights = {name: float(weight) for name, weight in _ranker_entries(path)["weights"].items()}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise RunError(f"{path}: not readable ({error}); train the run again") from None
    names = [signal.name for signal in signals]
    if list(weights) != names:
        raise RunError(f"{path}: weights of {', '.join(weights)} where the run has {', '.join(names)}; train it again")
    return weights
