"""How many edges the nodes of the graph have."""

from __future__ import annotations

import numpy as np

from statgraph.corpus.records import Corpus
from statgraph.graph.hierarchy import hierarchy_of
from statgraph.graph.relations import TRAIN_SPLIT
from statgraph.plotting.bars import pile
from statgraph.plotting.drawing import PAPER, Drawing
from statgraph.plotting.intervals import doubling_counts


def degrees_drawing(corpus: Corpus) -> Drawing:
    """Return three distributions: what stands right under a heading, the training questions that cite an article, and
    the articles that a training question cites."""
    from matplotlib.figure import Figure

    hierarchy = hierarchy_of(corpus.articles)
    n_headings = len(hierarchy.headings)
    under_another = hierarchy.heading_parents[hierarchy.heading_parents >= 0]
    children = np.bincount(under_another, minlength=n_headings)
    children += np.bincount(hierarchy.article_parents, minlength=n_headings)
    labels = corpus.label_rows(corpus.split(TRAIN_SPLIT))
    citing = np.bincount(
        np.array([row for rows in labels for row in rows], dtype=np.int64), minlength=len(corpus.articles)
    )
    cited = np.array([len(rows) for rows in labels], dtype=np.int64)
    panels = (
        ("children of a heading", "headings", children),
        ("training questions that cite an article", "articles", citing),
        ("articles that a training question cites", "training questions", cited),
    )
    panels = tuple(panel for panel in panels if len(panel[2]))
    figure = Figure(figsize=(7.2, 2.8 * len(panels)), layout="constrained", facecolor=PAPER)
    hovers, table = {}, []
    for number, (what, of, values) in enumerate(panels):
        names, counts = doubling_counts(values)
        axes = figure.add_subplot(len(panels), 1, number + 1, facecolor="none")
        hovers |= pile(axes, names, {of: counts}, x_name=what, y_name=of, prefix=f"panel{number}")
        table += [(what, name, count) for name, count in zip(names, counts, strict=True)]
    return Drawing(
        name="degrees",
        title="How many edges the nodes have",
        description=(
            "From the top: headings by what stands under them, articles by the training questions that cite them, "
            "training questions by the articles they cite, in intervals that double. "
            f"{100 * np.mean(citing == 0):.0f} % of the articles are cited by no training question."
        ),
        figure=figure,
        columns=("degree", "interval", "nodes"),
        rows=tuple(table),
        hovers=hovers,
    )
