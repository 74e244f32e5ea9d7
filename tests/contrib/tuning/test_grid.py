import numpy as np
import pytest

from statgraph.contrib.tuning.grid import Grid, GridPoint, GridResult, TermCounts, bm25_grid
from statgraph.errors import UsageError
from statgraph.retrieval.lexical.bm25 import BM25

TEXTS = ["cat dog cat", "cat", "bird bird bird bird bird", "", "dog bird dog bird cat dog", "cats and dogs"]
QUESTIONS = ["cat", "cat dog dog", "bird of a cat", "whale", ""]


@pytest.mark.parametrize("k1", [0.0, 0.9, 2.5, 8.0])
@pytest.mark.parametrize("b", [0.0, 0.2, 0.75, 1.0])
@pytest.mark.parametrize(("language", "stop_words"), [("xx", False), ("en", False), ("en", True)])
def test_rankings_are_those_of_bm25(k1, b, language, stop_words):
    index = BM25(TEXTS, language=language, k1=k1, b=b, stop_words=stop_words)
    rankings = list(TermCounts(TEXTS, language, QUESTIONS, stop_words=stop_words).rankings(k1, b, 4))
    assert [rows.tolist() for rows in rankings] == [index.ranking(question, 4)[0].tolist() for question in QUESTIONS]


def test_each_point_gets_what_the_rankings_there_are_worth():
    # Scores: at k1 = 0 all 1; at k1 = 8, b = 0: 2 / 10 and 5 / 13; at k1 = 8, b = 1 (4 terms on average): 2 / (2 + 4)
    # and 5 / (5 + 12).
    def first_row(rankings):
        return {"row": rankings[0][0], "depth": len(rankings[0])}

    texts = ["bird bird", "bird bird bird bird bird cat"]
    grid = bm25_grid(TermCounts(texts, "xx", ["bird"]), Grid([0, 8], [0.0, 1.0]), first_row, metric="row", depth=1)
    assert grid.values["row"].tolist() == [[0, 0], [1, 0]]
    assert grid.values["depth"].tolist() == [[1, 1], [1, 1]]
    assert (grid.k1s, grid.bs) == ((0.0, 8.0), (0.0, 1.0))
    assert grid.best == GridPoint(8.0, 0.0, 1.0)


def test_points_come_best_first_and_equal_ones_by_k1_then_b():
    grid = GridResult((2.0, 1.0), (0.5, 0.1), {"x": np.array([[3.0, 5.0], [5.0, 5.0]])}, "x")
    assert [(point.k1, point.b, point.value) for point in grid.points] == [
        (1.0, 0.1, 5.0), (1.0, 0.5, 5.0), (2.0, 0.1, 5.0), (2.0, 0.5, 3.0),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("k1s", "bs", "message"),
    [
        ([], [0.5], "k1: no values"),
        ([1.0], [0.5, 0.5], "b: .* twice"),
        ([-1.0], [0.5], r"k1: .*\(got -1.0\)"),
        ([float("inf")], [0.5], r"k1: .*\(got inf\)"),
        ([1.0], [1.5], r"b: .*\(got 1.5\)"),
        ([1.0], [float("nan")], r"b: .*\(got nan\)"),
    ],
)
def test_a_grid_out_of_range_is_refused(k1s, bs, message):
    with pytest.raises(UsageError, match=message):
        Grid(k1s, bs)
