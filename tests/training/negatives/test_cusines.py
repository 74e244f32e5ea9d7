from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from statgraph.config import NegativesConfig
from statgraph.law.catalogue import sample_folder
from statgraph.law.store import read_corpus
from statgraph.training.negatives.cusines import (
    SCHEDULES,
    CusinesNegatives,
    HierarchicalRanking,
    SemanticRanking,
    SequentialRanking,
    bucket_numbers,
    curriculum_shares,
    even_bounds,
)
from statgraph.training.negatives.source import EpochVectors, training_questions

EASY, MIDDLE, DIFFICULT = (0.7, 0.2, 0.1), (0.15, 0.7, 0.15), (0.1, 0.2, 0.7)


def test_three_buckets_over_15_epochs_are_the_papers():
    shares = [curriculum_shares(3, epoch, 15) for epoch in range(1, 16)]
    assert shares == [EASY] * 5 + [MIDDLE] * 5 + [DIFFICULT] * 5  # to the last bit


@pytest.mark.parametrize(
    ("epochs", "phases"),
    [
        (1, [EASY]),
        (2, [EASY, MIDDLE]),
        (3, [EASY, MIDDLE, DIFFICULT]),
        (4, [EASY, MIDDLE, DIFFICULT, DIFFICULT]),
        (6, [EASY, EASY, MIDDLE, MIDDLE, DIFFICULT, DIFFICULT]),
        (7, [EASY, EASY, MIDDLE, MIDDLE, DIFFICULT, DIFFICULT, DIFFICULT]),
    ],
)
def test_phases_scale_with_the_epochs(epochs, phases):
    assert [curriculum_shares(3, epoch, epochs) for epoch in range(1, epochs + 1)] == phases


def test_other_numbers_of_buckets():
    assert curriculum_shares(1, 1, 15) == (1.0,)
    assert [curriculum_shares(2, epoch, 2) for epoch in (1, 2)] == [(0.7, 0.3), (0.3, 0.7)]
    # Weights 3, (4), 3, 2 of the second of four phases: 0.3 * 3/8, 0.7, 0.3 * 3/8, 0.3 * 2/8.
    assert curriculum_shares(4, 2, 4) == (0.1125, 0.7, 0.1125, 0.075)


@pytest.mark.parametrize(
    ("name", "n_articles", "bounds"),
    [
        ("curriculum", 7, (2, 4)),  # 2, 2 and 3 articles
        ("hardest", 7, (2, 4)),
        ("hardest", 2, (0, 1)),  # the easy bucket is empty
        ("fixed", 7, (3,)),
        ("fixed", 4, (0,)),
        ("fixed", 3, (0,)),
    ],
)
def test_where_difficulty_is_cut(name, n_articles, bounds):
    cut, _ = SCHEDULES[name]
    assert cut(n_articles, NegativesConfig(depth=4, buckets=3)) == bounds


@pytest.mark.parametrize(
    ("scores", "bounds", "numbers"),
    [
        ([0.6, 0.1, 0.5, 0.2, 0.4, 0.3], (2, 4), [2, 0, 2, 0, 1, 1]),
        ([0.6, 0.1, 0.5, 0.2, 0.4, 0.3], (), [0, 0, 0, 0, 0, 0]),
        ([0.6, 0.1, 0.5, 0.2, 0.4, 0.3], (5,), [1, 0, 0, 0, 0, 0]),
        ([0.6, 0.1], (0,), [1, 1]),
        ([3, 9], (0, 1), [1, 2]),
        ([3], (0, 0, 0, 0), [4]),
    ],
)
def test_buckets_from_easy_to_difficult(scores, bounds, numbers):
    assert bucket_numbers(np.array(scores, dtype=np.float32), bounds).tolist() == numbers


STRUCTURE = ("hierarchical", "sequential")


@pytest.fixture(scope="module")
def sample():
    return read_corpus(sample_folder())


def vectors_of(corpus, seed: int = 0) -> EpochVectors:
    rng = np.random.default_rng(seed)
    return EpochVectors(
        rng.standard_normal((len(corpus.split("train")), 8)).astype(np.float32),
        rng.standard_normal((len(corpus.articles), 8)).astype(np.float32),
    )


def frequencies(source: CusinesNegatives, question_row: int, count: int = 20_000) -> dict[int, float]:
    rows = source.draw(np.full(count, question_row), 1, np.random.default_rng(0)).ravel()
    return {row: number / count for row, number in Counter(rows.tolist()).items()}


