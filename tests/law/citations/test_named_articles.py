"""Questions that name articles by number, in five languages, and ordinary questions that hold numbers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from statgraph.law.citations.named_articles import NamedArticles


def named(codes, titles_of=lambda code: [f"Art. {number}, {code}" for number in range(1, 7)], headings=()):
    """Return the named articles of codes with six articles each: rows 0 to 5, 6 to 11, ..."""
    placed = [(title, (code, *headings)) for code in codes for title in titles_of(code)]
    return NamedArticles(*zip(*placed, strict=True))


ENGLISH = named(["Housing Code", "Work Code"])
FRENCH = NamedArticles(
    [
        *("Art. L1 A, Code du travail", "Art. L1234-1, Code du travail", "Art. L1234-2, Code du travail"),
        *("Art. L1234-3, Code du travail", "Art. R*123-4-1, Code du travail", "Annexe I, Code du travail"),
        *("Art. L1234-1, Code rural", "Art. 5, Code rural", "Annexe I, Code rural"),
    ],
    [("Code du travail",)] * 6 + [("Code rural",)] * 3,
)
GERMAN = named(["Sportgesetz"], lambda code: [f"§ {number} Regel" for number in ("1", "2", "2a", "3", "4")])
POLISH = named(["Kodeks pracy"], lambda code: [f"Art. {number}" for number in ("22", "22¹", "221", "23")])
TAIWANESE = named(["民法", "公司法"], lambda code: [f"第 {number} 條" for number in ("190", "190-1", "191")])
JAPANESE = named(["民法"], lambda code: ["第百九十条", "第百九十条の二", "第百九十条の二の三", "第百九十一条"])
DUTCH = named(["Tuinwet"], lambda code: [f"Artikel {number} {code}" for number in ("5", "7:201", "7:202")])
VOLUMES = NamedArticles(
    ["§ 1028", "§ 1983", "§ 1028", "§ 1983", "§ 1395w–4"],
    [("Title 18 Crimes",)] * 2 + [("Title 42 The Public Health",)] * 3,
)
CHINESE = named(
    ["中华人民共和国民法典", "劳动法"],
    lambda code: [f"{code} 第{number}条" for number in ("十", "十一", "十二", "一千二百零三")],
)


@pytest.mark.parametrize(
    ("articles", "question", "rows"),
    [
        (ENGLISH, "Art. 3, Housing Code", [2, 8]),
        (ENGLISH, "Art. 3, Work Code", [8, 2]),
        (ENGLISH, "Art. 3 Work Code notice", [8, 2]),
        (ENGLISH, "What does article 3 of the Work Code say?", [8, 2]),
        (ENGLISH, "Work Code, art. 3", [8, 2]),
        (ENGLISH, "work code 3", [8, 2]),
        (ENGLISH, "3", [2, 8]),
        (ENGLISH, "ART3", [2, 8]),
        (ENGLISH, "article no. 3", [2, 8]),
        (ENGLISH, "section 3", [2, 8]),
        (ENGLISH, "sec. 3(2)", [2, 8]),
        (ENGLISH, "s.3 and s.5", [2, 4, 8, 10]),
        (ENGLISH, "Articles 2-4 of the Work Code", [7, 8, 9, 1, 2, 3]),
        (ENGLISH, "from art. 2 to art. 4 of the Work Code", [7, 8, 9, 1, 2, 3]),
        (ENGLISH, "Art. 1 and Art. 2 of the Work Code", [6, 7, 0, 1]),
        (ENGLISH, "Art. 1 of the Work Code and Art. 2 of the Housing Code", [6, 1, 0, 7]),
        (ENGLISH, "Art. 3 Tax Code", []),
        (ENGLISH, "Art. 3 of the Work Code 1996", []),
        (ENGLISH, "Art. 9, Work Code", []),
        (ENGLISH, "Can I get 3 months of notice?", []),
        (ENGLISH, "in 2024", []),
        (ENGLISH, "3 weeks", []),
        (ENGLISH, "3 %", []),
        (ENGLISH, "3 €", []),
        (ENGLISH, "the third article", []),
        (ENGLISH, "state of the particle 3", []),
        (ENGLISH, "it's 3 now", []),
        (ENGLISH, "Housing Code", []),
        (ENGLISH, "", []),
        (FRENCH, "L1234-1", [1, 6]),
        (FRENCH, "L. 1234-1", [1, 6]),
        (FRENCH, "l1234-1 code rural", [6, 1]),
        (FRENCH, "Que dit l'article L. 1234-1 du code du travail ?", [1, 6]),
        (FRENCH, "Que dit L1234-2 ?", [2]),
        (FRENCH, "art. 5 du code rural", [7]),
        (FRENCH, "art. 5 du code du travail", []),
        (FRENCH, "article R. 123-4-1", [4]),
        (FRENCH, "L1234-1 à L1234-3", [1, 2, 3, 6]),
        (FRENCH, "articles L. 1234-2 et 1234-3", [2, 3]),
        (FRENCH, "L1 A", [0]),
        (FRENCH, "L. 1234-1 C. trav.", [1, 6]),
        (FRENCH, "Art. L1234-1, Code rural", [6, 1]),
        (FRENCH, "Annexe I, Code rural", [8, 5]),
        (FRENCH, "article L1234-1 du code de commerce", []),
        (FRENCH, "j'ai 5 ans d'ancienneté depuis 1234", []),
        (FRENCH, "un préavis de 5 mois", []),
        (GERMAN, "§ 2", [1]),
        (GERMAN, "§2a Sportgesetz", [2]),
        (GERMAN, "Was steht in § 2a Abs. 1 des Sportgesetzes?", [2]),
        (GERMAN, "Paragraph 3", [3]),
        (GERMAN, "§ 2 I", [1]),
        (GERMAN, "§§ 2 bis 4", [1, 2, 3, 4]),
        (GERMAN, "§ 2 BGB", []),
        (GERMAN, "Ich habe 3 Hunde", []),
        (DUTCH, "artikel 7:201 Tuinwet", [1]),
        (DUTCH, "7:202", [2]),
        (DUTCH, "artikelen 7:201 en 7:202", [1, 2]),
        (DUTCH, "artikel 5, tweede lid, van de Tuinwet", [0]),
        (DUTCH, "artikel 5 BW", []),
        (VOLUMES, "42 U.S.C. § 1983", [3]),
        (VOLUMES, "42 usc 1983", [3]),
        (VOLUMES, "what does 18 USC 1028 say about cards?", [0]),
        (VOLUMES, "section 1983 of title 42", [3]),
        (VOLUMES, "Title 42, section 1395w-4", [4]),
        (VOLUMES, "7 U.S.C. 1983 or section 1028 of title 7", []),
        (VOLUMES, "section 1983", [1, 3]),
        (POLISH, "art. 22¹ kodeks pracy", [1]),
        (POLISH, "art. 22^1", [1]),
        (POLISH, "art 22(1) kp", [1]),
        (POLISH, "art. 23(1)", [3]),
        (POLISH, "art. 221", [2]),
        (TAIWANESE, "民法第190條", [0, 3]),
        (TAIWANESE, "民法第一百九十條之一規定什麼", [1, 4]),
        (TAIWANESE, "公司法 第 190 条", [3, 0]),
        (TAIWANESE, "第１９０－１條", [1, 4]),
        (TAIWANESE, "民法190條", [0, 3]),
        (TAIWANESE, "養了190條魚", []),
        (JAPANESE, "民法第190条", [0]),
        (JAPANESE, "民法第190条の2", [1]),
        (JAPANESE, "民法190条の2の3とは", [2]),
        (JAPANESE, "第百九十条及び第百九十一条", [0, 3]),
        (CHINESE, "第十一条", [1, 5]),
        (CHINESE, "第11条", [1, 5]),
        (CHINESE, "劳动法第十一条规定了什么", [5, 1]),
        (CHINESE, "《民法典》第十一条", [1, 5]),
        (CHINESE, "《民法典》第一千二百零三条", [3, 7]),
        (CHINESE, "民法典第十条至第十二条", [0, 1, 2, 4, 5, 6]),
        (CHINESE, "劳动法第十、十二条", [4, 6, 0, 2]),
        (CHINESE, "《猫法》第十一条", []),
        (CHINESE, "我工作了十一年", []),
        (CHINESE, "2024年有11条狗", []),
    ],
)
def test_articles_that_a_question_names(articles, question, rows):
    assert articles.rows(question).tolist() == rows


@pytest.mark.parametrize(
    ("articles", "question", "unknown"),
    [
        (ENGLISH, "Art. 9, Work Code", ["9, Work Code"]),
        (ENGLISH, "articles 3, 8 and 9", ["8", "9"]),
        (ENGLISH, "article 9 and article 3 of the Work Code", ["9, Work Code"]),
        (ENGLISH, "section 900", ["900"]),
        (ENGLISH, "Art. 99 Tax Code", ["99"]),
        (FRENCH, "article 5 du code du travail", ["5, Code du travail"]),
        (FRENCH, "que dit l1234-9 ?", ["L1234-9"]),
        (FRENCH, "articles L. 1234-2 et 1234-8", ["L1234-8"]),
        (GERMAN, "§ 9999 BGB", ["9999"]),
        (GERMAN, "§ 99 Abs. 1 Sportgesetz", ["99, Sportgesetz"]),
        (GERMAN, "§ 99 I", ["99"]),
        (DUTCH, "artikel 7:999", ["7:999"]),
        (CHINESE, "劳动法第九十九条", ["99, 劳动法"]),
        (VOLUMES, "42 USC 9999", ["9999, Title 42 The Public Health"]),
        (TAIWANESE, "民法第999條", ["999, 民法"]),
    ],
)
def test_numbers_that_no_article_carries(articles, question, unknown):
    assert articles.unknown(question) == unknown


@pytest.mark.parametrize(
    ("articles", "question"),
    [
        (ENGLISH, "9999"),
        (ENGLISH, "work code 9"),
        (ENGLISH, "Art. 3 Tax Code"),
        (ENGLISH, "Articles 2-9 of the Work Code"),
        (ENGLISH, "s. 44"),
        (ENGLISH, "Can I get 9 months of notice for my A320 of 2024?"),
        (ENGLISH, ""),
        (FRENCH, "R999-1"),
        (FRENCH, "L. 1234-1 code rural"),
        (GERMAN, "§ 2 I"),
        (GERMAN, "siehe S. 36"),
    ],
)
def test_a_number_that_is_known_or_may_be_no_articles_is_not_unknown(articles, question):
    assert articles.unknown(question) == []


def test_no_number_is_unknown_where_titles_or_headings_may_have_it():
    assert named(["A"], lambda code: ["Lamps", "Top 10 wells"]).unknown("article 11") == []
    assert named(["Housing Code"], headings=("Section 3. Deposits",)).unknown("section 9") == []


def test_a_section_that_is_a_heading_is_no_article():
    headed = named(["Housing Code"], headings=("Section 3. Deposits",))
    assert headed.rows("section 3").tolist() == []
    assert headed.rows("section 4").tolist() == [3]
    assert headed.rows("§ 3").tolist() == [2]


def test_a_word_of_the_law_itself():
    rules = named(["Club Rules"], lambda code: ["Rule 1. Members", "Rule 2. Fees", "Annex 2"])
    assert rules.rows("what is in rule 2?").tolist() == [1]
    assert rules.rows("Annex 2").tolist() == [2]


def test_titles_without_numbers_and_numbers_without_words():
    assert named(["A"], lambda code: ["Lamps", "Top 10 wells"]).rows("article 10").tolist() == []
    bare = named(["A"], lambda code: ["1. Lamps", "2.", "L12-3"])
    assert [bare.rows(question).tolist() for question in ("article 1", "2", "L. 12-3")] == [[0], [1], [2]]


PIECES = [
    "article ", "Art. ", "§ ", "section ", "s.", "3", "12-5", "L", " to ", "-", ", ", "Work Code",
    "《", "第", "条", "十", " ",
]  # fmt: skip


@given(question=st.one_of(st.text(max_size=60), st.lists(st.sampled_from(PIECES), max_size=25).map("".join)))
def test_any_question_names_articles_that_exist_once_each(question):
    rows = ENGLISH.rows(question).tolist()
    assert ENGLISH.rows(question).dtype == np.int64
    assert len(set(rows)) == len(rows)
    assert set(rows) <= set(range(12))


def test_numbers_count_whatever_the_titles_are():
    titles, paths = ["Deposit", "Breakage", "7 keys"], [("Housing Code",)] * 3
    by_number = NamedArticles(titles, paths, ["Art. 35", "Art. 36", "Art. 37"])
    assert [by_number.rows(question).tolist() for question in ("article 36", "article 7", "Deposit")] == [[1], [], [0]]


@pytest.mark.parametrize(
    ("titles", "question", "row"),
    [
        (["Art. 3", "Art. 30"], "Art. 3\u00ad0", 1),
        (["Art. 3", "Art. 30"], "Art. ٣\u200b٠, Dog\u00a0C\u00adode", 1),
        (["Art. 3\u00ad0", "Art. 3"], "Art. 30", 0),
        (["المادة ٣", "المادة ٢٧"], "المادة 27", 1),
        (["المادة 3", "المادة 27"], "المادة ۲۷", 1),
        (["มาตรา ๓", "มาตรา ๒๗"], "มาตรา 27", 1),
        (["มาตรา 3", "มาตรา 27"], "มาตรา ๒๗", 1),
        (["第3条", "第30条"], "第３０条", 1),
        (["Madde 28", "Madde 28/A"], "madde 28/A ne diyor?", 1),
    ],
)
def test_numbers_are_read_however_they_are_spelt(titles, question, row):
    named = NamedArticles(titles, [("Dog Code",)] * 2)
    assert (named.rows(question).tolist(), named.unknown(question)) == ([row], [])
