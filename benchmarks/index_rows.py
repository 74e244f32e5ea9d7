"""Rows of an index beside exact search: recall, speed and memory."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from benchmarks.index_trial import DEPTH
from benchmarks.rows import Row, ratio_text
from benchmarks.side_by_side import Spread, times_faster
from benchmarks.trial_steps import run_step
from statgraph.artifacts import read_json, write_json

LEAST_RECALL, LEAST_TIMES, MOST_GB = 0.95, 20, 12
ASKED = f"recall@{DEPTH} of {LEAST_RECALL} at {LEAST_TIMES} times the speed"
RIVALS = {"faiss": "exact search, faiss.IndexFlatIP", "torch": "exact search, product and topk in torch"}
BATCH = 64
_MILLION = 1_000_000
_SHORT_NOTE = (
    "torch multiplies on two threads, and a block of questions at the processor's full speed. Ours reads an eighth of "
    "the lists for each question, and ranks 400 candidates by their vectors."
)
_MIB = 2**20


@contextmanager
def scratch_folder():
    """Give a folder that is gone afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="statgraph-index-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


def step_figures(folder: Path, name: str, step: str, **options: object) -> dict:
    """Return what a step of `index_trial` printed, from `NAME.json` where it has run before."""
    path = folder / f"{name}.json"
    if not path.is_file():
        write_json(path, run_step("index_trial", step, folder, **options))
    return read_json(path)


def rows_of_kind(
    folder: Path, n_articles: int, kind: str, *, n_queries: int, n_single: int, rounds: int, precision: str = "float32"
) -> list[Row]:
    """Return the rows of an index of a kind over synthetic articles; steps whose figures are in the folder do not run.

    The vectors stay in the folder, the index does not.
    """
    counts = {"n_queries": n_queries, "n_batch": min(BATCH, n_queries), "n_single": n_single, "rounds": rounds}
    figures = {
        "drawn": step_figures(folder, "drawn", "draw", n_articles=n_articles, precision=precision),
        "built": step_figures(folder, f"{kind}-built", "build", config={"kind": kind}),
        "searched": run_step(
            "index_trial", "search", folder, n_articles=n_articles, n_exact=min(n_articles, _MILLION), **counts
        ),
    }
    shutil.rmtree(folder / "index")
    (folder / f"{kind}-built.json").unlink()
    return rows_of(n_articles, kind, figures, n_batch=counts["n_batch"])


def rows_of(n_articles: int, asked_kind: str, figures: Mapping[str, dict], *, n_batch: int) -> list[Row]:
    """Return the rows of what the steps measured of one index."""
    built, searched = figures["built"], figures["searched"]
    kind = built["kind"] if asked_kind == built["kind"] else f"{asked_kind} ({built['kind']})"
    name = f"index of {n_articles:,} articles, {kind}"
    asked = ASKED if n_articles >= _MILLION and asked_kind == "auto" else ""
    scaled = searched["n_exact"] < n_articles
    note = (
        f"The rivals hold the first {searched['n_exact']:,} vectors, float32 in memory; their times are multiplied by "
        f"{n_articles / searched['n_exact']:g}, since an exact search compares every vector. "
        "The candidates' vectors on disk are in the system's cache after an untimed round."
    )
    rows = []
    for how, key in (("one question at a time", "alone_s"), (f"{n_batch} questions at once", "together_s")):
        for rival, against in RIVALS.items():
            faster = times_faster(searched[key]["ours"], searched[key][rival])
            reached = f"recall {searched['recall']:.3f}, {ratio_text(faster)}; {_milliseconds(searched[key]['ours'])}"
            holds = (searched["recall"] >= LEAST_RECALL and faster.median >= LEAST_TIMES) if asked else None
            why = (_SHORT_NOTE if holds is False else "", note if scaled else "")
            rows.append(
                Row(f"{name}, {how}", against, asked, reached, holds, searched[key], " ".join(filter(None, why)))
            )
    return [*rows, _memory_row(name, n_articles, figures)]


def _memory_row(name: str, n_articles: int, figures: Mapping[str, dict]) -> Row:
    built, searched = figures["built"], figures["searched"]
    loaded = built["bytes"]["index.faiss"] / _MIB
    on_disk = sum(built["bytes"].values()) / _MIB
    reached = (
        f"{loaded:,.0f} MiB of index in memory, {on_disk:,.0f} MiB on disk; peak of a searching process "
        f"{searched['search_peak_mib']:,} MiB, of the building one {built['peak_mib']:,} MiB; built in "
        f"{built['build_s']:,.0f} s"
    )
    most_mib = max(searched["search_peak_mib"], built["peak_mib"])
    large = n_articles > _MILLION
    return Row(
        f"{name}, memory and building",
        "",
        f"within {MOST_GB} GB" if large else "",
        reached,
        most_mib * _MIB <= MOST_GB * 10**9 if large else None,
        dict(figures),
    )


def _milliseconds(seconds: Sequence[float]) -> str:
    return f"{1000 * Spread.of(seconds).median:.2f} ms each"
