import numpy as np
import pytest

from statgraph.augmentation.store import SyntheticQuestion
from statgraph.config import NegativesConfig, RunConfig, Stage1Config
from statgraph.errors import UsageError
from statgraph.retrieval.lexical.bm25 import BM25
from statgraph.systems.stages import hard_negatives
from statgraph.training.pairs import gold_pairs, synthetic_pairs


@pytest.fixture
def negatives_of(town_corpus):
    """Return a function that returns the hard negatives of gold and synthetic pairs under some settings."""
    asked = SyntheticQuestion("Who lights the lamps?", (town_corpus.articles[0].article_id,), "headings")
    sources = {"gold": gold_pairs(town_corpus), "synthetic": synthetic_pairs(town_corpus, [asked])}

    def made(pairs: str, name: str = "bm25", per_pair: int = 1) -> dict:
        config = RunConfig(negatives=NegativesConfig(depth=2, pairs=pairs))
        stage = Stage1Config(negatives=name, negatives_per_pair=per_pair)
        texts = [article.text for article in town_corpus.articles]
        return hard_negatives(town_corpus, config, stage, sources, lambda: BM25(texts, language="en"))

    return made


def test_gold_pairs_alone_have_hard_negatives_unless_all_are_to(negatives_of):
    assert list(negatives_of("gold")) == ["gold"]
    assert list(negatives_of("all")) == ["gold", "synthetic"]
    assert negatives_of("all", "none") == negatives_of("all", per_pair=0) == {}
    with pytest.raises(UsageError, match=r"^negatives\.pairs: .*cusines"):
        negatives_of("all", "cusines")


def test_a_synthetic_question_has_bm25s_best_that_do_not_answer_it(negatives_of):
    drawn = negatives_of("all")["synthetic"].draw(np.zeros(50, dtype=np.int64), 1, np.random.default_rng(0))
    assert len({*drawn.ravel().tolist()}) == 2
    assert 0 not in drawn
