from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from statgraph import artifacts
from statgraph.errors import RunError
from statgraph.formats.importing import corpus_from_dicts
from statgraph.law.records import CitingText, Question
from statgraph.retrieval.ranking.features import Features
from statgraph.retrieval.ranking.fixed import FixedRanker
from statgraph.systems import learning
from statgraph.systems.learning import leading_signal, questions_to_learn_from, read_leads


def test_near_duplicates_and_the_questions_of_one_document_are_in_one_group():
    labels = {"q1": "ab", "q2": "cd", "q3": "abc", "q4": "e", "q5": "fg", "q6": "hi", "q7": "jk"}
    questions = [Question(name, name, "train", tuple(own)) for name, own in labels.items()]
    questions += [Question("s2", "s2", "train", ("d",), {"set": "references"})]  # a section of the document of q2
    articles = [{"id": letter, "text": letter, "path": ["Code"]} for letter in "abcdefghijk"]
    corpus = replace(
        corpus_from_dicts(articles, language="en"),
        questions=tuple(questions),
        citing=(CitingText("s2", "q2", "s2", ("d",), "q2"),),
    )
    learnt, groups = questions_to_learn_from(corpus, "train")
    assert [question.question_id for question in learnt] == ["q1", "q2", "q3", "q4", "q5", "q6", "q7", "s2"]
    assert groups == [0, 1, 2, 3, 4, 5, 6, 1]  # of eight questions no group is more than a fifth, but a document's
    more = [Question(f"r{place}", "r", "train", (letter,)) for place, letter in enumerate("fghij")]
    learnt, groups = questions_to_learn_from(replace(corpus, questions=(*questions, *more)), "train")
    assert groups[:7] == [0, 1, 0, 2, 3, 4, 5]  # q1 and q3 share two of three labels
    assert len(set(groups)) == 11
    asked = [Question(name, name, "dev", tuple(own)) for name, own in {"d1": "abc", "d2": "e"}.items()]
    learnt, groups = questions_to_learn_from(replace(corpus, questions=(*questions, *more, *asked)), "train")
    assert groups == [*range(12), 1]  # dev asks again what training asked: so may a fold


def test_trees_that_lose_first_hits_in_any_set_are_found_out():
    corpus = corpus_from_dicts([{"id": letter, "text": letter, "path": ["Code"]} for letter in "abcdef"], language="en")
    sets = ("questions", "questions", "references")
    asked = [Question(str(place), "q", "dev", ("a",), {"set": name}) for place, name in enumerate(sets)]
    first, fourth = np.arange(6.0)[::-1], np.array([2.5, 5, 4, 3, 1, 0])  # places of the answer, row 0
    candidates = [SimpleNamespace(rows=np.arange(6), fixed=scores) for scores in (fourth, fourth, first)]
    by_weights = SimpleNamespace(fixed=SimpleNamespace(scores=lambda features: features.fixed))

    def loses(*scores):
        return learning._loses_first_hits(corpus, by_weights, asked, candidates, scores)

    assert not loses(fourth, fourth, first)
    assert not loses(first, fourth, first)
    assert loses(first, first, fourth)  # more in all, fewer of the references


def test_first_hits_are_counted_over_every_dev_question(town_corpus, monkeypatch):
    more = tuple(Question(f"r{place}", "q", "dev", ("a",), {"set": "references"}) for place in range(9))
    corpus = replace(town_corpus, questions=(*town_corpus.questions, *more))
    monkeypatch.setattr(learning, "candidates_of", lambda whole, asked: [question.question_id for question in asked])
    main = [question.question_id for question in corpus.split("dev")]
    ranker = SimpleNamespace(scores=lambda candidates: candidates)
    questions, candidates, scores = learning._dev_questions(None, corpus, main, ranker)
    assert [question.question_id for question in questions] == candidates == scores
    assert candidates == main + [f"r{place}" for place in range(9)]


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
