import pytest

from statgraph import corpus_from_dicts
from statgraph.law.normal_text import normal_heading, normal_places, normal_text


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("Art. 3\u00ad0", "Art. 30"),
        ("bo\u200bat, wo\u2060rd, \ufeffLaw, \u200e12\u200f", "boat, word, Law, 12"),
        ("٢٧ ۲۷ ๒๗ ໒໗ २७ ২৭ ௨௭ ២៧ ၂၇ １２", "27 27 27 27 27 27 27 27 27 12"),
        ("l´eau, обʼєкт, oʻzbek, обˈєкт", "l'eau, об'єкт, o'zbek, об'єкт"),
        ("de\u0301po\u0302t", "dépôt"),
        ("22¹, 5º, the lessor’s § 3", "22¹, 5º, the lessor’s § 3"),
    ],
)
def test_a_text_is_spelt_in_one_way(text, normal):
    assert normal_text(text) == normal


def test_characters_keep_their_places():
    text = "a\u00ad\u200bb٣c\u2060"
    assert [text[place] for place in normal_places(text)] == ["a", "b", "٣", "c"]
    assert len(normal_places(text)) == len(normal_text(text))


def test_a_code_in_five_spellings_is_one():
    spellings = ("Código Civil", "Co\u0301digo Civil", "Código\u00a0Civil", "Código  Civil", "Código\u202fCivil ")
    assert {normal_heading(title) for title in spellings} == {"Código Civil"}
    rows = [{"id": str(row), "text": "x", "path": [title]} for row, title in enumerate(spellings)]
    law = corpus_from_dicts(rows, language="es", name="codes")
    assert {article.path for article in law.articles} == {("Código Civil",)}
    assert [article.order for article in law.articles] == [1, 2, 3, 4, 5]
