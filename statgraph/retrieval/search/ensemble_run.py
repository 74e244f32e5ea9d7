"""An ensemble on disk: its members, its other signals, the law's structure and the ranker."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from statgraph import artifacts
from statgraph.encoders.inference.query_encoder import read_query_encoders
from statgraph.errors import damaged_run
from statgraph.law.structure import Structure
from statgraph.registry import SIGNALS
from statgraph.retrieval.index.article_index import ArticleIndex
from statgraph.retrieval.ranking.calibration import Calibration
from statgraph.retrieval.ranking.ensemble import Ensemble
from statgraph.retrieval.ranking.fixed import FixedRanker
from statgraph.retrieval.ranking.learnt import LambdaMartRanker
from statgraph.retrieval.search.ranker import question_reader
from statgraph.retrieval.signals.centring import CENTRES, read_centre
from statgraph.retrieval.signals.dense import DenseSignal
from statgraph.retrieval.signals.signal import ZERO_SHOT, Signal, text_bm25
from statgraph.runs.run import RunFolder

# Entries of the ranker's file: whether most training questions were long; the split that the trees learnt from, and
# whether they leave the fixed ranker's best first.
WHOLES, LEARNT_FROM, KEEPS_FIRST = "wholes", "learnt_from", "keeps_first"


def member_folders(run: RunFolder) -> dict[str, Path]:
    """Return the run folder of each member by its name, SYSTEM@BACKBONE."""
    return {name: run.members / re.sub(r"[^\w.]+", "-", name).strip("-") for name in run.config.ensemble.members}


def member_signals(run: RunFolder, *, device: str = "auto", precision: str = "float32") -> Iterator[DenseSignal]:
    """Yield the dense signal of each member.

    Raises:
        RunError: if one is missing or damaged.
    """
    members = {name: RunFolder.read(folder) for name, folder in member_folders(run).items()}
    folders = [member.query_encoder for member in members.values()]
    encoders = read_query_encoders(folders, device=device, precision=precision)
    for (name, member), encoder in zip(members.items(), encoders, strict=True):
        kind, index = member.kind.signal_kind(member.config), ArticleIndex.load(member.index, device=device)
        yield DenseSignal(name, kind, index, encoder, read_centre(run.signals, name, index.width))


def learnt_from(run: RunFolder) -> str | None:
    """Return the split whose questions a run's trees have learnt from; None where it has no trees."""
    split: str | None = (trees_entries(run) or {}).get(LEARNT_FROM)
    return split


def trees_entries(run: RunFolder) -> Mapping[str, Any] | None:
    """Return what the ranker's file says of a run's trees; None where it has no trees.

    Raises:
        RunError: if the ranker's file is missing or damaged.
    """
    entries = ranker_entries(run.ranker)
    if LEARNT_FROM not in entries or not run.trees.is_file():
        return None
    return {name: entries[name] for name in (LEARNT_FROM, KEEPS_FIRST) if name in entries}


def read_ensemble(run: RunFolder, n_articles: int, *, device: str = "auto", precision: str = "float32") -> Ensemble:
    """Return the ensemble of a run.

    Raises:
        RunError: if a part is missing or damaged, or does not fit the others.
        UsageError, DependencyError, ModelError: as in `read_query_encoder`.
    """
    members = list(member_signals(run, device=device, precision=precision))
    untrained = any(member.kind == ZERO_SHOT for member in members)
    if run.config.ensemble.centring and untrained and not (run.signals / CENTRES).is_file():
        raise damaged_run(f"{run.signals / CENTRES}: missing")
    signals = (*other_signals(run, members), *members)
    for signal in signals:
        if signal.n_articles not in (None, n_articles):
            raise damaged_run(
                f"{run.folder}: signal {signal.name} is of {signal.n_articles} articles, the run of {n_articles}"
            )
    weights, entries = _weights(run.ranker, signals), ranker_entries(run.ranker)
    ensemble = Ensemble(
        signals,
        Structure.read(run.structure, n_articles),
        FixedRanker(weights),
        weights=list(weights.values()),
        depth=run.config.ensemble.depth,
        near=run.config.ensemble.near,
        wholes=entries.get(WHOLES) is True,
    )
    if run.trees.is_file():
        ensemble.ranker = LambdaMartRanker.read(
            run.trees, ensemble.fixed, len(ensemble.feature_names), keeps_first=entries.get(KEEPS_FIRST) is True
        )
    if run.calibration.is_file() and ensemble.has_evidence:
        ensemble.calibration = Calibration.read(run.calibration)
    return ensemble


def other_signals(run: RunFolder, members: Sequence[DenseSignal]) -> list[Signal]:
    """Return the signals beside the members that the run has saved; those that count words read questions by the
    law's."""
    kinds = {name: SIGNALS.load(name) for name in run.config.ensemble.signals}
    signals = [
        kind.read(run.signals / name, run, members)
        for name, kind in kinds.items()
        # An empty folder is lost in exports and archives.
        if not kind.info.saved or (run.signals / name).is_dir()
    ]
    law = text_bm25(signals)
    reader = None if law is None else question_reader(run, law)
    for signal in signals:
        if signal.bm25 is not None:
            signal.bm25.reader = reader
    return signals


def ranker_entries(path: Path) -> Mapping[str, Any]:
    """Return what a run's ranker file says: the fixed weights, and what its trees have learnt from."""
    return artifacts.read_object(path)


def _weights(path: Path, signals: Sequence[Signal]) -> Mapping[str, float]:
    with artifacts.reading(path):
        weights = {name: float(weight) for name, weight in ranker_entries(path)["weights"].items()}
    names = [signal.name for signal in signals]
    if list(weights) != names:
        raise damaged_run(f"{path}: weights of {', '.join(weights)} where the run has {', '.join(names)}")
    return weights
