import pytest

from statgraph.config import NegativesConfig
from statgraph.errors import UsageError
from statgraph.lexical.bm25 import BM25
from statgraph.negatives.bm25_negatives import Bm25Negatives
from statgraph.negatives.cusines import CusinesNegatives
from statgraph.negatives.registry import SOURCES, negative_source


def test_none_is_no_source(two_codes, no_bm25):
    assert negative_source("none", two_codes, NegativesConfig(), bm25=no_bm25) is None


def test_sources_by_name(two_codes, no_bm25):
    assert list(SOURCES) == ["bm25", "cusines"]
    bm25 = BM25([article.text for article in two_codes.articles], language="en")
    assert type(negative_source("bm25", two_codes, NegativesConfig(), bm25=lambda: bm25)) is Bm25Negatives
    assert type(negative_source("cusines", two_codes, NegativesConfig(), bm25=no_bm25)) is CusinesNegatives


def test_an_unknown_name_is_refused(two_codes, no_bm25):
    with pytest.raises(UsageError) as refused:
        negative_source("random", two_codes, NegativesConfig(), bm25=no_bm25)
    assert str(refused.value) == "negatives: 'random' is not known; choose from none, bm25, cusines"
