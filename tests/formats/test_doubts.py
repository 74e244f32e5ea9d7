from itertools import pairwise

import pytest

from statgraph.formats.doubts import doubts
from statgraph.law import Article

TEXT = "The owner of a lamp lights it at dusk."
FRENCH = "Le propriétaire de la lampe est tenu de payer les frais qui sont dus pour une nuit dans la rue."


def law(*numbers, path=("Lamp Code",), texts=(), language="en", left_out=(), **metadata):
    """Return the doubts about articles with these numbers, the first of them with `texts`."""
    articles = [
        Article(f"{row}", number, [*texts, *[TEXT] * len(numbers)][row], path, row, metadata, number)
        for row, number in enumerate(numbers)
    ]
    return doubts(articles, language, {f"{row}": f"law.md:{row}" for row in range(len(numbers))}, left_out)


def sections(*numbers):
    return [f"§ {number}" for number in numbers]


def test_a_sound_law_has_no_doubts():
    assert law(*sections(*range(1, 40), "39a", 40)) == []
    assert law() == []
    assert law(*sections(1, 1, 7)) == []  # so few show nothing


TEN = range(1, 11)


def test_a_gap_is_named_with_its_neighbours():
    assert law(*sections(*TEN, 12, *range(13, 30))) == ["§ 11 is missing between § 10 and § 12 (law.md:10)"]
    numbers = sections(*range(1, 20), 22, *range(23, 40), 41, 42)
    assert law(*numbers) == ["§ 20 to § 21 are missing between § 19 and § 22 (law.md:19), and 1 more like it"]
    assert law(*[f"第{number}条" for number in "一二三四五六七八九十"], "第十一条", "第十三条") == [
        "第12条 is missing between 第十一条 and 第十三条 (law.md:11)"
    ]


@pytest.mark.parametrize(
    "numbers", [(1, 3, 5, 7, 9, 11), (1, 2, 4), (1, 2, 3, 4, 5, 6, 1, 2, 3), (*range(101, 120), *range(201, 220))]
)
def test_numbers_that_are_no_sequence_have_no_gaps(numbers):
    assert not any("missing" in line for line in law(*sections(*numbers)))


def test_a_repealed_article_is_no_gap():
    assert law(*sections(*TEN, *range(12, 30)), left_out={11}) == []


def test_an_article_that_holds_the_next_one_is_named():
    text = f"{TEXT}\n§ 2 Wicks\n{TEXT}"
    found = law(*sections(1, *range(3, 30)), texts=[text])
    assert found[0] == "§ 1 (law.md:0) holds a line that may begin an article of its own: '§ 2 Wicks'"
    assert law(*sections(*TEN), texts=[text]) == []  # § 2 is there
    assert "§ 11 Oil" in law(*sections(*TEN), texts=[*[TEXT] * 9, f"{TEXT}\n§ 11 Oil\n{TEXT}"])[0]


def test_two_articles_with_one_number_are_named():
    assert law(*sections(1, 2, 3, 3, 4)) == [
        "two articles of a code have the number § 3 and no different dates (law.md:2, law.md:3)"
    ]
    days = ("2001-01-01", "2002-01-01", "2003-01-01", "2004-01-01", "2005-01-01", "2006-01-01")
    versions = [
        Article(first, "§ 1", TEXT, ("Code",), row, {"valid_from": first, "valid_to": after}, "§ 1")
        for row, (first, after) in enumerate(pairwise(days))
    ]
    assert doubts(versions, "en", {}) == []


def test_numbers_that_begin_anew_under_a_heading_are_no_doubt():
    first = [Article(f"a{i}", f"{i}", TEXT, ("Code", "Part I"), i, {}, f"{i}") for i in range(1, 7)]
    annex = [Article(f"b{i}", f"{i}", TEXT, ("Code", "Annex"), 6 + i, {}, f"{i}") for i in range(1, 4)]
    places = {article.article_id: "law.md" for article in (*first, *annex)}
    assert doubts([*first, *annex], "en", places) == []
    assert "the number 2 " in doubts([*first, *annex[1:]], "en", places)[0]


def test_texts_out_of_proportion_are_named():
    assert law(*sections(*TEN), texts=["See above."]) == ["§ 1 has hardly a text (law.md:0): 'See above.'"]
    assert law(*sections(*TEN), texts=["船主应当支付费用。"]) == []
    (line,) = law(*sections(*TEN), texts=[TEXT * 2000])
    assert line == "§ 1 has 76,000 characters, 2,000 times as many as usual (law.md:0)"


def test_a_language_that_does_not_fit_is_named():
    numbers = sections(*range(1, 30))
    assert law(*numbers, texts=[FRENCH] * 29, language="fr") == []
    (line,) = law(*numbers, texts=[FRENCH] * 29, language="de")
    assert line.startswith("the texts read like language 'fr' (")
    assert line.endswith("not 'de' (0%)")
    assert law(*numbers, texts=[FRENCH] * 29, language="xx") == []
    assert law(*numbers, language="el") == ["the texts are not in the script of language 'el'"]
