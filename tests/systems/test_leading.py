from types import SimpleNamespace

import numpy as np
import pytest

from statgraph import artifacts
from statgraph.errors import RunError
from statgraph.retrieval.ranking.features import Features
from statgraph.retrieval.ranking.fixed import FixedRanker
from statgraph.systems.leading import leading_signal, read_leads

NAMES = (("words", "score"), ("words", "scaled"), ("votes", "score"), ("votes", "scaled"))


def question(words, votes):
    scores = np.array([words, words, votes, votes], dtype=np.float32).T
    surroundings = tuple(("sum", aspect) for aspect in ("best under the heading", "citing", "cited"))
    values = np.hstack([scores, np.zeros((len(scores), 3), dtype=np.float32)])
    return Features(np.arange(len(scores)), NAMES + surroundings, values)


def ensemble(**weights):
    return SimpleNamespace(
        fixed=FixedRanker(weights), signals=[SimpleNamespace(name="words"), SimpleNamespace(name="votes")]
    )


def first_is_zero(rankings):
    return np.array([float(rows[0] == 0) for rows in rankings])


RIGHT, WRONG = [1.0, 0.5], [0.5, 1.0]


def test_a_signal_leads_that_is_better_alone_than_the_sum():
    # Votes find article 0 three times of four, words never: with more weight they win each time.
    candidates = [question(WRONG, RIGHT)] * 3 + [question(WRONG, WRONG)]
    name, alone, together = leading_signal(ensemble(words=2.0, votes=1.0), candidates, first_is_zero)
    assert (name, alone, together) == ("votes", 0.75, 0.0)
    assert leading_signal(ensemble(words=1.0, votes=2.0), candidates, first_is_zero) is None


def test_a_difference_within_its_standard_error_is_none():
    # One question of four more: 0.25 on average, with a standard error of 0.43 / 2; of two questions 0.5 and 0.35.
    weights = {"words": 2.0, "votes": 1.0}
    one_of = [question(WRONG, RIGHT), *[question(RIGHT, RIGHT)] * 3]
    assert leading_signal(ensemble(**weights), one_of, first_is_zero)[1:] == (1.0, 0.75)
    mixed = [question(WRONG, RIGHT), question(WRONG, RIGHT), question(RIGHT, WRONG), question(RIGHT, RIGHT)]
    assert leading_signal(ensemble(**weights), mixed, first_is_zero) is None  # 0.25 +- 0.41


def test_leads_are_kept_in_the_rankers_file(tmp_path):
    run = SimpleNamespace(ranker=tmp_path / "ranker.json")
    assert read_leads(run) == {}
    artifacts.write_json(run.ranker, {"weights": {}, "leads": {"votes": 4.0}})
    assert read_leads(run) == {"votes": 4.0}


@pytest.mark.parametrize("leads", [{"votes": "much"}, 3, ["votes"]])
def test_damaged_leads_are_refused(tmp_path, leads):
    run = SimpleNamespace(ranker=tmp_path / "ranker.json")
    artifacts.write_json(run.ranker, {"weights": {}, "leads": leads})
    with pytest.raises(RunError, match="train the run again"):
        read_leads(run)
