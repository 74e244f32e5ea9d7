"""Plots of a corpus: the sizes of its codes, and the labels of its questions."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from statgraph.contrib.plots.figures import COLOURS, key_below, new_figure
from statgraph.law.records import SPLITS, Corpus

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MOST_BARS = 30
_LABEL_CHARACTERS = 46
# Numbers of labels at which a bar begins: each up to 10 has one of its own.
_BINS = (*range(1, 12), 21, 51, 101)


def corpus_figures(corpus: Corpus) -> dict[str, Figure]:
    """Return by name the sizes of a corpus's codes and, where it has questions, their labels."""
    figures = {"codes": codes_figure(corpus)}
    if any(map(corpus.split, SPLITS)):
        figures["labels"] = labels_figure(corpus)
    return figures


def codes_figure(corpus: Corpus) -> Figure:
    """Return the number of articles of each code, the largest first; those past the thirtieth in one bar."""
    sizes = Counter(article.code for article in corpus.articles).most_common()
    if len(sizes) > _MOST_BARS:
        rest = sizes[_MOST_BARS - 1 :]
        sizes[_MOST_BARS - 1 :] = [(f"{len(rest):,} other codes", sum(size for _, size in rest))]
    codes, counts = zip(*sizes, strict=True)
    return _stacked_bars(codes, {"articles": counts}, title="Articles by code", xlabel="articles")


def labels_figure(corpus: Corpus) -> Figure:
    """Return the number of questions of the main set by the number of articles that answer them, by split."""
    labels = {split: [len(question.article_ids) for question in corpus.split(split)] for split in SPLITS}
    most = max(max(counts, default=0) for counts in labels.values())
    edges = [*(edge for edge in _BINS if edge <= most), most + 1]
    bins = [f"{low}–{end - 1}" if end - low > 1 else str(low) for low, end in pairwise(edges)]
    series = {split: np.histogram(counts, edges)[0].tolist() for split, counts in labels.items() if counts}
    title = "Questions by number of articles that answer them"
    return _stacked_bars(bins, series, title=title, xlabel="questions", ylabel="articles that answer the question")


def _stacked_bars(labels: Sequence[str], series: Mapping[str, Sequence[int]], **names: str) -> Figure:
    """Return bars from top to bottom, each with its total, the series stacked in it.

    Args:
        labels: one for each bar.
        series: name -> one count for each label.
        names: the title, and those of the axes: xlabel, ylabel.
    """
    lines = [textwrap.fill(label, _LABEL_CHARACTERS, max_lines=2, placeholder="…") for label in labels]
    figure, (axes,) = new_figure(
        7.2, 1.3 + (0.4 if any("\n" in line for line in lines) else 0.3) * len(lines), grid="x"
    )
    totals = np.zeros(len(labels), dtype=int)
    for (name, counts), colour in zip(series.items(), COLOURS, strict=False):
        bars = axes.barh(lines, counts, left=totals, label=name, color=colour, edgecolor="white")
        totals += counts
    axes.bar_label(bars, [f"{total:,}" for total in totals], padding=4, fontsize=8)
    axes.invert_yaxis()
    axes.locator_params(axis="x", integer=True, nbins=6)
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.margins(x=0.12)
    axes.set(**names)
    if len(series) > 1:
        key_below(figure, axes)
    return figure
