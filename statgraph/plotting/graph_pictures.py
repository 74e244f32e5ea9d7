"""Pictures of the graph: the tree of one code, the edges of each relation, the degrees of the nodes."""

from __future__ import annotations

import numpy as np

from statgraph.config import GraphConfig
from statgraph.corpus.records import Corpus
from statgraph.corpus.tree import tree_of
from statgraph.evaluation.plots import panelled_figure
from statgraph.graph.relations import RELATION_GROUPS, TRAIN_SPLIT
from statgraph.plotting.bars import doubling_counts, lying_bars, pile
from statgraph.plotting.drawing import HUES, REST, Drawing
from statgraph.plotting.tree import tree_drawing


def graph_drawings(corpus: Corpus, *, code: str | None = None) -> list[Drawing]:
    """Return what its graph is like: the tree of one code, the edges of each relation, the degrees of the nodes.

    Raises:
        UsageError: if no code, or more than one, matches `code`.
    """
    return [tree_drawing(corpus, code), edges_drawing(corpus), degrees_drawing(corpus)]


def edges_drawing(corpus: Corpus) -> Drawing:
    """Return the number of edges of every relation that the graph can have; each has as many in reverse."""
    hierarchy = tree_of(corpus.articles)
    on = GraphConfig().relations
    colours = {"on by default": HUES[0], "off unless graph.relations names it": REST}
    used, unused = colours
    rows = []
    for group, relations in RELATION_GROUPS.items():
        for relation in relations:
            count = len(relation.edges(corpus, hierarchy)[0])
            rows.append(("-".join(relation.forward_type), group, "yes" if group in on else "no", count))
    names, _, default, counts = zip(*rows, strict=True)
    kinds = [used if on_by_default == "yes" else unused for on_by_default in default]
    figure, hovers = lying_bars(names, counts, x_name="edges", kinds=kinds, colours=colours)
    return Drawing(
        name="edges",
        title="Edges by relation",
        description=("Edges of each relation, one way; the reverse of each is a relation of its own with as many."),
        figure=figure,
        columns=("relation", "group", "on by default", "edges"),
        rows=tuple(rows),
        hovers=hovers,
    )


def degrees_drawing(corpus: Corpus) -> Drawing:
    """Return three distributions: the children of headings, the training questions that cite an article, and the
    articles that a training question cites."""
    hierarchy = tree_of(corpus.articles)
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
    figure, every_axes = panelled_figure(7.2, 2.8 * len(panels), len(panels), upright=True)
    hovers, table = {}, []
    for number, (axes, (what, of, values)) in enumerate(zip(every_axes, panels, strict=True)):
        names, counts = doubling_counts(values)
        hovers |= pile(axes, names, {of: counts}, x_name=what, y_name=of, prefix=f"panel{number}")
        table += [(what, name, count) for name, count in zip(names, counts, strict=True)]
    return Drawing(
        name="degrees",
        title="Nodes by number of edges",
        description=(
            "From the top: headings by their children, articles by the training questions that cite them, "
            "training questions by the articles they cite, in intervals that double. "
            f"{100 * np.mean(citing == 0):.0f} % of the articles are cited by no training question."
        ),
        figure=figure,
        columns=("degree", "interval", "nodes"),
        rows=tuple(table),
        hovers=hovers,
    )
