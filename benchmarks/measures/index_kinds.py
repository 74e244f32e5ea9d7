"""Approximate kinds of index beside exact search: recall, speed and memory by the number of articles."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.index_trial import DEPTH, run_step
from benchmarks.rows import Row, not_measured, ratio_text
from benchmarks.settings import Settings
from benchmarks.side_by_side import Spread, times_faster

_FEW, _MORE, _MILLION, _TEN_MILLIONS = 30_000, 100_000, 1_000_000, 10_000_000
_LEAST_RECALL, _LEAST_TIMES, _MOST_GB = 0.95, 20, 12
_ASKED = f"recall@{DEPTH} of {_LEAST_RECALL} at {_LEAST_TIMES} times the speed"
_RIVALS = {"faiss": "exact search, faiss.IndexFlatIP", "torch": "exact search, product and topk in torch"}
_QUERIES, _BATCH = 200, 64
_MIB = 2**20
_ALONE_NOTE = (
    "One question at a time with two threads on a machine that other work kept busy: the threads wait for one another "
    "at each step of a search. Tried: OMP_NUM_THREADS=1, with which ivf-pq over 30,000 articles took 1.1 ms in place "
    "of 7.9 ms (faiss.IndexFlatIP 4.5 ms, torch 4.3 ms); a search does not set that by itself."
)
_BATCH_NOTE = (
    "Questions at once: torch multiplies a block of them with every vector at the processor's full speed, while an "
    "approximate index reads lists and candidates of each question apart. Fewer probes or candidates (ivf_pq.probes, "
    "ivf_pq.rerank) would bring it nearer, at the price of recall on real questions, which need more probes than these."
)


def measure(settings: Settings) -> list[Row]:
    """Return the rows of synthetic articles by their number, each kind in processes of its own."""
    if settings.quick:
        return _rows_of_size(2_000, ("hnsw", "ivf-pq"), n_single=2, rounds=1)
    rows = _rows_of_size(_FEW, ("hnsw", "ivf-pq"), n_single=20, rounds=3)
    rows += _rows_of_size(_MORE, ("auto", "ivf-pq"), n_single=20, rounds=3)
    rows += _rows_of_size(_MILLION, ("auto",), n_single=10, rounds=3)
    rows.append(
        not_measured(
            f"index of {_TEN_MILLIONS:,} articles, auto",
            against=_RIVALS["faiss"],
            asked=f"{_ASKED}, within {_MOST_GB} GB",
            why="Not run: judged by the million's times, drawing, building and the rival would take over ten minutes.",
        )
    )
    return rows


def _rows_of_size(n_articles: int, kinds: Sequence[str], *, n_single: int, rounds: int) -> list[Row]:
    """Return the rows of an index of each kind over the same synthetic articles; its files are gone afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="statgraph-index-"))
    counts = {"n_queries": _QUERIES, "n_batch": _BATCH, "n_single": n_single, "rounds": rounds}
    try:
        drawn = run_step("draw", folder, n_articles=n_articles, precision="float32")
        rows = []
        for kind in kinds:
            built = run_step("build", folder, config={"kind": kind})
            searched = run_step("search", folder, n_articles=n_articles, **counts)
            shutil.rmtree(folder / "index")
            rows += _rows(n_articles, kind, {"drawn": drawn, "built": built, "searched": searched})
        return rows
    finally:
        shutil.rmtree(folder)


def _rows(n_articles: int, asked_kind: str, figures: Mapping[str, dict]) -> list[Row]:
    built, searched = figures["built"], figures["searched"]
    kind = built["kind"] if asked_kind == built["kind"] else f"{asked_kind} ({built['kind']})"
    name = f"index of {n_articles:,} articles, {kind}"
    asked = _ASKED if n_articles >= _MILLION else ""
    rows = []
    for how, key, note in (
        ("one question at a time", "alone_s", _ALONE_NOTE),
        (f"{_BATCH} questions at once", "together_s", _BATCH_NOTE),
    ):
        for rival, against in _RIVALS.items():
            faster = times_faster(searched[key]["ours"], searched[key][rival])
            reached = f"recall {searched['recall']:.3f}, {ratio_text(faster)}; {_milliseconds(searched[key]['ours'])}"
            holds = (searched["recall"] >= _LEAST_RECALL and faster.median >= _LEAST_TIMES) if asked else None
            why = note if holds is False else ""
            rows.append(Row(f"{name}, {how}", against, asked, reached, holds, searched[key], why))
    loaded = built["bytes"]["index.faiss"] / _MIB
    on_disk = sum(built["bytes"].values()) / _MIB
    reached = (
        f"{loaded:,.0f} MiB of index in memory, {on_disk:,.0f} MiB on disk; peak of a searching process "
        f"{searched['search_peak_mib']:,} MiB, of the building one {built['peak_mib']:,} MiB; built in "
        f"{built['build_s']:,.0f} s"
    )
    return [*rows, Row(f"{name}, memory and building", "", "", reached, None, dict(figures))]


def _milliseconds(seconds: Sequence[float]) -> str:
    return f"{1000 * Spread.of(seconds).median:.2f} ms each"
