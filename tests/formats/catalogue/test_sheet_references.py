import pytest

from statgraph.formats.catalogue.legi import LegiIndex
from statgraph.formats.catalogue.sheet_references import cited_articles, cited_numbers, comparable_title

CODE = "Code du vélo"
SECTION = "LEGISCTA000000000001"
EARLIER_VERSION = "LEGIARTI000000000099"


@pytest.fixture
def resolved(codes):
    """Return a function that names the articles that a reference cites, as one string."""

    def resolve(words, link=""):
        ids = cited_articles(codes, words, link)
        return " ".join(article_id.removeprefix("V ") for article_id in ids)

    return resolve


@pytest.mark.parametrize(
    ("words", "spans"),
    [
        ("article L1234-1", [("L1234-1", "L1234-1")]),
        ("articles L1234-1 à L1234-5", [("L1234-1", "L1234-5")]),
        ("articles R4222-4 à 4222-9", [("R4222-4", "R4222-9")]),
        ("articles L1, L2 et L3", [("L1", "L1"), ("L2", "L2"), ("L3", "L3")]),
        ("articles L1 à L3 et R. 4", [("L1", "L3"), ("R4", "R4")]),
        ("articles R. *123-4 ou R**5", [("R123-4", "R123-4"), ("R5", "R5")]),
        ("article L 5121-1 et suivants", [("L5121-1", "L5121-1")]),
        ("article L161-22-1 A", [("L161-22-1A", "L161-22-1A")]),
        ("article LO111-3 (alinéa 2)", [("LO111-3", "LO111-3")]),
        ("articles 371 à 371-6", [("371", "371-6")]),
        ("les tableaux des maladies", []),
    ],
)
def test_cited_numbers(words, spans):
    assert cited_numbers(words) == spans


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("Code du vélo : article L1-2", "L1-2"),
        ("CODE DU VELO\xa0: article L. 1-2", "L1-2"),
        ("Code du vélo : articles L1-1 à L1-4", "L1-1 L1-1-1 L1-2 L1-4"),
        ("Code du vélo : articles L1-1 et L1-4", "L1-1 L1-4"),
        # One end is gone: L1-3 is not in the code, the range reaches its last article before it.
        ("Code du vélo : articles L1-1-1 à L1-3", "L1-1-1 L1-2"),
        # Both ends are gone, one article between them is left.
        ("Code du vélo : articles L1-3 à L1-9", "L1-4"),
        # L2-1 A stands before L2-1.
        ("Code du vélo : articles L2-1 A à L2-9", "L2-1A L2-1"),
        # Between two R stands a D; where the range names R alone it still comes with it.
        ("Code du vélo : articles R1-1 à R1-9", "R1-1 D1-2 R1-3"),
        # A D range does not reach for the R articles around it.
        ("Code du vélo : articles D1-1 à D1-9", "D1-2"),
    ],
)
def test_words_that_name_articles_in_force_decide(resolved, words, found):
    assert resolved(words, SECTION) == found


@pytest.mark.parametrize(
    ("words", "link", "found"),
    [
        ("Code du vélo : articles L8-1 à L7-9", f"https://law.example/codes/id/{SECTION}/", "L2-1A L2-1"),
        ("Code du vélo : article L9-9", f"https://law.example/?idArticle={EARLIER_VERSION}&x=1", "L1-4"),
        ("Code vélo : article L1-1", f"https://law.example/codes/article_lc/{EARLIER_VERSION}", "L1-4"),
        ("Code du vélo : annexe à l'article R1-3", f"https://law.example/{EARLIER_VERSION}", "L1-4"),
        ("Code du vélo : L9-9", f"https://law.example/?a={EARLIER_VERSION}&s={SECTION}&t={SECTION}", "L1-4 L2-1A L2-1"),
    ],
)
def test_the_link_decides_where_the_words_do_not(resolved, words, link, found):
    assert resolved(words, link) == found


@pytest.mark.parametrize(
    "words",
    [
        "Code civil : article 12",
        "Décret n°2015-860 du 15 juillet 2015 relatif aux selles : article L1-1",
        "Code du vélo : article L9-9",
        "Code du vélo : articles L8-1 à L7-9",
        "Code du vélo : les tableaux",
    ],
)
def test_references_without_articles(resolved, words):
    assert resolved(words, "https://law.example/codes/id/LEGISCTA000000000404") == ""


def test_a_range_beyond_fifty_articles_gives_way_to_a_narrower_link():
    ids = [f"LEGIARTI{number:012}" for number in range(1, 61)]
    index = LegiIndex(
        order={CODE: ids},
        numbers={CODE: {f"L1-{row}": article_id for row, article_id in enumerate(ids, start=1)}},
        sections={SECTION: ids[:3]},
    )
    assert cited_articles(index, "Code du vélo : articles L1-1 à L1-51", SECTION) == ids[:3]
    assert cited_articles(index, "Code du vélo : articles L1-1 à L1-50", SECTION) == ids[:50]
    assert cited_articles(index, "Code du vélo : articles L1-1 à L1-51", "") == ids[:51]


def test_titles_compare_without_case_accents_punctuation_and_spaces():
    assert comparable_title("  Un « Élève-cycliste »\xa0: quel cœur ?") == "un eleve cycliste quel coeur"
