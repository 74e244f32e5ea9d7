import pytest

from statgraph.errors import RunError
from statgraph.retrieval.lexical.analysis import analyser
from statgraph.retrieval.lexical.bm25 import BM25
from statgraph.retrieval.lexical.compounds import Compounds

LAW = ("Frist zur Kündigung eines Vertrags", "Miete und Nachbar", "Recht auf ein Grundstück", "unter dem Halt")


def parts(word, language="de", texts=LAW):
    return Compounds(language, {term for text in texts for term in analyser(language)(text)}).parts(word)


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("kündigungsfrist", ("kundig", "frist")),
        ("vertragsrecht", ("vertrag", "recht")),
        ("mietvertrag", ("miet", "vertrag")),
        ("nachbargrundstück", ("nachbar", "grundstuck")),
        ("mietvertragskündigungsfrist", ("miet", "vertrag", "kundig", "frist")),
        ("frist", ()),  # no compound
        ("fristverlängerung", ()),  # a part that the law does not have
        ("unterhalt", ()),  # of a stop word
        ("recht2frist", ()),
    ],
)
def test_a_compound_has_the_laws_words_as_parts(word, expected):
    assert parts(word) == expected


def test_the_fewest_and_longest_parts_are_taken():
    assert parts("kaufvertragsrecht", texts=("Kauf", "Vertrag", "Recht", "Kaufvertrag")) == ("kaufvertrag", "recht")
    assert parts("kaufvertragsrecht", texts=("Kauf", "Vertrag", "Recht", "Vertragsrecht")) == ("kauf", "vertragsrecht")


def test_only_languages_that_write_compounds_as_one_word_have_them():
    assert parts("huurovereenkomst", "nl", ("huur", "overeenkomst")) == ("huur", "overeenkomst")
    assert parts("lamplight", "en", ("lamp", "light")) == ()
    assert parts("lamplight", "xx", ("lamp", "light")) == ()


def test_questions_find_parts_and_compounds(tmp_path):
    texts = ["Die Kündigungsfrist", "Kündigung und Frist", "Der Vertrag"]
    plain, index = (BM25(texts, language="de", compounds=compounds) for compounds in (False, True))
    assert (plain.scores("Frist") > 0).tolist() == [False, True, False]
    assert (index.scores("Frist") > 0).tolist() == [True, True, False]
    assert (plain.scores("Kündigungsfrist") > 0).tolist() == [True, False, False]
    found = index.scores("Kündigungsfrist")
    assert (found > 0).tolist() == [True, True, False]
    assert found[0] > found[1]
    weights = index.term_weights("Kündigungsfrist", [0, 1])
    assert [sum(part.weight for part in of_text) for of_text in weights] == pytest.approx(found[:2].tolist())
    assert {part.term for part in weights[1]} == {"kündigungs", "frist"}  # as they are spelt
    # A compound that the law does not have is known by its parts.
    assert index.coverage("Vertragsfrist") == 1
    assert plain.coverage("Vertragsfrist") == 0
    assert index.reachable("Vertragsfrist") == pytest.approx(index.reachable("Vertrag Frist"))
    index.write(tmp_path)
    again = BM25.read(tmp_path, language="de", compounds=True)
    assert again.scores("Vertragsfrist").tolist() == index.scores("Vertragsfrist").tolist()
    with pytest.raises(RunError, match="compounds"):
        BM25.read(tmp_path, language="de")
