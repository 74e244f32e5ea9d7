from dataclasses import replace

import numpy as np

from statgraph.formats.importing import corpus_from_dicts
from statgraph.law.records import Question
from statgraph.law.structure import Structure
from statgraph.retrieval.ranking.candidates import Candidates
from statgraph.retrieval.ranking.weighted_sum import AROUND, WeightedSum
from statgraph.systems.learning import learn_weights, questions_of_all_sets

LAW = corpus_from_dicts([{"id": letter, "text": letter, "path": ["Code"]} for letter in "abcdef"], language="en")


def asked(n, question_set="", text="Who pays for lamps?", split="dev"):
    metadata = {"set": question_set} if question_set else {}
    return [Question(f"{text}{question_set}{place}", f"{text} {place}", split, ("b",), metadata) for place in range(n)]


def test_other_sets_have_as_many_questions_as_the_main_one_at_most():
    questions = (*asked(4), *asked(9, "references"), *asked(2, "letters"), *asked(5, split="train", text="When?"))
    chosen = questions_of_all_sets(replace(LAW, questions=questions), "dev")
    assert [question.question_set for question in chosen] == ["questions"] * 4 + ["references"] * 3 + ["letters"] * 2
    assert questions_of_all_sets(LAW, "dev") == []


def test_a_question_is_held_out_with_its_topic():
    # Words find what lamps are asked about, votes what is asked about wells.
    lamps, wells = asked(30), asked(30, text="May I drink the water of our wells?")
    corpus = replace(LAW, questions=(*lamps, *wells))
    prior = WeightedSum({"words": 0.5, "votes": 0.5}, dict.fromkeys(AROUND, 0.0))
    scores = np.eye(2, dtype=np.float32)
    structure = Structure.of(LAW.articles)
    by_words, by_votes = (
        Candidates(np.array(rows), ("words", "votes"), scores, scores, scores, structure) for rows in ([1, 2], [2, 1])
    )
    learning = learn_weights(prior, corpus, corpus.split("dev"), [by_words] * 30 + [by_votes] * 30)
    assert len(learning.held_out) == 60
    for place, ranker in enumerate(learning.held_out):
        own, other = ("words", "votes") if place < 30 else ("votes", "words")
        assert ranker.signals[own] < ranker.signals[other]  # fewer of its own kind are left to learn from
    assert learn_weights(prior, LAW, [], []).ranker == prior
