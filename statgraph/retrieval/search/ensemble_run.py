"""An ensemble on disk: its members, its other signals, the law's structure and the ranker."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from statgraph import artifacts
from statgraph.encoders.inference.query_encoder import read_query_encoders
from statgraph.errors import damaged_run
from statgraph.law.structure import Structure
from statgraph.registry import SIGNALS
from statgraph.retrieval.index.article_index import ArticleIndex
from statgraph.retrieval.ranking.calibration import Calibration
from statgraph.retrieval.ranking.ensemble import Ensemble
from statgraph.retrieval.ranking.weighted_sum import AROUND, WeightedSum
from statgraph.retrieval.search.ranker import question_reader
from statgraph.retrieval.signals.centring import CENTRES, read_centre
from statgraph.retrieval.signals.dense import DenseSignal
from statgraph.retrieval.signals.signal import ZERO_SHOT, Signal, text_bm25
from statgraph.runs.run import RunFolder


@dataclass(frozen=True)
class SavedRanker:
    """What a run's ranker file says.

    Attributes:
        ranker: the sum.
        n_learnt_from: of how many dev questions its weights have learnt.
        wholes: whether most training questions were long.
    """

    ranker: WeightedSum
    n_learnt_from: int
    wholes: bool


def member_signals(run: RunFolder, *, device: str = "auto") -> Iterator[DenseSignal]:
    """Yield the dense signal of each member; RunError if one is missing or damaged."""
    members = {name: RunFolder.read(folder) for name, folder in run.member_folders.items()}
    encoders = read_query_encoders([member.query_encoder for member in members.values()], device=device)
    for (name, member), encoder in zip(members.items(), encoders, strict=True):
        kind, index = member.kind.signal_kind(member.config), ArticleIndex.load(member.index, device=device)
        yield DenseSignal(name, kind, index, encoder, read_centre(run.signals, name, index.width))


def learnt_from(run: RunFolder) -> str | None:
    """Return the split whose questions an ensemble's weights have learnt from; None where they are the prior's, and of
    other runs."""
    return "dev" if run.kind.has_members and read_ranker(run).n_learnt_from else None


def read_ranker(run: RunFolder) -> SavedRanker:
    """Return what `write_ranker` saved; RunError if it is missing or damaged."""
    with artifacts.reading(run.ranker):
        saved = artifacts.read_object(run.ranker)
        signals, around = (
            {str(name): float(weight) for name, weight in saved[part].items()} for part in ("signals", "around")
        )
        if not np.isfinite([*signals.values(), *around.values()]).all() or set(around) != set(AROUND):
            raise ValueError("other weights than those of a sum")
        return SavedRanker(WeightedSum(signals, around), int(saved["n_learnt_from"]), saved["wholes"] is True)


def write_ranker(run: RunFolder, ranker: WeightedSum, *, n_learnt_from: int, wholes: bool) -> None:
    """Write the weights of a run's sum, and what `SavedRanker` says of them."""
    entry = {"signals": dict(ranker.signals), "around": dict(ranker.around)}
    artifacts.write_json(run.ranker, {**entry, "n_learnt_from": n_learnt_from, "wholes": wholes})


def read_ensemble(run: RunFolder, n_articles: int, *, device: str = "auto") -> Ensemble:
    """Return the ensemble of a run.

    Raises:
        RunError: if a part is missing or damaged, or does not fit the others.
        UsageError, ModelError: as in `read_query_encoder`.
    """
    members = list(member_signals(run, device=device))
    untrained = any(member.kind == ZERO_SHOT for member in members)
    if run.config.ensemble.centring and untrained and not (run.signals / CENTRES).is_file():
        raise damaged_run(f"{run.signals / CENTRES}: missing")
    signals = (*other_signals(run, members), *members)
    for signal in signals:
        if signal.n_articles not in (None, n_articles):
            raise damaged_run(
                f"{run.folder}: signal {signal.name} is of {signal.n_articles} articles, the run of {n_articles}"
            )
    saved, names = read_ranker(run), [signal.name for signal in signals]
    if list(saved.ranker.signals) != names:
        raise damaged_run(
            f"{run.ranker}: weights of {', '.join(saved.ranker.signals)} where the run has {', '.join(names)}"
        )
    ensemble = Ensemble(
        signals,
        Structure.read(run.structure, n_articles),
        saved.ranker,
        near=run.config.ensemble.near,
        wholes=saved.wholes,
    )
    if run.calibration.is_file() and ensemble.has_evidence:
        ensemble.calibration = Calibration.read(run.calibration)
    return ensemble


def other_signals(run: RunFolder, members: Sequence[DenseSignal]) -> list[Signal]:
    """Return the signals beside the members that the run has saved; all read questions by the words of the law and of
    the texts that cite it."""
    kinds = {name: SIGNALS.load(name) for name in run.config.ensemble.signals}
    signals = [
        kind.read(run.signals / name, run, members)
        for name, kind in kinds.items()
        # An empty folder is lost in exports and archives.
        if not kind.info.saved or (run.signals / name).is_dir()
    ]
    law = text_bm25(signals)
    indexes = [signal.bm25 for signal in signals if signal.bm25 is not None]
    if law is not None:
        reader = question_reader(run, law, frozenset().union(*(index.vocabulary for index in indexes)))
        for index in indexes:
            index.reader = reader
    return signals
