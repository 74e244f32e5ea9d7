import numpy as np
import pytest

from benchmarks.measures import negative_ranking
from benchmarks.measures.negative_ranking import (
    matrix_distances,
    pair_distances,
    rank_all,
    search_distances,
    tree_of,
)
from statgraph.corpus.records import Article, Corpus, Question
from statgraph.negatives.source import training_questions

PATHS = (("A", "I"), ("A", "I"), ("A", "I", "x"), ("A",), ("B",))
ANSWERS = ((1,), (3, 4))
CORPUS = Corpus(
    "two codes",
    "en",
    "CC0",
    "made",
    tuple(Article(f"a{row}", "Art.", "", path, row) for row, path in enumerate(PATHS)),
    tuple(Question(f"q{row}", "Who?", "train", tuple(f"a{at}" for at in rows)) for row, rows in enumerate(ANSWERS)),
)
# Three levels, so that codes hang from the root by 3. From a4 to a1: B 1, root 4, A 7, A/I 8, a1 9.
DISTANCES = [[2, 0, 3, 3, 9], [3, 3, 4, 0, 0]]


def test_the_tree_has_codes_as_far_from_the_root_as_it_is_deep():
    tree = tree_of(CORPUS)
    # 5 articles, A, A/I, A/I/x, B, the root, and two nodes on the way to each code
    assert (len(tree), tree.number_of_edges()) == (14, 13)
    assert [tree.degree(row) for row in range(5)] == [1] * 5


def test_rivals_find_the_distances():
    tree, questions = tree_of(CORPUS), training_questions(CORPUS)
    pairs = np.array([[0, 0, 0, 1, 1, 1], [4, 1, 2, 0, 2, 4]])
    assert pair_distances(tree, questions, pairs) == [9, 0, 3, 3, 4, 0]
    assert search_distances(tree, questions, [0, 1]) == DISTANCES
    assert matrix_distances(negative_ranking._matrix_of(tree), questions, [0, 1]).tolist() == DISTANCES


def test_ours_are_the_ranks_of_the_distances():
    # Of 2 0 3 3 9 the ranks are 2 1 3 3 5, of 3 3 4 0 0 they are 3 3 5 1 1.
    expected = [[1 / 62, 1 / 61, 1 / 63, 1 / 63, 1 / 65], [1 / 63, 1 / 63, 1 / 65, 1 / 61, 1 / 61]]
    assert rank_all(CORPUS) == pytest.approx(np.array(expected))


def test_other_distances_stop_the_measure():
    negative_ranking._check("same", np.array([1, 2]), np.array([1, 2]))
    with pytest.raises(ValueError, match="rival: 1 of 2 distances differ from ours"):
        negative_ranking._check("rival", np.array([1, 3]), np.array([1, 2]))
