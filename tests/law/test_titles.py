import pytest

from statgraph.law.records import Article
from statgraph.law.titles import full_title, number_or_title, title_parts, with_title_parts

CODE = "Rent Code"


@pytest.mark.parametrize(
    ("titles", "parts"),
    [
        (
            ("§ 1 RntC Scope", "§ 2a RntC Notice; notice of a part", "§ 3 RntC Deposit"),
            [("§ 1", "Scope"), ("§ 2a", "Notice; notice of a part"), ("§ 3", "Deposit")],
        ),
        (
            ("Artículo 1.º. Fianza.", "Artículo 2. Plazo.", "Artículo 2 bis. Renta."),
            [("Artículo 1.º", "Fianza"), ("Artículo 2", "Plazo"), ("Artículo 2 bis", "Renta")],
        ),
        (
            ("Section 12: Repairs", "section 14A (Rent of 2 rooms)", "Section IV Keys, Rent Code"),
            [("Section 12", "Repairs"), ("section 14A", "(Rent of 2 rooms)"), ("Section IV", "Keys")],
        ),
        (
            ("Rent Code, Art. L12-3 Scope", "Rent Code, art R. *4 Keys", "Rent Code, Art. 5 a Walls"),
            [("Art. L12-3", "Scope"), ("art R. *4", "Keys"), ("Art. 5 a", "Walls")],
        ),
        (("1 § Repairs", "2 a § Keys", "3 § Rent"), [("1 §", "Repairs"), ("2 a §", "Keys"), ("3 §", "Rent")]),
        (("12 Repairs", "13 Keys", "14 Rent"), [("12", "Repairs"), ("13", "Keys"), ("14", "Rent")]),
        # Citations alone: by the code, by other words that most share, by a place in the code.
        (
            ("Art. 1, Rent Code", "Art. 2, Rent Code", "Art. 3, Rent Code"),
            [("Art. 1", ""), ("Art. 2", ""), ("Art. 3", "")],
        ),
        (
            ("Art. 1 of the Code of 1988", "Art. 2 of the Code of 1988", "Art. 3 of the Code of 1988"),
            [("Art. 1", ""), ("Art. 2", ""), ("Art. 3", "")],
        ),
        (
            ("Art. 1, part 1", "Art. 2, part 2", "Art. 3, part 3"),
            [("Art. 1", ""), ("Art. 2", ""), ("Art. 3", "")],
        ),
        (
            ("Rent Code 第一条", "Rent Code 第二十条", "Rent Code 第二十条之一"),
            [("第一条", ""), ("第二十条", ""), ("第二十条之一", "")],
        ),
        # Rubrics of some, the same of several.
        (
            ("Art. 1, Rent Code", "Art. 2 Scope", "Art. 3 Provision", "Art. 4 Provision", "Art. 9 bis ZA, Rent Code"),
            [
                ("Art. 1", ""),
                ("Art. 2", "Scope"),
                ("Art. 3", "Provision"),
                ("Art. 4", "Provision"),
                ("Art. 9 bis ZA", ""),
            ],
        ),
        # Too few to be sure of numbers, or of several kinds, or without numbers: all but the code is the rubric.
        (("§ 1 Scope", "§ 2, Rent Code"), [("", "§ 1 Scope"), ("", "")]),
        (
            ("Art. 1 Scope", "Annex 1 Forms", "Preamble", "Annex II, Rent Code", "Rent Code, Notice"),
            [("", "Art. 1 Scope"), ("", "Annex 1 Forms"), ("", "Preamble"), ("", ""), ("", "Notice")],
        ),
        (
            (*(f"Artículo {n}. Disposición" for n in (36, 37, 38)), "Anexo 1. Fianza", "Sobre el derribo"),
            [
                *(("", f"Artículo {n}. Disposición") for n in (36, 37, 38)),
                ("", "Anexo 1. Fianza"),
                ("", "Sobre el derribo"),
            ],
        ),
        (("Scope", "Notice of 3 months", ""), [("", "Scope"), ("", "Notice of 3 months"), ("", "")]),
        ((), []),
    ],
)
def test_the_number_and_the_rubric_of_titles(titles, parts):
    assert title_parts(titles, CODE) == parts


