"""How difficult what each source of negatives draws is: on a line of articles where all rankings agree, by hand."""

import numpy as np
import pytest

from statgraph.config import NegativesConfig
from statgraph.registry import NEGATIVES
from statgraph.retrieval.lexical.bm25 import BM25
from statgraph.training.negatives.cusines import SCHEDULES
from statgraph.training.negatives.source import EpochVectors

WRONG = 30
# Difficulty of the wrong article d places from the answer: the share of them that are easier, half for itself.
DIFFICULTY = np.array([np.nan, *((WRONG - d + 0.5) / WRONG for d in range(1, WRONG + 1))])
EASY, MIDDLE, DIFFICULT = (0.7, 0.2, 0.1), (0.15, 0.7, 0.15), (0.1, 0.2, 0.7)


@pytest.fixture(scope="module")
def line(corpus_of):
    """Return a code of 31 articles, the first of which answers "lamp"; the farther from it, the fewer lamps."""
    texts = [" ".join(["lamp"] * (WRONG + 1 - place) + ["dog"] * place) for place in range(WRONG + 1)]
    return corpus_of([(("A",), place) for place in range(WRONG + 1)], [[0]], texts=texts, questions=["lamp"])


@pytest.fixture(scope="module")
def draws_of(line):
    """Return a function that gives what a source draws in each of three epochs, (pairs, per_pair) each."""

    def draws(name: str, config: NegativesConfig, *, pairs: int = 2_000, per_pair: int = 1) -> list[np.ndarray]:
        source = NEGATIVES.load(name)(
            line, config, bm25=lambda: BM25([article.text for article in line.articles], language="en")
        )
        articles = np.arange(WRONG + 1, 0, -1, dtype=np.float32)[:, None]
        drawn = []
        for epoch in (1, 2, 3):
            source.begin_epoch(epoch, 3, EpochVectors(np.ones((1, 1), dtype=np.float32), articles))
            drawn.append(source.draw(np.zeros(pairs, dtype=np.int64), per_pair, np.random.default_rng(epoch)))
        return drawn

    return draws


def shares_of_thirds(drawn: np.ndarray) -> list[float]:
    """Return how much of what was drawn is of the easy, the middle and the difficult third."""
    return np.bincount((drawn.ravel() - 1) // (WRONG // 3), minlength=3)[::-1] / drawn.size


# Means over thirds are 5/30, 15/30 and 25/30: 0.7 * 5 + 0.2 * 15 + 0.1 * 25 = 9 of 30, and so on.
CURRICULUM = [(0.3, EASY), (0.5, MIDDLE), (0.7, DIFFICULT)]
NEAREST_3 = [((29.5 + 28.5 + 27.5) / 90, (0, 0, 1))] * 3
NEAREST_10 = [(25 / 30, (0, 0, 1))] * 3
ANY = [(0.5, (1 / 3, 1 / 3, 1 / 3))] * 3
DRAWN = {
    "bm25": ("bm25", NegativesConfig(depth=3), NEAREST_3),
    "fixed": ("cusines", NegativesConfig(depth=3, schedule="fixed"), NEAREST_3),
    "hardest": ("cusines", NegativesConfig(schedule="hardest"), NEAREST_10),
    "curriculum": ("cusines", NegativesConfig(schedule="curriculum"), CURRICULUM),
    "curriculum by BM25": ("cusines", NegativesConfig(semantic="bm25"), CURRICULUM),
    "curriculum of structure": ("cusines", NegativesConfig(rankings=("hierarchical", "sequential")), CURRICULUM),
    "one bucket": ("cusines", NegativesConfig(buckets=1), ANY),
}


def test_all_sources_and_schedules_are_here():
    assert {name for name, _, _ in DRAWN.values()} == set(NEGATIVES.built_in) - {"none"}
    assert {config.schedule for _, config, _ in DRAWN.values()} == set(SCHEDULES)


@pytest.mark.parametrize("per_pair", [1, 5])
@pytest.mark.parametrize("case", DRAWN)
def test_mean_difficulty_and_shares_of_each_epoch(draws_of, case, per_pair):
    name, config, expected = DRAWN[case]
    # With depth 3, the fourth of a pair must be an easier one.
    per_pair = min(per_pair, 3) if config.depth == 3 else per_pair
    for drawn, (mean, shares) in zip(draws_of(name, config, per_pair=per_pair), expected, strict=True):
        assert DIFFICULTY[drawn].mean() == pytest.approx(mean, abs=0.015)
        assert shares_of_thirds(drawn) == pytest.approx(shares, abs=0.025)


def counts_of_pairs(drawn: np.ndarray) -> set[tuple[int, ...]]:
    """Return how many of the easy, middle and difficult third the pairs have."""
    thirds = 2 - (drawn - 1) // (WRONG // 3)
    return {tuple(np.bincount(pair, minlength=3).tolist()) for pair in thirds}


def test_a_pairs_negatives_come_from_all_buckets(draws_of):
    easy, middle, difficult = draws_of("cusines", NegativesConfig(), pairs=500, per_pair=10)
    assert counts_of_pairs(easy) == {(7, 2, 1)}
    assert counts_of_pairs(difficult) == {(1, 2, 7)}
    assert counts_of_pairs(middle) == {(1, 7, 2), (2, 7, 1)}  # 1.5, 7 and 1.5
