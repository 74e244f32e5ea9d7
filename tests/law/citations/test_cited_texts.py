"""Articles that amend a law speak as that law does, in every language; other references stay with their own code."""

import pytest

from statgraph.law.citations.references import ReferenceFinder

CAT, DOG = "Cat Act 1901", "Dog Act 1906"


@pytest.fixture(scope="module")
def finder():
    return ReferenceFinder([f"Art. {number}" for number in range(1, 10)] * 2, [CAT] * 9 + [DOG] * 9)


@pytest.mark.parametrize(
    "text",
    [
        "The Bird Act 1999 is amended as follows.\n(2) In article 5, omit “article 6”.\n(3) After article 7—",
        "In the Bird Act 1999, in article 5, for “two” substitute “article 6”.",
        "Article 5 of the Bird Act 1999 shall be replaced by the following: ‘Article 5 Under Article 6 of this Act.’",
        "The following amendments are made to the Bird Act 1999: in article 5,",
        "La loi modifiée du 14 mars 1973 portant création est modifiée comme suit:\n1. L’article 4 est abrogé.",
        "1° L'article 5 de la loi du 14 mars 1973 est ainsi rédigé : « Art. 5. - L'article 6 de la présente loi »",
        "Das Vogelgesetz vom 3. Mai 2001 wird wie folgt geändert:\n1. Artikel 4 wird gestrichen.\n2. In Artikel 6",
        "Alla legge 3 maggio 2001, n. 5, sono apportate le seguenti modificazioni: a) all'articolo 4, la parola",
        "A Lei nº 9.503, de 1997 (Código das Aves), passa a vigorar:\nArt. 5º O art. 6º desta Lei.",
        "La Ley 5/2001, de 3 de mayo, queda modificada como sigue:\nUno. El artículo 4 queda sin contenido.",
        "Introdúcense las siguientes modificaciones en la ley N° 5:\n1. En el artículo 4º, elimínase",
        "De Vogelwet wordt als volgt gewijzigd:\nA. In artikel 4 vervalt het tweede lid.",
        "W ustawie z dnia 3 maja 2001 r. o ptakach w art. 4 w ust. 1 kropkę zastępuje się średnikiem w art. 5",
    ],
)
def test_what_amends_a_law_that_is_not_there_names_none_of_its_own_articles(finder, text):
    assert finder.find(text, CAT) == []


def test_what_amends_a_law_of_the_corpus_names_the_articles_of_that(finder):
    assert finder.find("The Dog Act 1906 is amended as follows.\n(2) In article 5, omit “article 6”.", CAT) == [13, 14]


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("The Bird Act 1999 (as amended by article 2) is amended by adding “article 3”.", [1]),
        ("The Bird Act 1999 is amended in accordance with article 2.", [1]),
        ("The Cat Act 1901 is amended as follows. In article 2, omit", [1]),
        ("Article 2 is amended as follows: see “article 3 of the Bird Act 1999”, article 4.", [1, 3]),
        ("Where the Bird Act 1999 applies, article 2 is amended as follows: article 3", [1, 2]),
        ("I. – La loi du 3 mai est ainsi modifiée : à l'article 2.\nII. – L'article 3 s'applique.", [2]),
        ("La référence à l'article 2 de la loi du 3 mai est remplacée par la référence à l'article 3", [2]),
    ],
)
def test_own_articles_stay_own(finder, text, rows):
    assert finder.find(text, CAT) == rows