def articles(ids, titles):
    return [Article(article_id, title, "Text.", (CODE,), 1) for article_id, title in zip(ids, titles, strict=True)]


@pytest.mark.parametrize(
    ("ids", "titles", "named"),
    [
        (
            ("Art. 1", "Art. 2", "Art. 3"),
            ("Scope", "The deposit", "Keys"),
            [("Art. 1, Rent Code", "Art. 1", "Scope"), ("Art. 2, Rent Code", "Art. 2", "The deposit"),
             ("Art. 3, Rent Code", "Art. 3", "Keys")],
        ),
        (  # an article without a title has its id there
            tuple(f"Art. {number}" for number in range(1, 11)),
            ("Art. 1", *(f"{word} keys" for word in "abcdefghi")),
            [("Art. 1, Rent Code", "Art. 1", ""),
             *((f"Art. {n}, Rent Code", f"Art. {n}", f"{word} keys") for n, word in enumerate("abcdefghi", start=2))],
        ),
        (  # ids that a database gave are no numbers
            ("RNT1", "RNT2", "RNT3"),
            ("Scope", "The deposit", "Keys"),
            [("Scope", "", "Scope"), ("The deposit", "", "The deposit"), ("Keys", "", "Keys")],
        ),
        # A title with a digit, of the code's name, or of several articles: it stays, and ids are no numbers.
        *(
            (("Art. 1", "Art. 2", "Art. 3"), titles, [(f"{code}{title}", "", title) for title in rubrics])
            for code, rubrics in (
                ("", ("Scope", "Notice of 3 months", "Keys")),
                ("Rent Code, ", ("Scope", "Deposit", "Keys")),
                ("", ("Scope", "Scope", "Keys")),
            )
            for titles in [tuple(f"{code}{title}" for title in rubrics)]
        ),
    ],
)  # fmt: skip
def test_titles_that_are_rubrics_are_told_by_their_words(ids, titles, named):
    made = with_title_parts(articles(ids, titles))
    assert [(article.title, article.number, article.rubric) for article in made] == named


def test_a_title_of_another_kind_stays_whole():
    titles = [*(f"Art. {number} {'Key' * number}" for number in range(1, 19)), "Annex 1 Forms"]
    assert title_parts(titles, CODE)[-2:] == [("Art. 18", "Key" * 18), ("", "Annex 1 Forms")]


def test_given_numbers_and_rubrics_stay_and_the_rest_of_a_title_is_the_rubric():
    given = [
        Article("a", "Art. 12-3 Scope", "Text.", (CODE,), 1, {}, "12-3", ""),
        Article("b", "Art. 5 novies Keys", "Text.", (CODE,), 2, {}, "Art. 5 novies", ""),
        Article("c", "Art. 6 Walls", "Text.", (CODE,), 3, {}, "Art. 6", "Of walls"),
    ]
    parts = [(article.number, article.rubric) for article in with_title_parts(given)]
    assert parts == [("Art. 12-3", "Scope"), ("Art. 5 novies", "Keys"), ("Art. 6", "Of walls")]


@pytest.mark.parametrize(
    ("title", "rubric", "full"),
    [
        ("Art. 1, Rent Code", "Deposit", "Art. 1, Rent Code – Deposit"),
        ("§ 1 RntC Deposit", "deposit", "§ 1 RntC Deposit"),
        ("Art. 1, Rent Code", "", "Art. 1, Rent Code"),
    ],
)
def test_a_rubric_stands_once_behind_the_citation(title, rubric, full):
    assert full_title(Article("a", title, "Text.", ("Rent Code",), 1, {}, "", rubric)) == full


@pytest.mark.parametrize(
    ("number", "found"),
    [
        ("Art. 1", "Art. 1"),
        ("36", "Art. 36"),
        ("L. 12-3", "Art. L. 12-3"),
        ("§ 5", "§ 5"),
        ("4 a §", "4 a §"),
        ("第 190 條", "第 190 條"),
        ("第190条の2", "第190条の2"),
        ("190条", "190条"),
        ("제5조", "제5조"),
        ("ст. 5", "ст. 5"),
        ("", "Deposit"),
    ],
)
def test_a_bare_number_is_that_of_an_article(number, found):
    assert number_or_title(Article("a", "Deposit", "Text.", ("Rent Code",), 1, {}, number)) == found
