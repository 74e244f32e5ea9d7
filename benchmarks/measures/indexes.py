"""Kinds of index beside exact search: recall, speed and memory by the number of articles, each in its own processes."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from benchmarks.index_trial import DEPTH
from benchmarks.processes import run_step
from benchmarks.rows import Row, Spread, ratio_text, times_faster
from benchmarks.settings import Settings

KINDS = {30_000: ("ivf-pq",), 100_000: ("auto", "ivf-pq"), 1_000_000: ("auto",)}
QUICK = {2_000: ("ivf-pq",)}
LARGEST = 10_000_000
MIN_RECALL, MIN_TIMES, MAX_GB = 0.95, 20, 12
ASKED = f"recall@{DEPTH} of {MIN_RECALL} at {MIN_TIMES} times the speed"
RIVALS = {"faiss": "exact search, faiss.IndexFlatIP", "torch": "exact search, product and topk in torch"}
_BATCH, _MILLION, _MIB = 64, 1_000_000, 2**20


def measure_kinds(settings: Settings) -> list[Row]:
    """Return the rows of synthetic articles by their number and the kind of index."""
    rows = []
    for n_articles, kinds in (QUICK if settings.quick else KINDS).items():
        rows += _rows(n_articles, kinds, n_queries=200, quick=settings.quick)
    return rows


def measure_largest(settings: Settings) -> list[Row]:
    """Return the rows of what `auto` makes of ten million articles, drawn as float16 on disk, never in memory whole:
    ten minutes, most of it drawing and building, and 20 GB of disk."""
    if settings.quick:
        return _rows(2_000, ("ivf-pq",), n_queries=64, quick=True)
    return _rows(LARGEST, ("auto",), n_queries=64, precision="float16")


def _rows(
    n_articles: int, kinds: tuple[str, ...], *, n_queries: int, precision: str = "float32", quick: bool = False
) -> list[Row]:
    """Return the rows of indexes of these kinds over the same synthetic articles."""
    n_single, rounds = (2, 1) if quick else (10, 3)
    counts = {"n_queries": n_queries, "n_batch": min(_BATCH, n_queries), "n_single": n_single, "rounds": rounds}
    rows = []
    with tempfile.TemporaryDirectory(prefix="statgraph-index-") as name:
        folder = Path(name)
        run_step("index_trial", "draw", folder, n_articles=n_articles, precision=precision)
        for kind in kinds:
            built = run_step("index_trial", "build", folder, config={"kind": kind})
            n_exact = min(n_articles, _MILLION)
            searched = run_step("index_trial", "search", folder, n_articles=n_articles, n_exact=n_exact, **counts)
            shutil.rmtree(folder / "index")
            rows += _rows_of_index(n_articles, kind, built, searched, n_batch=counts["n_batch"])
    return rows


def _rows_of_index(n_articles: int, asked_kind: str, built: dict, searched: dict, *, n_batch: int) -> list[Row]:
    kind = built["kind"] if asked_kind == built["kind"] else f"{asked_kind} ({built['kind']})"
    name = f"index of {n_articles:,} articles, {kind}"
    asked = ASKED if n_articles >= _MILLION and asked_kind == "auto" else ""
    note = ""
    if searched["n_exact"] < n_articles:
        note = (
            f"The rivals hold the first {searched['n_exact']:,} vectors, float32 in memory; their times are multiplied "
            f"by {n_articles / searched['n_exact']:g}, since an exact search compares every vector. The candidates' "
            "vectors on disk are in the system's cache after an untimed round."
        )
    rows = []
    for how, key in (("one question at a time", "alone_s"), (f"{n_batch} questions at once", "together_s")):
        for rival, against in RIVALS.items():
            faster = times_faster(searched[key]["ours"], searched[key][rival])
            each_ms = 1000 * Spread.of(searched[key]["ours"]).median
            reached = f"recall {searched['recall']:.3f}, {ratio_text(faster)}; {each_ms:.2f} ms each"
            holds = (searched["recall"] >= MIN_RECALL and faster.median >= MIN_TIMES) if asked else None
            rows.append(Row(f"{name}, {how}", against, asked, reached, holds, searched[key], note))
    highest_mib, is_large = max(searched["search_peak_mib"], built["peak_mib"]), n_articles > _MILLION
    reached = (
        f"{built['bytes']['index.faiss'] / _MIB:,.0f} MiB of index in memory, "
        f"{sum(built['bytes'].values()) / _MIB:,.0f} MiB on disk; peak of a searching process "
        f"{searched['search_peak_mib']:,} MiB, of the building one {built['peak_mib']:,} MiB; built in "
        f"{built['build_s']:,.0f} s"
    )
    asked = f"within {MAX_GB} GB" if is_large else ""
    holds = highest_mib * _MIB <= MAX_GB * 10**9 if is_large else None
    return [*rows, Row(f"{name}, memory and building", "", asked, reached, holds, built)]
