"""CuSINeS' hierarchical ranking of all articles for all training questions, against shortest paths in the tree."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from benchmarks.rows import Row, ratio_text, seconds_text
from benchmarks.settings import Settings
from benchmarks.side_by_side import Spread, taking_turns, times_faster
from statgraph.config import NegativesConfig
from statgraph.corpus.records import Corpus
from statgraph.corpus.store import read_corpus
from statgraph.negatives.cusines import reciprocal_ranks
from statgraph.negatives.rankings import HierarchicalRanking
from statgraph.negatives.source import TrainingQuestions, training_questions

ASKED_TIMES = 1000
SAMPLED_PAIRS, SAMPLED_QUESTIONS = 100, 12


def measure(settings: Settings) -> list[Row]:
    """Return the rows of a corpus. Every rival's distances are checked against ours on its sample.

    Raises:
        ValueError: if they differ.
    """
    corpus = read_corpus(settings.corpus)
    questions = training_questions(corpus)
    n_questions, n_articles = len(questions.texts), questions.n_articles
    tree = tree_of(corpus)
    matrix = _matrix_of(tree)
    rng = np.random.default_rng(0)
    pairs = np.stack([rng.integers(n_questions, size=SAMPLED_PAIRS), rng.integers(n_articles, size=SAMPLED_PAIRS)])
    asked = np.sort(rng.choice(n_questions, min(SAMPLED_QUESTIONS, n_questions), replace=False))
    works = {
        "ours": lambda: rank_all(corpus),
        "pairs": lambda: pair_distances(tree, questions, pairs),
        "searches": lambda: search_distances(tree, questions, asked),
        "matrix": lambda: matrix_distances(matrix, questions, asked),
    }
    distances = _ranking(corpus, questions).distances(np.arange(n_questions), None)  # (questions, articles)
    expected = {"pairs": distances[pairs[0], pairs[1]], "searches": distances[asked], "matrix": distances[asked]}
    for name, wanted in expected.items():
        _check(name, np.array(works[name]()), wanted)
    seconds = taking_turns(works, rounds=1 if settings.quick else 5)
    shares = {"pairs": n_questions * n_articles / SAMPLED_PAIRS} | dict.fromkeys(
        ("searches", "matrix"), n_questions / len(asked)
    )
    scaled = {name: [share * value for value in seconds[name]] for name, share in shares.items()}
    ratios = {name: times_faster(seconds["ours"], values) for name, values in scaled.items()}
    paths = sum(map(len, questions.answers)) * n_articles
    what = f"hierarchical ranking: {corpus.name}, {n_questions} questions x {n_articles:,} articles"
    ours = seconds_text(Spread.of(seconds["ours"]))
    return [
        Row(
            what,
            "networkx, a shortest path for each article and answer",
            f"{ASKED_TIMES:,} times faster",
            ratio_text(ratios["pairs"]),
            ratios["pairs"].median >= ASKED_TIMES,
            {"seconds": seconds, "scaled_by": shares, "paths": paths},
            f"Ours {ours}, reading the tree and turning distances into ranks included. The rival's time is scaled from "
            f"{SAMPLED_PAIRS} random pairs of a question and an article, the path to each answer found by "
            f"`networkx.shortest_path_length` (breadth-first from both ends, every edge of length 1): "
            f"{Spread.of(scaled['pairs']).median / 3600:,.0f} hours for all {paths:,} paths. The sample's distances "
            "are the same.",
        ),
        Row(
            what,
            "networkx, one search a question from all its answers",
            "",
            ratio_text(ratios["searches"]),
            None,
            {"scaled_by": shares["searches"]},
            _scaled_note("networkx.multi_source_dijkstra_path_length", scaled["searches"], len(asked)),
        ),
        Row(
            what,
            "scipy, one search a question from all its answers",
            "",
            ratio_text(ratios["matrix"]),
            None,
            {"scaled_by": shares["matrix"]},
            _scaled_note("scipy.sparse.csgraph.dijkstra(min_only=True)", scaled["matrix"], len(asked)),
        ),
    ]


def rank_all(corpus: Corpus) -> np.ndarray:
    """Return the reciprocal ranks of all articles for all training questions, (questions, articles) float32."""
    questions = training_questions(corpus)
    distances = _ranking(corpus, questions).distances(np.arange(len(questions.texts)), None)
    ranks = np.empty(distances.shape, dtype=np.float32)
    for row, to_nearest in enumerate(distances):
        ranks[row] = reciprocal_ranks(to_nearest, NegativesConfig().rrf_k)
    return ranks


def tree_of(corpus: Corpus):
    """Return the networkx tree above the articles, made from their paths: article i is node i.

    Codes hang from a root by as many edges as the tree has levels, one node between two of them, so that all edges have
    length 1 and networkx can search breadth-first.
    """
    import networkx

    depth = max(len(article.path) for article in corpus.articles)
    numbers: dict[tuple, int] = {}
    edges = set()
    for row, article in enumerate(corpus.articles):
        above = [("root", level) for level in range(1, depth)]
        chain = [(), *((article.code, *step) for step in above)]
        chain += [article.path[:level] for level in range(1, len(article.path) + 1)]
        nodes = [len(corpus.articles) + numbers.setdefault(node, len(numbers)) for node in chain]
        edges.update(pairwise([*nodes, row]))
    tree = networkx.Graph()
    tree.add_nodes_from(range(len(corpus.articles) + len(numbers)))
    tree.add_edges_from(edges)
    return tree


def pair_distances(tree, questions: TrainingQuestions, pairs: np.ndarray) -> list[int]:
    """Return for each column of `pairs` (2, pairs), a question and an article, the path length to the nearest answer:
    the least of as many paths as there are answers."""
    import networkx

    return [
        min(networkx.shortest_path_length(tree, article, answer) for answer in questions.answers[question].tolist())
        for question, article in pairs.T.tolist()
    ]


def search_distances(tree, questions: TrainingQuestions, asked: Sequence[int]) -> list[list[int]]:
    """Return the path lengths from all articles to the nearest answer of each question asked, by networkx."""
    import networkx

    found = []
    for question in asked:
        lengths = networkx.multi_source_dijkstra_path_length(tree, set(questions.answers[question].tolist()))
        found.append([lengths[row] for row in range(questions.n_articles)])
    return found


def matrix_distances(matrix, questions: TrainingQuestions, asked: Sequence[int]) -> np.ndarray:
    """Return the same by scipy, (asked, articles) float64, from the tree's matrix."""
    from scipy.sparse.csgraph import dijkstra

    return np.stack(
        [
            dijkstra(matrix, indices=questions.answers[question], min_only=True, unweighted=True)[
                : questions.n_articles
            ]
            for question in asked
        ]
    )


def _matrix_of(tree):
    import networkx

    return networkx.to_scipy_sparse_array(tree, nodelist=range(len(tree)), format="csr", dtype=float)


def _ranking(corpus: Corpus, questions: TrainingQuestions) -> HierarchicalRanking:
    return HierarchicalRanking(corpus, questions, NegativesConfig(), None)


def _check(name: str, found: np.ndarray, wanted: np.ndarray) -> None:
    wrong = np.count_nonzero(found != wanted)
    if found.shape != wanted.shape or wrong:
        raise ValueError(f"{name}: {wrong} of {wanted.size} distances differ from ours; mend one of the two first")


def _scaled_note(function: str, seconds: Sequence[float], n_questions: int) -> str:
    median = Spread.of(seconds).median
    return f"`{function}`: {median:,.0f} s, scaled from {n_questions} questions, whose distances are all the same."