def test_structure_fused_and_cut_by_hand(two_codes, no_bm25):
    # q0, answered by a1. Wrong answers           a0 a2 a3 a4 a5 a6
    # tree 2 3 4 3 10 10, ranks                    1  2  4  2  5  5
    # order 1 1 2 3 5 5, ranks                     1  1  3  4  5  5
    # 1/(60 + rank) summed: a0 .03279, a2 .03252, a4 .03175, a3 .03150, a5 and a6 .03077
    source = CusinesNegatives(two_codes, NegativesConfig(rankings=STRUCTURE), bm25=no_bm25)
    assert source.needs_vectors is False
    expected = {1: (0.7, 0.2, 0.1), 6: (0.15, 0.7, 0.15), 15: (0.1, 0.2, 0.7)}
    for epoch, (easy, middle, difficult) in expected.items():
        source.begin_epoch(epoch, 15, None)
        assert frequencies(source, 0) == pytest.approx(
            {5: easy / 2, 6: easy / 2, 3: middle / 2, 4: middle / 2, 0: difficult / 2, 2: difficult / 2}, abs=0.01
        )


@pytest.mark.parametrize(("rrf_k", "most_difficult"), [(0, 6), (60, 4)])
def test_rrf_k_decides_between_one_first_rank_and_two_fair_ones(two_codes, no_bm25, rrf_k, most_difficult):
    # q1, answered by a3 and a5. Wrong answers   a0 a1 a2 a4 a6
    # tree 4 4 5 3 2, ranks                       3  3  5  2  1
    # model, ranks                                3  5  1  2  4
    # k = 0: a6 1 + 1/4 = 1.25 leads a2 1/5 + 1 = 1.2 and a4 1/2 + 1/2 = 1.
    # k = 60: a4 2/62 = .03226 leads a6 1/61 + 1/64 = .03202 and a2 1/65 + 1/61 = .03178.
    scores = np.array([3, 1, 5, 9, 4, 9, 2], dtype=np.float32)
    vectors = EpochVectors(np.ones((2, 1), dtype=np.float32), scores[:, None])
    config = NegativesConfig(rankings=("semantic", "hierarchical"), rrf_k=rrf_k, buckets=5, schedule="hardest")
    source = CusinesNegatives(two_codes, config, bm25=no_bm25)
    source.begin_epoch(1, 1, vectors)
    assert set(frequencies(source, 1, 50)) == {most_difficult}


@pytest.mark.parametrize("buckets", [1, 3, 7])
@pytest.mark.parametrize("schedule", ["curriculum", "fixed", "hardest"])
def test_no_answer_is_drawn_and_no_row_repeats(sample, no_bm25, schedule, buckets):
    source = CusinesNegatives(sample, NegativesConfig(buckets=buckets, schedule=schedule), bm25=no_bm25)
    labels = sample.label_rows(sample.split("train"))
    question_rows = np.tile(np.arange(len(labels)), 5)
    rng = np.random.default_rng(0)
    for epoch in (1, 2, 3):
        source.begin_epoch(epoch, 3, vectors_of(sample, epoch))
        drawn = source.draw(question_rows, 4, rng)
        assert (drawn.shape, drawn.dtype) == ((len(question_rows), 4), np.int64)
        assert drawn.min() >= 0
        assert {len(set(rows)) for rows in drawn.tolist()} == {4}
        assert not any(set(rows) & set(labels[row]) for row, rows in zip(question_rows, drawn.tolist(), strict=True))


def test_fewer_wrong_answers_than_buckets(corpus_of, no_bm25):
    corpus = corpus_of([(("A",), order) for order in (1, 2, 4)], [[0]])
    for schedule in ("curriculum", "hardest"):
        config = NegativesConfig(rankings=("sequential",), buckets=10, schedule=schedule)
        source = CusinesNegatives(corpus, config, bm25=no_bm25)
        source.begin_epoch(1, 1, None)
        drawn = source.draw(np.zeros(200, dtype=np.int64), 1, np.random.default_rng(0))
        assert set(drawn.ravel().tolist()) == ({1, 2} if schedule == "curriculum" else {1})
        # Two rows for three negatives: both, and one of them again.
        threes = source.draw(np.zeros(50, dtype=np.int64), 3, np.random.default_rng(0))
        assert {len(set(rows)) for rows in threes.tolist()} == {2}


