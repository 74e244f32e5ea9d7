"""References in the text of articles: French, English and Dutch ways of writing them, and what is no reference."""

import pytest

from statgraph.graph.references import ReferenceFinder

TITLES = [
    *("Art. L1 A, Code du travail", "Art. L12-3, Code du travail", "Art. L12-4, Code du travail"),
    *("Art. L12-5, Code du travail", "Art. R*12-3, Code du travail"),
    *("Art. 5, Code rural", "Art. 6, Code rural", "Art. L12-3, Code rural", "Annexe, Code rural"),
]
LABOUR, RURAL = "Code du travail", "Code rural"


@pytest.fixture
def finder():
    return ReferenceFinder(TITLES, [title.partition(", ")[2] for title in TITLES])


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("prévu à l'article L. 12-3.", [1]),
        ("prévu à l'article L12-3.", [1]),
        ("l'article L. 1 A et l'article R. * 12-3", [0, 4]),
        ("les articles L. 12-3, L. 12-5 et R. 12-3", [1, 3, 4]),
        ("les articles L. 12-3 à L. 12-5", [1, 2, 3]),
        ("les articles L. 12-4 et 12-5", [2, 3]),
        ("l'article L. 12-3 du présent code", [1]),
        ("l'article L. 12-3 du code rural", [7]),
        ("l'article 5 du Code rural et l'article L. 12-4", [5, 2]),
        ("l'article L. 12-3 du code de commerce", []),
        ("l'article L. 9 du code de commerce et l'article L. 12-3 du même code", []),
        ("l'article 5 du code rural, puis l'article L. 12-3 du même code", [5, 7]),
        ("l'article L. 12-3 de la loi n° 83-634", []),
        ("l'article L. 12-3 du décret du 3 mai", []),
        ("l'article L. 12-3 du contrat", [1]),
        ("l'article L. 12", []),
        ("l'article L. 12-33", []),
        ("au 1° de l'article L. 12-3 et au 2° de l'article L. 12-3", [1]),
        ("la section 5 du chapitre", []),
        ("L. 12-3", []),
        ("", []),
    ],
)
def test_french(finder, text, rows):
    assert finder.find(text, LABOUR) == rows


def test_a_number_without_letters_is_of_its_own_code(finder):
    assert finder.find("l'article 5 et l'article 6", RURAL) == [5, 6]
    assert finder.find("l'article 5", LABOUR) == []


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("under Article 3.", [0]),
        ("under Articles 3, 4 and 5", [0, 1, 2]),
        ("under Articles 3 to 5(2)", [0, 1, 2]),
        ("Article 3 of this Code", [0]),
        ("Article 3 of the Work Code", [3]),
        ("Article 3 of the Tax Code", []),
        ("Article 3 of the Act on Leases", []),
        ("Article 3 of the lease", [0]),
        ("particle 3", []),
    ],
)
def test_english(text, rows):
    titles = ["Art. 3, Housing Code", "Art. 4, Housing Code", "Art. 5, Housing Code", "Art. 3, Work Code"]
    finder = ReferenceFinder(titles, ["Housing Code"] * 3 + ["Work Code"])
    assert finder.find(text, "Housing Code") == rows


def test_sections_are_articles_where_articles_are_called_so():
    finder = ReferenceFinder(["Section 12 Deposits", "§ 13 Keys"], ["Act", "Act"])
    assert finder.find("see section 12 and § 13", "Act") == [0, 1]


def test_dutch():
    finder = ReferenceFinder(["Artikel 1:10 BW", "Artikel 7", "Artikel 8"], ["BW"] * 3)
    assert finder.find("de artikelen 7 en 8", "BW") == [1, 2]


def test_a_long_range_is_taken_by_its_ends():
    titles = [f"Art. {number}" for number in range(1, 101)]
    finder = ReferenceFinder(titles, ["C"] * 100)
    assert finder.find("articles 1 to 51", "C") == list(range(51))
    assert finder.find("articles 1 to 52", "C") == [0, 51]
    assert finder.find("articles 9 to 2", "C") == [8, 1]
