from collections import Counter

import numpy as np
import pytest

from statgraph.config import NegativesConfig
from statgraph.errors import UsageError
from statgraph.retrieval.lexical.bm25 import BM25
from statgraph.training.negatives.bm25_negatives import Bm25Negatives


@pytest.fixture
def bm25_of():
    """Return a function that builds BM25 over a corpus' texts when called."""
    return lambda corpus: lambda: BM25([article.text for article in corpus.articles], language="en")


def drawn(source: Bm25Negatives, question_row: int, count: int, per_pair: int = 1) -> Counter:
    rows = source.draw(np.full(count, question_row), per_pair, np.random.default_rng(0))
    assert rows.shape == (count, per_pair)
    assert rows.dtype == np.int64
    return Counter(rows.ravel().tolist())


def test_only_the_best_that_do_not_answer_are_drawn_equally_often(two_codes, bm25_of):
    source = Bm25Negatives(two_codes, NegativesConfig(depth=2), bm25=bm25_of(two_codes))
    assert source.needs_vectors is False
    source.begin_epoch(1, 1, None)
    # "lamp": a1 (three times, the answer), a6 (twice), then a0, whose one term makes it shorter than a4.
    counts = drawn(source, 0, 10_000)
    assert set(counts) == {0, 6}
    assert counts[0] / 10_000 == pytest.approx(0.5, abs=0.02)
    # "well": a4 alone has it beside the answer a3; of those that score 0, a0 comes first by row.
    assert set(drawn(source, 1, 1_000)) == {0, 4}


def test_a_corpus_smaller_than_the_depth_gives_all_that_do_not_answer(two_codes, bm25_of):
    source = Bm25Negatives(two_codes, NegativesConfig(depth=50), bm25=bm25_of(two_codes))
    assert set(drawn(source, 1, 1_000)) == {0, 1, 2, 4, 6}


def test_no_row_holds_one_twice_where_there_are_enough(two_codes, bm25_of):
    source = Bm25Negatives(two_codes, NegativesConfig(depth=3), bm25=bm25_of(two_codes))
    rows = source.draw(np.array([0, 1] * 100), 3, np.random.default_rng(0))
    assert {len(set(row)) for row in rows.tolist()} == {3}
    assert set(drawn(source, 0, 10, per_pair=7).values()) <= set(range(20, 31))  # 3 candidates, 2 or 3 times a row


def test_a_depth_below_one_is_refused(two_codes, no_bm25):
    with pytest.raises(UsageError, match=r"^negatives\.depth: .*got 0"):
        Bm25Negatives(two_codes, NegativesConfig(depth=0), bm25=no_bm25)
