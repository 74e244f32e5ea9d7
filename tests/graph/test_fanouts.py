from collections import Counter

import numpy as np
import pytest

from statgraph.graph.dgl_loader import load_dgl
from statgraph.graph.fanouts import NeighbourDrawer
from statgraph.graph.incoming import IncomingEdges
from statgraph.graph.neighbourhoods import NeighbourhoodWalker
from statgraph.graph.relations import ARTICLE, CITES, HEADING, NODE_TYPES, QUESTION

NODE_COUNTS = {ARTICLE: 2, HEADING: 0, QUESTION: 6}
# All six questions cite article 0, the last one article 1 too.
INCOMING = {
    CITES.reverse_type: IncomingEdges(np.array([0, 1, 2, 3, 4, 5, 7]), np.array([0, 0, 0, 0, 0, 0, 1])),
    CITES.forward_type: IncomingEdges(np.array([0, 6, 7]), np.array([0, 1, 2, 3, 4, 5, 5])),
    (HEADING, "itself", HEADING): IncomingEdges(np.array([0]), np.empty(0, dtype=np.int64)),
}
NONE = np.empty(0, dtype=np.int64)
ARTICLE_0 = {ARTICLE: np.array([0]), HEADING: NONE, QUESTION: NONE}


def everything(edge_type, sources, targets) -> None:
    return None


@pytest.fixture(autouse=True)
def seeded():
    load_dgl().seed(0)


def test_each_neighbour_is_drawn_as_often_as_any_other():
    drawer = NeighbourDrawer(INCOMING, NODE_COUNTS, [2])
    drawn = Counter()
    for _ in range(600):
        found = drawer.neighbourhood(ARTICLE_0, everything)
        (layer,) = found.layers
        sources, targets = layer.edges[CITES.forward_type]
        assert targets.tolist() == [0, 0]
        assert len(set(sources.tolist())) == 2
        drawn.update(found.nodes[QUESTION][sources].tolist())
    # 600 draws of two among six: 200 for each, with a standard deviation of 11.5.
    assert set(drawn) == set(range(6))
    assert all(140 < times < 260 for times in drawn.values())


def test_hidden_edges_take_nobodys_place():
    drawer = NeighbourDrawer(INCOMING, NODE_COUNTS, [2])

    def last_two(edge_type, sources, targets):
        return sources >= 4 if edge_type == CITES.forward_type else None

    for _ in range(20):
        assert sorted(drawer.neighbourhood(ARTICLE_0, last_two).nodes[QUESTION].tolist()) == [4, 5]
    met = {row for _ in range(100) for row in drawer.neighbourhood(ARTICLE_0, everything).nodes[QUESTION].tolist()}
    assert met == set(range(6))  # one batch's mask is not the next one's


def test_enough_neighbours_are_all_neighbours():
    drawn = NeighbourDrawer(INCOMING, NODE_COUNTS, [6, 6]).neighbourhood(ARTICLE_0, everything)
    walked = NeighbourhoodWalker(INCOMING, NODE_COUNTS, 2).neighbourhood(ARTICLE_0, everything)
    for by_draw, by_walk in zip(drawn.layers, walked.layers, strict=True):
        assert (by_draw.input_counts, by_draw.output_counts) == (by_walk.input_counts, by_walk.output_counts)
        for edge_type in INCOMING:
            pairs = [
                {
                    (found.nodes[edge_type[0]][source], found.nodes[edge_type[2]][target])
                    for source, target in zip(*layer.edges[edge_type], strict=True)
                }
                for found, layer in ((drawn, by_draw), (walked, by_walk))
            ]
            assert pairs[0] == pairs[1]
    assert {node_type: sorted(drawn.nodes[node_type].tolist()) for node_type in NODE_TYPES} == {
        ARTICLE: [0, 1],
        HEADING: [],
        QUESTION: [0, 1, 2, 3, 4, 5],
    }
