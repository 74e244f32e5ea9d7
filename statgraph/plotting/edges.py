"""How many edges of each relation the graph has."""

from __future__ import annotations

from statgraph.config import GraphConfig
from statgraph.corpus.records import Corpus
from statgraph.graph.hierarchy import hierarchy_of
from statgraph.graph.relations import RELATION_GROUPS
from statgraph.plotting.bars import lying_bars
from statgraph.plotting.drawing import HUES, REST, Drawing


def edges_drawing(corpus: Corpus) -> Drawing:
    """Return the number of edges of every relation that the graph can have; each has as many in reverse."""
    hierarchy = hierarchy_of(corpus.articles)
    on = GraphConfig().relations
    rows, colours = [], []
    for group, relations in RELATION_GROUPS.items():
        for relation in relations:
            count = len(relation.edges(corpus, hierarchy)[0])
            rows.append(("-".join(relation.forward_type), group, "yes" if group in on else "no", count))
            colours.append(HUES[0] if group in on else REST)
    figure, hovers = lying_bars([row[0] for row in rows], [row[-1] for row in rows], x_name="edges", colours=colours)
    return Drawing(
        name="edges",
        title="How many edges each relation has",
        description=(
            "Edges of each relation, one way; the reverse of each is a relation of its own with as many. Grey: off "
            "unless graph.relations names it."
        ),
        figure=figure,
        columns=("relation", "group", "on by default", "edges"),
        rows=tuple(rows),
        hovers=hovers,
    )
