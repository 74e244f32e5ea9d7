import pytest

from statgraph.errors import RunError
from statgraph.retrieval.lexical.analysis import analyser
from statgraph.retrieval.lexical.bm25 import BM25
from statgraph.retrieval.lexical.compounds import Compounds

LAW = ("Frist zur Kündigung eines Vertrags", "Miete und Nachbar", "Recht auf ein Grundstück", "unter dem Halt")


@pytest.mark.parametrize(
    ("word", "expected", "language", "texts"),
    [
        ("kündigungsfrist", ("kundig", "frist"), "de", LAW),
        ("vertragsrecht", ("vertrag", "recht"), "de", LAW),
        ("mietvertrag", ("miet", "vertrag"), "de", LAW),
        ("nachbargrundstück", ("nachbar", "grundstuck"), "de", LAW),
        ("mietvertragskündigungsfrist", ("miet", "vertrag", "kundig", "frist"), "de", LAW),
        ("frist", (), "de", LAW),  # no compound
        ("fristverlängerung", (), "de", LAW),  # a part that the law does not have
        ("unterhalt", (), "de", LAW),  # of a stop word
        ("recht2frist", (), "de", LAW),
        # As few parts as possible, the last as long as possible.
        ("kaufvertragsrecht", ("kaufvertrag", "recht"), "de", ("Kauf", "Vertrag", "Recht", "Kaufvertrag")),
        ("kaufvertragsrecht", ("kauf", "vertragsrecht"), "de", ("Kauf", "Vertrag", "Recht", "Vertragsrecht")),
        # Only some languages write compounds as one word.
        ("huurovereenkomst", ("huur", "overeenkomst"), "nl", ("huur", "overeenkomst")),
        ("lamplight", (), "en", ("lamp", "light")),
        ("lamplight", (), "xx", ("lamp", "light")),
    ],
)
def test_a_compound_has_the_laws_words_as_parts(word, expected, language, texts):
    terms = {term for text in texts for term in analyser(language)(text)}
    assert Compounds(language, terms).parts(word) == expected


def test_questions_find_parts_and_compounds(tmp_path):
    texts = ["Die Kündigungsfrist", "Kündigung und Frist", "Der Vertrag"]
    plain, index = (BM25(texts, language="de", compounds=compounds) for compounds in (False, True))
    assert (plain.scores("Frist") > 0).tolist() == [False, True, False]
    assert (index.scores("Frist") > 0).tolist() == [True, True, False]
    assert (plain.scores("Kündigungsfrist") > 0).tolist() == [True, False, False]
    scores = index.scores("Kündigungsfrist")
    assert (scores > 0).tolist() == [True, True, False]
    assert scores[0] > scores[1]
    weights = index.term_weights("Kündigungsfrist", [0, 1])
    assert [sum(part.weight for part in of_text) for of_text in weights] == pytest.approx(scores[:2].tolist())
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
