"""Building the graph: against the data-frame way of G-DSR's reference implementation, and up to 10**7 articles."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np

from benchmarks.graph_growth import growth_of
from benchmarks.rows import Row, ratio_text, seconds_text
from benchmarks.settings import Settings
from benchmarks.side_by_side import Spread, taking_turns, times_faster
from statgraph.graph.build import build_graph
from statgraph.law.records import Corpus
from statgraph.law.store import read_corpus

ASKED_TIMES = 50
TITLE_STEP = 50  # every so many titles are replaced: all of them take minutes
SIZES = (10**4, 10**5, 10**6, 10**7)
ASKED_S, ASKED_GB = 120, 12
FIT_FROM = -3  # 10**4 articles take little more than DGL's own start
# Time ~ articles ** slope: 1 is linear. A tenth is left for the caches that large arrays do not fit into.
MOST_SLOPE = 1.1
PLOT = Path(__file__).parents[2] / "docs" / "performance" / "graph-growth.png"


def measure(settings: Settings) -> list[Row]:
    """Return the rows of a corpus, and of synthetic laws of growing size."""
    growth = _growth(settings)  # first: a process counts the memory of the one that starts it, as it is then
    return [*_against_frames(settings), *growth]


def title_frame(corpus: Corpus):
    """Return the tree as the reference implementation of G-DSR holds it, written again: a pandas DataFrame of the pairs
    (parent title, child title) on the heading path of each article, each pair once. A heading is its title alone."""
    import pandas

    paths = ((*article.path, article.article_id) for article in corpus.articles)
    edges = pandas.DataFrame([pair for path in paths for pair in pairwise(path)], columns=["parent", "child"])
    return edges.astype(object).drop_duplicates(ignore_index=True)  # pandas' `str` is slower in `replace`


def title_numbers(edges) -> dict[str, int]:
    """Return the node number of each title, in order of appearance."""
    return {title: number for number, title in enumerate(dict.fromkeys(edges.to_numpy().ravel()))}


def _against_frames(settings: Settings) -> list[Row]:
    corpus = read_corpus(settings.corpus)
    if settings.quick:
        corpus = dataclasses.replace(corpus, articles=corpus.articles[:300], questions=())
    edges = title_frame(corpus)
    numbers = title_numbers(edges)
    sampled = dict(list(numbers.items())[::TITLE_STEP])
    works = {
        # A copy knows neither its hash nor its rows: both are computed again, as in the first build of a process.
        "ours": lambda: build_graph(dataclasses.replace(corpus)),
        "replace": lambda: edges.replace(sampled),
    }
    seconds = taking_turns(works, rounds=1 if settings.quick else 5)
    share = len(numbers) / len(sampled)
    replace_s = [share * value for value in seconds["replace"]]
    ratio = times_faster(seconds["ours"], replace_s)
    what = f"building the graph: {corpus.name}, {len(corpus.articles):,} articles"
    return [
        Row(
            what,
            "pandas edges, DataFrame.replace, as in G-DSR's reference",
            f"{ASKED_TIMES} times faster",
            ratio_text(ratio),
            ratio.median >= ASKED_TIMES,
            {"seconds": seconds, "scaled_by": {"replace": share}, "titles": len(numbers)},
            f"The rival's {Spread.of(replace_s).median:,.0f} s are scaled from the replacing of {len(sampled):,} of "
            f"its {len(numbers):,} titles, each a pass over all {len(edges):,} edges; its other steps are left out. "
            f"Ours {seconds_text(Spread.of(seconds['ours']))} with the corpus's SHA-256. The rival makes the tree "
            f"alone, and of equal titles one node ({len(numbers):,}, not {_tree_nodes(corpus):,}); ours has the "
            "questions too.",
        ),
    ]


def _tree_nodes(corpus: Corpus) -> int:
    graph = build_graph(corpus, ("tree",))
    return len(graph.article_ids) + len(graph.headings)


def _growth(settings: Settings) -> list[Row]:
    sizes = SIZES[:2] if settings.quick else SIZES
    rounds = 1 if settings.quick else 5
    steps = [growth_of(n_articles, rounds=rounds) for n_articles in sizes]
    nearby = [growth_of(n_articles, rounds=rounds, nearby=True) for n_articles in sizes[FIT_FROM:]]
    slope, nearby_slope = _slope(steps[FIT_FROM:], "seconds"), _slope(nearby, "seconds")
    building_slope = _slope(steps[FIT_FROM:], "building_s")
    largest, spread = steps[-1], Spread.of(steps[-1]["seconds"])
    gigabytes = largest["peak_mib"] * 2**20 / 1e9
    if not settings.quick:
        draw_growth(steps, PLOT)
    by_size = "; ".join(
        f"{step['articles']:,}: {seconds_text(Spread.of(step['seconds']))}, {step['peak_mib']:,} MiB" for step in steps
    )
    return [
        Row(
            f"graph of {largest['articles']:,} synthetic articles, {largest['nodes']:,} nodes, {largest['edges']:,} "
            "edges: time",
            "",
            f"under {ASKED_S} s",
            seconds_text(spread),
            spread.high < ASKED_S,
            {"steps": steps},
            "From the arrays (parent of each heading and article, question-article pairs) to a heterograph with the "
            f"index that sampling needs; {seconds_text(Spread.of(largest['building_s']))} of it are the heterograph. "
            "Texts and ids are not part of it. Ten children a heading, questions a tenth of the articles, ten random "
            "citations each.",
        ),
        Row(
            "the same: peak memory of its process",
            "",
            f"under {ASKED_GB} GB",
            f"{gigabytes:.2f} GB",
            gigabytes < ASKED_GB,
            {"peak_mib": largest["peak_mib"], "before_mib": largest["before_mib"]},
            f"{largest['before_mib']:,} MiB of it were there before: the arrays and the libraries.",
        ),
        Row(
            f"the same: growth of time from {sizes[FIT_FROM:][0]:,} articles",
            "",
            f"linear (exponent of articles at most {MOST_SLOPE})",
            f"exponent {slope:.2f}",
            slope <= MOST_SLOPE,
            {"exponent": slope, "exponent_building": building_slope, "exponent_nearby": nearby_slope, "nearby": nearby},
            f"{by_size}. The heterograph alone has exponent {building_slope:.2f}, the whole of a law whose citations "
            f"stay among a thousand articles that stand together {nearby_slope:.2f}. The index is DGL's, "
            "made by counting, which reaches all over the memory once the articles are too many for the caches. "
            f"[Plot](performance/{PLOT.name}).",
        ),
    ]


def _slope(steps: Sequence[dict], name: str) -> float:
    """Return by how many powers of ten the median time grows with a power of ten more articles, by least squares."""
    articles = [math.log10(step["articles"]) for step in steps]
    seconds = [math.log10(Spread.of(step[name]).median) for step in steps]
    return float(np.polyfit(articles, seconds, 1)[0])


def draw_growth(steps: Sequence[dict], path: Path) -> None:
    """Write the plot of time and memory by number of articles, with a straight line for what linear is."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.5, 3.0), layout="constrained")
    of_time, of_memory = figure.subplots(1, 2)
    sizes = [step["articles"] for step in steps]
    for name, label in (("seconds", "with DGL's indices"), ("building_s", "the heterograph")):
        of_time.loglog(sizes, [Spread.of(step[name]).median for step in steps], marker="o", label=label)
    last = Spread.of(steps[-1]["seconds"]).median
    of_time.loglog(sizes, [last * size / sizes[-1] for size in sizes], ":", color="black", label="linear")
    of_time.set_ylabel("seconds")
    of_time.legend(fontsize=7)
    of_memory.loglog(sizes, [step["peak_mib"] for step in steps], marker="o")
    of_memory.set_ylabel("peak memory of the process, MiB")
    for axes in (of_time, of_memory):
        axes.set_xlabel("articles")
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, dpi=120)
