import re
from pathlib import Path

import numpy as np
import pytest

from statgraph.config import NegativesConfig
from statgraph.errors import UsageError
from statgraph.negatives import rankings
from statgraph.negatives.hierarchical import HierarchicalRanking
from statgraph.negatives.questions import training_questions
from statgraph.negatives.rankings import RANKINGS, rankings_of
from statgraph.negatives.registry import negative_source
from statgraph.negatives.sequential import SequentialRanking

GUIDE = Path(__file__).parents[2] / "docs" / "extending.md"


def test_rankings_come_in_the_order_of_the_setting(two_codes, no_bm25):
    config = NegativesConfig(rankings=("sequential", "hierarchical"))
    found = rankings_of(two_codes, training_questions(two_codes), config, no_bm25)
    assert [type(ranking) for ranking in found] == [SequentialRanking, HierarchicalRanking]


@pytest.mark.parametrize("name", RANKINGS)
def test_every_ranking_gives_a_number_for_each_article(name, two_codes):
    from statgraph.lexical.bm25 import BM25

    texts = [article.text for article in two_codes.articles]
    config = NegativesConfig(rankings=(name,), semantic="bm25")
    (ranking,) = rankings_of(two_codes, training_questions(two_codes), config, lambda: BM25(texts, language="en"))
    distances = ranking.distances(np.array([0, 1, 0]), None)
    assert distances.shape == (3, 7)
    assert (distances[0] == distances[2]).all()
    assert (distances[0] != distances[1]).any()


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ((), "is empty; name at least one of semantic, hierarchical, sequential"),
        (("semantics",), "'semantics' is not known; choose from semantic, hierarchical, sequential"),
        (("sequential", "sequential"), "'sequential' is named twice; name each ranking once"),
    ],
)
def test_names_that_are_refused(two_codes, no_bm25, names, message):
    with pytest.raises(UsageError) as refused:
        rankings_of(two_codes, training_questions(two_codes), NegativesConfig(rankings=names), no_bm25)
    assert str(refused.value) == f"negatives.rankings: {message}"


def test_the_guides_example_works_as_a_fourth(two_codes, no_bm25, monkeypatch):
    section = GUIDE.read_text(encoding="utf-8").partition("\n## A new negative ranking\n")[2].partition("\n## ")[0]
    module, line = re.findall(r"```python\n(.*?)```", section, flags=re.DOTALL)
    names: dict = {}
    exec(compile(module, str(GUIDE), "exec"), names)
    added = eval(f"{{{line}}}", names)
    assert list(added) == ["length"]
    monkeypatch.setattr(rankings, "RANKINGS", RANKINGS | added)
    settings = re.search(r"negatives\.rankings=([\w,]+)", section).group(1).split(",")
    config = NegativesConfig(rankings=("length",), buckets=6, schedule="hardest")
    assert "length" in settings
    assert set(settings) <= set(rankings.RANKINGS)
    source = negative_source("cusines", two_codes, config, bm25=no_bm25)
    source.begin_epoch(1, 1, None)
    # "lamp lamp lamp" (14 characters) answers q0 and "well well lamp" is as long; "well" and "dog" answer q1, "lamp"
    # has the four characters of "well", as no other wrong answer has but "dog", which is as long as the other.
    drawn = source.draw(np.array([0] * 20 + [1] * 20), 1, np.random.default_rng(0)).ravel()
    assert set(drawn[:20].tolist()) == {4}
    assert set(drawn[20:].tolist()) <= {0, 2}
