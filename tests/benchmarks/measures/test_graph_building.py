import dataclasses

import pytest

from benchmarks.measures import graph_building
from benchmarks.measures.graph_building import NUMBERINGS, draw_growth, frame_graph
from statgraph.corpus.records import Article, Corpus

PATHS = (("Lamps", "General"), ("Lamps", "General"), ("Lamps", "Hours"), ("Wells", "General"), ("Wells",))
TOWN = Corpus(
    "town", "en", "CC0", "made", tuple(Article(f"a{row}", "Art.", "", path, row) for row, path in enumerate(PATHS)), ()
)


@pytest.mark.parametrize("numbering", NUMBERINGS)
def test_a_title_is_a_node_in_the_data_frame(numbering):
    graph = frame_graph(TOWN, numbering=numbering)
    # Lamps, General, a0, a1, Hours, a2, Wells, a3, a4 in order of appearance; the second "General" is the first.
    assert graph.num_nodes() == 9
    edges = [ends.tolist() for ends in graph.edges(order="eid")]
    assert list(zip(*edges, strict=True)) == [(0, 1), (1, 2), (1, 3), (0, 4), (4, 5), (6, 1), (1, 7), (6, 8)]


STEPS = [
    {"articles": 10, "seconds": [0.5, 9.0, 0.5], "building_s": [0.3, 0.3], "peak_mib": 100},
    {"articles": 100, "seconds": [5.0], "building_s": [30.0], "peak_mib": 200},
]


def test_slope_is_the_exponent_of_the_medians():
    assert graph_building._slope(STEPS, "seconds") == pytest.approx(1.0)
    assert graph_building._slope(STEPS, "building_s") == pytest.approx(2.0)


def test_rows_of_a_tree_have_no_questions():
    # Lamps, Lamps/General, Lamps/Hours, Wells, Wells/General, and five articles
    assert graph_building._tree_nodes(dataclasses.replace(TOWN)) == 10


def test_the_plot_is_a_png(tmp_path):
    path = tmp_path / "performance" / "growth.png"
    draw_growth(STEPS, path)
    assert path.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
