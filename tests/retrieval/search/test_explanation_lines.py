from dataclasses import replace

from statgraph.retrieval.lexical.bm25 import TermWeight
from statgraph.retrieval.search.explanation_lines import explanation_lines, ordinal
from statgraph.retrieval.search.hits import Contribution, Explanation, Neighbour

HEADING = Neighbour("heading", "Code > Book", "Book", ("Code", "Book"), "contains_article", 0.5, 0.25, 0.75)
ITSELF = Neighbour("article", "D1", "Art. 1", (), "itself", 0.3, 0.25, 0.5)
QUESTION = Neighbour("question", "q1", "Who  keeps\nit?" + " really" * 20, (), "cites", 0.2, 0.0, 1.0)
WHY = Explanation(
    "D1", 0.75, 0.5, 0.625, (HEADING, ITSELF, QUESTION), (TermWeight("deposit", 2.0), TermWeight("keep", 0.5)), 2.5
)


def test_all_there_is_to_say():
    assert explanation_lines(WHY) == [
        "score 0.750: 0.500 by its own text, +0.250 by the graph (0.625 without the training questions that cite it)",
        "attention of the last layer (mean over heads, minimum to maximum):",
        "   50.0% (25.0% to 75.0%)  heading: Book",
        "   30.0% (25.0% to 50.0%)  itself",
        f"   20.0% (0.0% to 100.0%)  question: Who keeps it?{' really' * 10} rea...",
        "BM25: deposit 2.00 + keep 0.50 = 2.50",
    ]


def test_many_neighbours_are_summed_up():
    others = tuple(replace(QUESTION, weight=0.04) for _ in range(5))
    lines = explanation_lines(replace(WHY, neighbours=(HEADING, ITSELF, *others)))
    assert (len(lines), lines[-2]) == (10, "    4.0% 1 other")
    lines = explanation_lines(replace(WHY, neighbours=(HEADING, ITSELF, *others, *others)))
    assert lines[-2] == "   24.0% 6 others"


def test_an_article_is_told_by_its_relation_and_a_citing_text_by_its_kind():
    relations = ("refers_to", "referred_to_by", "precedes", "follows")
    near = (*(replace(ITSELF, relation=name) for name in relations), replace(QUESTION, kind="citing", title="Guide"))
    lines = explanation_lines(replace(WHY, neighbours=near))
    assert [line.split("  ")[-1] for line in lines[2:7]] == [
        "article that cites it: Art. 1", "article that it cites: Art. 1",
        "article before it: Art. 1", "article after it: Art. 1", "citing text: Guide",
    ]  # fmt: skip


def test_the_score_of_a_run_without_a_graph():
    note = "the run was trained without a graph"
    why = replace(WHY, score=0.5, without_questions_score=None, neighbours=(), note=note)
    assert explanation_lines(why) == [
        "score 0.500: by its own text",
        "BM25: deposit 2.00 + keep 0.50 = 2.50",
        "note: the run was trained without a graph",
    ]


def test_what_an_ensembles_score_is_made_of():
    parts = (
        Contribution("zero-shot@e5", 1.0, 1),
        Contribution("bm25", 0.5, 12),
        Contribution("reader", 0.4, 6),
        Contribution("section", 0.3, 2, "D2", "Art. 2"),
        Contribution("cited_by", 0.1, None, "D9", "Art. 9"),
        Contribution("cites", -0.0625, 3, "D1", "Art. 1"),
        Contribution("headings", 0.05),
        Contribution("wording", 0.04),
        Contribution("votes", 0.02, 3),
    )
    why = Explanation("D1", 2.3475, None, None, (), (), None, contributions=parts)
    labels = {"zero-shot@e5": "its meaning, by zero-shot@e5", "bm25": "its words"}
    assert explanation_lines(why, labels) == [
        "score 2.348, the sum of:",
        "   +1.000  its meaning, by zero-shot@e5 (1st)",
        "   +0.500  its words (12th)",
        "   +0.400  the reader, question and article read together (6th)",
        "   +0.300  under the same heading as Art. 2, which ranks 2nd",
        "   +0.100  cited by Art. 9",
        "   -0.062  articles that it cites",
        "   +0.110  3 others",
    ]


def test_ordinals():
    assert [ordinal(n) for n in (1, 2, 3, 4, 11, 13, 22, 101, 112)] == [
        *("1st", "2nd", "3rd", "4th", "11th", "13th", "22nd", "101st", "112th"),
    ]