def test_a_resumed_epoch_draws_the_same(sample, no_bm25):
    def draws(epochs_before: int) -> list:
        source = CusinesNegatives(sample, NegativesConfig(), bm25=no_bm25)
        for epoch in range(3 - epochs_before, 4):
            source.begin_epoch(epoch, 9, vectors_of(sample, epoch))
        rng = np.random.default_rng(5)
        return [source.draw(np.array([3, 0, 3, 1]), 2, rng).tolist() for _ in range(20)]

    assert draws(0) == draws(2) == draws(2)


@given(
    scores=st.lists(st.integers(0, 3), min_size=1, max_size=20).map(lambda values: np.array(values, dtype=np.float32)),
    buckets=st.integers(1, 127),
)
def test_buckets_are_even_and_never_put_a_lower_score_higher(scores, buckets):
    numbers = bucket_numbers(scores, even_bounds(len(scores), NegativesConfig(buckets=buckets)))
    sizes = np.bincount(numbers, minlength=buckets)
    assert sizes.sum() == len(scores)
    assert sizes.max() - sizes.min() <= 1
    assert sizes[-1] > 0
    order = np.lexsort((np.arange(len(scores)), scores))
    assert (np.diff(numbers[order].astype(int)) >= 0).all()


def test_dynamic_takes_the_inner_products_of_the_vectors_given(two_codes, no_bm25):
    ranking = SemanticRanking(two_codes, training_questions(two_codes), NegativesConfig(), no_bm25)
    assert ranking.needs_vectors is True
    vectors = EpochVectors(np.array([[1, 0], [2, -1]], dtype=np.float32), np.arange(14, dtype=np.float32).reshape(7, 2))
    distances = ranking.distances(np.array([0, 1]), vectors)
    assert distances.tolist() == [[0, -2, -4, -6, -8, -10, -12], [1, -1, -3, -5, -7, -9, -11]]
    assert ranking.distances(np.array([1]), vectors).tolist() == distances[1:].tolist()


def distances_of(corpus) -> np.ndarray:
    questions = training_questions(corpus)
    ranking = HierarchicalRanking(corpus, questions, NegativesConfig(), None)
    return ranking.distances(np.arange(len(questions.texts)), None)


def test_path_lengths(two_codes):
    # The tree is three levels deep, so codes hang from the root by 3. On the way from a5: B/I 1, B 2, root 5, A 8,
    # A/I 9, a1 10.
    assert distances_of(two_codes).tolist() == [[2, 0, 3, 4, 3, 10, 10], [4, 4, 5, 0, 3, 0, 2]]


def test_a_path_to_another_code_is_longer_than_any_within_one(corpus_of):
    deep = ("A", "1", "2", "3")
    corpus = corpus_of([((*deep, "4"), 1), (("A", "other", "2", "3", "4"), 2), (("A",), 3), (("B",), 1)], [[0], [2]])
    # Within A the longest has 5 edges up and 5 down; out of it there are 1 + 5 up and 5 + 1 down at least.
    assert distances_of(corpus).tolist() == [[0, 10, 6, 16], [6, 6, 0, 12]]


def distances_in_order(corpus) -> np.ndarray:
    questions = training_questions(corpus)
    ranking = SequentialRanking(corpus, questions, NegativesConfig(), None)
    assert ranking.needs_vectors is False
    return ranking.distances(np.arange(len(questions.texts)), None)


def test_distance_in_order_to_the_nearest_answer_of_the_code(two_codes):
    # Orders go from 1 to 5, so another code is 5 away. q1 has an answer in either code.
    assert distances_in_order(two_codes).tolist() == [[1, 0, 1, 2, 3, 5, 5], [3, 2, 1, 0, 1, 0, 1]]


@pytest.mark.parametrize("seed", range(5))
def test_distances_are_those_of_the_definition(corpus_of, seed):
    rng = np.random.default_rng(seed)
    places = [((f"code {rng.integers(4)}",), int(rng.integers(-50, 50))) for _ in range(40)]
    answers = [rng.choice(40, int(rng.integers(1, 12)), replace=False).tolist() for _ in range(4)]
    farthest = max(order for _, order in places) - min(order for _, order in places) + 1
    expected = [
        [
            min([abs(order - places[row][1]) for row in rows if places[row][0] == code], default=farthest)
            for code, order in places
        ]
        for rows in answers
    ]
    assert distances_in_order(corpus_of(places, answers)).tolist() == expected
