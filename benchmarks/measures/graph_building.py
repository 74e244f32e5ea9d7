"""Building the graph of up to 10**7 articles: time, memory, and how they grow."""

from __future__ import annotations

import json
import math
import sys

import numpy as np

from benchmarks.processes import output_of
from benchmarks.rows import Row, Spread, seconds_text
from benchmarks.settings import Settings

SIZES = (10**5, 10**6, 10**7)  # below, DGL's own start takes most of the time
ASKED_S, ASKED_GB = 120, 12
# Time ~ articles ** slope: 1 is linear. A tenth is left for the caches that large arrays do not fit into.
MAX_SLOPE = 1.1


def measure(settings: Settings) -> list[Row]:
    """Return the rows of synthetic laws of growing size, each in a process of its own; the corpus plays no part."""
    sizes, rounds = ((10**3, 10**4), 1) if settings.quick else (SIZES, 5)
    command = [sys.executable, "-m", "benchmarks.graph_growth"]
    steps = [json.loads(output_of([*command, str(n_articles), str(rounds)])) for n_articles in sizes]
    seconds = [Spread.of(step["seconds"]) for step in steps]
    largest, gigabytes = steps[-1], steps[-1]["peak_mib"] * 2**20 / 1e9
    slope, _ = np.polyfit(np.log10(sizes), [math.log10(spread.median) for spread in seconds], 1)
    by_size = "; ".join(
        f"{step['articles']:,}: {seconds_text(spread)}, {step['peak_mib']:,} MiB"
        for step, spread in zip(steps, seconds, strict=True)
    )
    scale = f"{largest['articles']:,} synthetic articles, {largest['nodes']:,} nodes, {largest['edges']:,} edges"
    return [
        Row(
            f"graph of {scale}: time",
            "",
            f"under {ASKED_S} s",
            seconds_text(seconds[-1]),
            seconds[-1].high < ASKED_S,
            {"steps": steps},
            "From the arrays (parent of each heading and article, question-article pairs) to a heterograph with the "
            "index that sampling needs, without texts and ids. Ten children a heading, questions a tenth of the "
            "articles, ten random citations each.",
        ),
        Row(
            "the same: peak memory of its process",
            "",
            f"under {ASKED_GB} GB",
            f"{gigabytes:.2f} GB",
            gigabytes < ASKED_GB,
            {},
            f"{largest['before_mib']:,} MiB of it were there before: the arrays and the libraries.",
        ),
        Row(
            f"the same: growth of time from {sizes[0]:,} articles",
            "",
            f"linear (exponent of articles at most {MAX_SLOPE})",
            f"exponent {slope:.2f}",
            bool(slope <= MAX_SLOPE),
            {"exponent": slope},
            f"{by_size}.",
        ),
    ]
