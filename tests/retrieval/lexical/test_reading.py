"""How questions are corrected, and how BM25 counts their synonyms."""

import pytest

from statgraph.errors import RunError
from statgraph.law.synonyms import parse_synonyms
from statgraph.retrieval.lexical.bm25 import BM25
from statgraph.retrieval.lexical.reading import AddedTerm, QuestionReader
from statgraph.retrieval.lexical.spelling import Spelling

TEXTS = ["The deposit is paid back.", "Rents rise once a year.", "A security deposit for keys.", "Rent of a garage."]


def law(synonyms="", texts=TEXTS):
    bm25 = BM25(texts, language="en", stop_words=False)
    lines, problems = parse_synonyms(synonyms, "synonyms.txt")
    assert problems == []
    terms = {"deposits": "deposit", "rents": "rent"}
    spelling = Spelling(
        bm25.words, lambda word: bm25.frequency(terms.get(word, word)), {"boss"}.__contains__, ignored={"the"}
    )
    bm25.reader = QuestionReader("en", stop_words=False, known=bm25.vocabulary, spelling=spelling, synonyms=lines)
    return bm25


def test_a_question_is_read_with_its_typing_errors_corrected():
    bm25 = law()
    assert bm25.corrected("Is the depsoit mine?") == "Is the deposit mine?"
    assert bm25.reader.corrected_words("Is the depsoit mine?") == {"depsoit": "deposit"}
    assert bm25.corrected("Is the deposit mine?") == "Is the deposit mine?"
    assert bm25.scores("depsoit keys").tolist() == bm25.scores("deposit keys").tolist()
    assert bm25.scores("rnets").tolist() == bm25.scores("rents").tolist()


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        ("Depsoit? depsoit!", "Deposit? deposit!"),
        ("RNETS AND KEYS", "RENTS AND KEYS"),
        ("my depsoit and their depsoits", "my deposit and their deposit"),  # each word, not each stem
        ("a dep\u00adsoit", "a deposit"),
        ("depsoitory", "depsoitory"),
    ],
)
def test_a_corrected_word_keeps_its_capitals_and_its_place(typed, read):
    assert law().corrected(typed) == read


def test_the_weights_of_terms_still_add_up_and_stay_within_reach():
    bm25 = law("bond, deposit")
    for question in ("depsoit keys", "bond for rents", "bond xylophone"):
        scores = bm25.scores(question)
        for score, parts in zip(scores, bm25.term_weights(question, range(4)), strict=True):
            assert sum(part.weight for part in parts) == pytest.approx(score)
        assert scores.max() < bm25.reachable(question)
    assert [part.term for part in bm25.term_weights("depsoit keys", [2])[0]] == ["key", "deposit"]
    assert bm25.reachable("depsoit") == bm25.reachable("deposit")


def test_a_word_of_everyday_language_and_an_abbreviation_are_no_typing_errors():
    assert law(texts=["A loss of rent."]).reader.corrected_words("boss RENTX retn") == {"retn": "rent"}
    assert law(texts=["A loss of rent."]).reader.corrected_words("RENTX DUE") == {"rentx": "rent"}  # all is in capitals


@pytest.mark.parametrize(
    ("language", "question", "corrected"),
    [
        ("en", "I let to Retn. Retn left.", {}),
        ("en", "I let it. Retn is due.", {"retn": "rent"}),
        ("en", "Retn is due.", {"retn": "rent"}),
        ("de", "Ist die Retn weg?", {"retn": "rent"}),  # every noun has a capital
    ],
)
def test_a_capital_within_a_sentence_is_a_names(language, question, corrected):
    bm25 = law(texts=["A loss of rent."])
    reader = QuestionReader(language, stop_words=False, known=bm25.vocabulary, spelling=bm25.reader._spelling)
    assert reader.corrected_words(question) == corrected


def test_without_a_reader_nothing_is_corrected():
    assert BM25(["Garages"], language="en").scores("gargaes").tolist() == [0]


@pytest.mark.parametrize(
    ("synonyms", "question", "added"),
    [
        ("bond, deposit", "my bond", [("deposit", 0.5, "bond")]),
        ("bond, deposit", "my deposit", [("bond", 0.5, None)]),
        ("bond => deposit", "my deposit", []),
        ("bond => deposit, rents", "bonds", [("deposit", 0.5, "bond"), ("rent", 0.5, "bond")]),
        ("security deposit, bond", "a bond", [("secur", 0.25, "bond"), ("deposit", 0.25, "bond")]),
        ("security deposit, bond", "Security deposits?", [("bond", 0.5, None)]),
        ("security deposit, bond", "deposit security", []),
        ("security deposit, bond", "bond deposit", [("secur", 0.25, "bond")]),  # what is typed counts as typed
        ("deposit => bond", "depsoit", [("bond", 0.5, None)]),
        ("depsoit => keys", "depsoit", [("key", 0.5, "depsoit")]),  # the user's word is no typing error
    ],
)
def test_synonyms_count_half(synonyms, question, added):
    bm25 = law(synonyms)
    terms = bm25.reader.added(bm25.corrected(question))
    assert [(part.term, part.weight, part.replaces) for part in terms] == added


def test_what_is_added_names_the_word_that_it_stands_for():
    (added,) = law("bond, deposits").reader.added("bond")
    assert added == AddedTerm("deposit", "deposits", 0.5, "bond")


def test_an_index_keeps_its_words(tmp_path):
    law().write(tmp_path)
    read = BM25.read(tmp_path, language="en")
    (tmp_path / "words.txt").unlink()  # as where an update has replaced the folder since
    assert set(read.words()) == set(law().words()) >= {"rents", "rent", "keys"}
    with pytest.raises(RunError, match=r"words\.txt"):
        BM25.read(tmp_path, language="en")
