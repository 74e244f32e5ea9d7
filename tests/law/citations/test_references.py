"""References in the text of articles: French, English, Dutch and German ways of writing them, and what is none."""

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from statgraph.law import Article, CitingText
from statgraph.law.citations import references
from statgraph.law.citations.references import (
    REFERENCES,
    ReferenceFinder,
    citations_among,
    cited_articles,
    ragged_row,
)

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
        ("under Articles 3, 4 and 5", [0, 1, 2]),
        ("under Articles 3 to 5(2)", [0, 1, 2]),
        ("Article 3 of the Work Code", [3]),
        ("Article 3 of the Act on Leases", []),
        ("Article 3 of the lease", [0]),
        ("particle 3", []),
    ],
)
def test_english(text, rows):
    titles = ["Art. 3, Housing Code", "Art. 4, Housing Code", "Art. 5, Housing Code", "Art. 3, Work Code"]
    finder = ReferenceFinder(titles, ["Housing Code"] * 3 + ["Work Code"])
    assert finder.find(text, "Housing Code") == rows


LAW = "Code des impôts"
LETTERED = ("§ 12", "§ 12a", "§ 12f", "§ 12 C", "§ 7:201", "§ 7:202", "§ R142-1-A")
DOTTED = ("Art. 1.12", "Art. 11.2", "Art. 112")
HUNDRED = tuple(f"Art. {number}" for number in range(1, 101))
NUMBERS = ("39", "39 AH", "39 bis", "235 ter ZD", "235 ter", "41 CC")
CAPITALS = tuple(f"Art. {number}, {LAW}" for number in NUMBERS)
ABBREVIATED = ("Art. 1 CI Droits", "Art. 2 CI Droits", "Art. 3 CI Droits", "Art. 4 CI")


@pytest.mark.parametrize(
    ("titles", "text", "rows"),
    [
        (("Section 12 Deposits", "§ 13 Keys"), "see section 12 and § 13", [0, 1]),
        (LETTERED, "§ 12a.", [1]),
        (LETTERED, "§ 12f. und", [0]),
        (LETTERED, "§ 12f Abs. 1", [2]),
        (LETTERED, "§ 12 C", [3]),
        (LETTERED, "§ 12 C. civ.", [0]),
        (LETTERED, "§ 7:202", [5]),
        (LETTERED, "§ R. 142-1-A", [6]),
        (DOTTED, "See article 1.12 and article 112.", [0, 2]),
        (DOTTED, "See articles 11.2 and 1.12.", [1, 0]),
        (HUNDRED, "articles 1 to 51", list(range(51))),  # a longer range is taken by its ends
        (HUNDRED, "articles 1 to 52", [0, 51]),
        (HUNDRED, "articles 9 to 2", [8, 1]),
        # Capitals that stand apart are of the number where a code has such, but for its own abbreviation.
        (CAPITALS, "aux articles 39, 39 AH et 235 ter ZD", [0, 1, 3]),
        (CAPITALS, "l'article 39 AH du code des impôts", [1]),
        (CAPITALS, "l'article 39 AI", []),
        (CAPITALS, "l'article 39 CGI", []),
        (CAPITALS, "l'article 235 ter", [4]),
        (CAPITALS, "l'article 41 CC", [5]),
        (ABBREVIATED, "l'article 3 CI, l'article 4", [2, 3]),
        (("Disposición adicional primera", "Artículo 5"), "la disposición\nadicional primera", [0]),
        # Hyphens and dashes are one within a number.
        (("Art. L1234–1",), "l'article L. 1234-1", [0]),
        (("Art. L1234-1",), "l'article L. 1234–1", [0]),
        (("Art. L12‑14",), "l'article L. 12–14", [0]),
        (("§ 1395w–4",), "§ 1395w−4", [0]),
        (("Art. 12–14",), "Artikel 12", [0]),
        (("18 U.S.C. § 1028. Fraud", "18 U.S.C. § 1029. Devices"), "section 1029", [1]),
    ],
)
def test_numbers_as_the_titles_of_a_code_write_them(titles, text, rows):
    assert ReferenceFinder(titles, [LAW] * len(titles)).find(text, LAW) == rows


def two_codes(own, other, word):
    """Return a finder for articles 1 to 6 of two codes: rows 0 to 5 and 6 to 11."""
    codes = [own] * 6 + [other] * 6
    return ReferenceFinder([f"{word} {row % 6 + 1}, {code}" for row, code in enumerate(codes)], codes)


@pytest.mark.parametrize(
    ("word", "text", "rows"),
    [
        ("Article", "l'article 3et l'article 5", [2, 4]),
        ("Article", "aux articles 2 et 4en cas de refus", [1, 3]),
        ("Article", "à l'article 3 ;\n5. la date", [2]),
        ("Artikel", "de artikelen 1, onderdelen a en b, en tweede lid, 3 en 5", [0, 2, 4]),
        ("Artikel", "de artikelen 1, eerste tot en met het derde lid, en 4", [0, 3]),
        ("Artikel", "artikel 2 ter zake van", [1]),
        ("Articolo", "gli articoli 1, lettere a) e b), 3 e 5", [0, 2, 4]),
        ("§", "§ 3 Absatz 1 und 2 Satz 1", [2]),
        ("§", "§§ 3 Absatz 1, 5 Absatz 2", [2, 4]),
        ("Art.", "w art. 3 ust. 1 pkt 1, 2 lit. a", [2]),
        ("Section", "section 2 and paragraph 3(1)(g)", [1, 2]),
        ("Article", "paragraph 3(1)(g)", []),
        ("第", "猫法第二条第二款和第三款、第三条", []),
        ("第", "本法第二条第二款和第三款、第三条", [1, 2]),
    ],
)
def test_what_real_acts_write(word, text, rows):
    titles = (
        [f"{word}{number}条" for number in "一二三四五六"] if word == "第" else [f"{word} {row}" for row in range(1, 7)]
    )
    assert ReferenceFinder(titles, ["Garden Act"] * 6).find(text, "Garden Act") == rows


CRIMES, HEALTH = "Title 18 Crimes and Criminal Procedure", "Title 42 The Public Health and Welfare"
TAXES, LABOR = "Code of Federal Regulations, Title 26", "Code of Federal Regulations, Title 29"
VOLUMES = {
    CRIMES: ("1", "1028", "1028A", "1983"),
    HEALTH: ("1", "1028", "1983", "1395w–4", "1395w–5", "300aa-1"),
    TAXES: ("1.401(a)-1", "1.401(k)-1", "1.401-1", "5"),
    LABOR: ("5", "778.113", "778.114"),
}


@pytest.mark.parametrize(
    ("code", "text", "named"),
    [
        (CRIMES, "section 1983 of title 42", "42 1983"),
        (CRIMES, "section 1983, title 42", "42 1983"),
        (CRIMES, "under 42 U.S.C. 1983", "42 1983"),
        (CRIMES, "42 U.S.C. § 1983 and section 1028 of this title", "42 1983, 18 1028"),
        (CRIMES, "under section 1 and 42 U. S. C. A. §§ 1028, 1983", "18 1, 42 1028, 42 1983"),
        (CRIMES, "sections 1 and 1983 of title 42, United States Code", "42 1, 42 1983"),
        (CRIMES, "Title 42, United States Code, Section 1983", "42 1983"),
        (CRIMES, "title 42 of the United States Code, sections 1 and 1983", "42 1, 42 1983"),
        (CRIMES, "section 1 of title 42 and section 1983 of such title", "42 1, 42 1983"),
        (CRIMES, "section 1028A(a) or 18 USC § 1028(a)(7)", "18 1028A, 18 1028"),
        (CRIMES, "section 1 of title 7, section 1028 of title 7, United States Code, 7 U.S.C. § 1983", ""),
        (CRIMES, "26 CFR 5 and 26 U.S.C. 5", "26 5"),
        (CRIMES, "the U.S.C. 1983 edition", ""),
        (HEALTH, "section 1395w–4(b) of this title", "42 1395w–4"),
        (HEALTH, "sections 1395w-4 and 1395w—5, 300aa‑1", "42 1395w–4, 42 1395w–5, 42 300aa-1"),
        (TAXES, "see § 1.401(k)-1(b)(2)", "26 1.401(k)-1"),
        (TAXES, "§§ 1.401(a)-1 through 1.401(k)-1", "26 1.401(a)-1, 26 1.401(k)-1"),
        (TAXES, "26 C.F.R. § 1.401(k)-1(b)(2), 29 C.F.R. 5.1", "26 1.401(k)-1"),
        (LABOR, "29 CFR 778.113", "29 778.113"),
        (LABOR, "29 CFR part 5, 26 CFR §§ 5 and 1.401-1", "26 5, 26 1.401-1"),
    ],
)
def test_a_law_is_named_by_the_number_of_its_volume(code, text, named):
    numbered = [(of, number) for of, numbers in VOLUMES.items() for number in numbers]
    finder = ReferenceFinder([f"§ {number}" for _, number in numbered], [of for of, _ in numbered])
    found = [numbered[row] for row in finder.find(text, code)]
    assert ", ".join(f"{re.sub(r'[^0-9]', '', of)} {number}" for of, number in found) == named


LAWS = {  # the law that a text is of, another one, and the word before their numbers
    "en": ("Garden Act", "Dog Act", "Section"),
    "nl": ("Woonwet", "Tuinwet", "Artikel"),
    "fr": ("Code civil", "Code des jardins", "Art."),
    "de": ("Kleingartenordnung", "Hundegesetz", "§"),
    "BGB": ("Kleingartenordnung", "Bürgerliches Gesetzbuch", "§"),
    "eu": ("Garden Act", "Dog Act", "Article"),
}


@pytest.mark.parametrize(
    ("language", "text", "rows"),
    [
        ("en", "section 5 of the Animal Welfare Act 2006", []),
        ("en", "section 5(2) of the Animal Welfare Act 2006", []),
        ("en", "section 5 of the Dogs (Protection of Livestock) Act 1953", []),
        ("en", "section 5 of the Health and Safety at Work etc. Act 1974", []),
        ("en", "section 5 of the Legal Aid, Sentencing and Punishment of Offenders Act 2012", []),
        ("en", "section 5 of the 1996 Act", []),
        ("en", "section 5 of the Housing Regulations", []),
        ("en", "section 5 of the European Convention on Human Rights", []),
        ("en", "section 5 GDPR", []),
        ("en", "section 1(2) of the Dog Act", [6]),
        ("en", "section 1(2) and (3) of the Dog Act", [6]),
        ("en", "section 1, subsection (2), of the Dog Act", [6]),
        ("en", "section 1 of Part 2 of the Dog Act", [6]),
        ("en", "sections 1(2)(a) and 3 of the Dog Act", [6, 8]),
        ("en", "sections 1 to 3 of the Dog Act", [6, 7, 8]),
        ("en", "sections 1 to 3 of the Cat Act", []),
        ("en", "section 1 of the Dog Act 1906", []),
        ("en", "section 1 of the Dog Act of 1906", []),
        ("en", "section 1 of the Dog Act Regulations", []),
        ("en", "section 2 of, and Schedule 3 to, the Dog Act", []),
        ("en", "section 4 or section 5 of the Dog Act", [10]),
        ("en", "section 4, and section 5 of the Dog Act", [3, 10]),
        ("en", "section 4 or section 5 of this Act", [3, 4]),
        ("en", "section 2 of the Dog Act and section 3 of that Act", [7, 8]),
        ("en", "the Cat Act; section 3 of that Act", []),
        ("en", "section 5(2) shall apply", [4]),
        ("en", "section 5 of the lease", [4]),
        ("en", "section 5 of the dwelling that the Act governs", [4]),
        ("en", "section 5 of 3 May", [4]),
        ("en", "under section 5\nThe Act applies", [4]),
        ("nl", "artikel 5 van de Gemeentewet", []),
        ("nl", "artikel 5, tweede lid, van de Gemeentewet", []),
        ("nl", "artikel 5 of 6 van de Gemeentewet", []),
        ("nl", "artikelen 3 tot en met 5 van de Gemeentewet", []),
        ("nl", "artikel 5 Gemeentewet", []),
        ("nl", "artikel 5 van het Burgerlijk Wetboek", []),
        ("nl", "artikel 5, tweede lid, van de Tuinwet", [10]),
        ("nl", "artikel 5, eerste en tweede lid, van de Tuinwet", [10]),
        ("nl", "artikel 5, tweede lid, onder a, van de Tuinwet", [10]),
        ("nl", "artikel 5 lid 2 Tuinwet", [10]),
        ("nl", "artikel 5 of 6 van de Tuinwet", [10, 11]),
        ("nl", "artikel 5, tweede lid.", [4]),
        ("nl", "artikel 5 van de huurovereenkomst", [4]),
        ("fr", "l'article 5 de l'arrêté du 3 mai 2001", []),
        ("fr", "l'article 5, alinéa 2, de l'arrêté du 3 mai 2001", []),
        ("fr", "l'article 5, deuxième alinéa, de la loi n° 78-17", []),
        ("fr", "l'article 1er de la loi n° 78-17", []),
        ("fr", "l'article 5 du décret", []),
        ("fr", "l'article 5 (2°) du décret", []),
        ("fr", "l'article 5 de cette loi", []),
        ("fr", "l'article 5 de la même loi", []),
        ("fr", "l'article 5 du livre des procédures fiscales", []),
        ("fr", "les articles 5 et suivants du code de commerce", []),
        ("fr", "l'article 5 du CGI", []),
        ("fr", "l'article 5 bis", []),
        ("fr", "l'article 5 sexdecies du code général des impôts", []),
        ("fr", "l'article 5 quindecies A du code général des impôts", []),
        ("fr", "l'article 5 de l'annexe", []),
        ("fr", "l'article 5, alinéa 2, du code des jardins", [10]),
        ("fr", "l'article 5 (alinéas 2 et 3) du code des jardins", [10]),
        ("fr", "l'article 5, premier alinéa, du code des jardins", [10]),
        ("fr", "l'article 5, 2°, du code des jardins", [10]),
        ("fr", "l'article 5, II, du code des jardins", [10]),
        ("fr", "l'article 1er du code des jardins", [6]),
        ("fr", "l'article 5 du livre III du code des jardins", [10]),
        ("fr", "les articles 2 (1°), 3 et 5 du code des jardins", [7, 8, 10]),
        ("fr", "l'article 5, premier alinéa, du présent code", [4]),
        ("fr", "de l'article 5, du III de l'article 6", [4, 5]),
        ("de", "§ 5 der Gemeindeordnung", []),
        ("de", "§ 5 der Straßenverordnung", []),
        ("de", "§ 5 der Satzung", []),
        ("de", "§ 5 des Bürgerlichen Gesetzbuchs", []),
        ("de", "§ 4 HundeG", []),
        ("de", "§ 4 des Hundegesetzes", [9]),
        ("de", "§ 4 nach dem Hundegesetz", [9]),
        ("de", "§ 4 Abs. 1 und 2 des Hundegesetzes", [9]),
        ("de", "§ 4 Absatz 2 Satz 1 Nr. 3 des Hundegesetzes", [9]),
        ("de", "§§ 4 bis 6 des Hundegesetzes", [9, 10, 11]),
        ("de", "§ 4 und § 5 des Hundegesetzes", [10]),
        ("de", "§ 3, § 4 und § 5 des Hundegesetzes", [10]),
        ("de", "§ 5 der Kleingartenordnung", [4]),
        ("de", "§ 4 Abs. 2 oder § 5", [3, 4]),
        ("BGB", "§ 4 des Bürgerlichen Gesetzbuchs", [9]),
        ("BGB", "§ 4 des Bürgerlichen Gesetzbuches", [9]),
        ("eu", "Article 2 of the Dog Act, in conjunction with Article 5 thereof", [7, 10]),
        ("eu", "Article 2 of Regulation (EU) 1/2011, with Article 5 thereof", []),
    ],
)
def test_another_law_is_told_from_ones_own(language, text, rows):
    own, other, word = LAWS[language]
    assert two_codes(own, other, word).find(text, own) == rows


def test_a_long_list_takes_no_time():
    finder = two_codes("Garden Act", "Dog Act", "Section")
    assert finder.find(", ".join(["section 1(1)", "section 2"] * 3000), "Garden Act") == [0, 1]
    assert finder.find("sections 12 paras 1" + ", 2" * 6000 + ", 40", "Garden Act") == []
    assert finder.find("42 U.S.C. " * 6000, "Garden Act") == []
    for goes_on in WORDS_BEHIND:
        assert finder.find("section 1" + goes_on * 6000, "Garden Act") == [0]


def test_citations_among_articles_are_read_once(monkeypatch, referring_town):
    citations = citations_among(referring_town.articles)
    cited = [ragged_row(citations.refers_to, row) for row in range(len(referring_town.articles))]
    assert {row: others for row, others in enumerate(cited) if others} == {4: [2], 6: [4], 7: [4, 2]}
    assert [ragged_row(citations.referred_by, row) for row in (2, 4)] == [[4, 7], [6, 7]]
    assert [rows.tolist() for rows in citations.edges] == [[4, 6, 7, 7], [2, 4, 4, 2]]
    monkeypatch.setattr(references, "ReferenceFinder", None)
    assert citations_among(tuple(referring_town.articles)) is citations


def test_references_that_the_source_states_come_before_those_in_the_text():
    text = "See article 1."
    said = replace(WELL, article_id="W2", title="Art. 2, Well Code", text=text, metadata={REFERENCES: ["L2", "gone"]})
    silent = replace(said, metadata={REFERENCES: ["gone"]})
    for citing, expected in ((said, [1]), (silent, [2]), (replace(said, metadata={REFERENCES: "L2"}), [2])):
        assert ragged_row(citations_among((LAMP, LAMP2, WELL, citing)).refers_to, 3) == expected


PIECES = [
    "article", "articles", "Art.", "section", "§", "l'", "les ", "et ", "à ", "to ", "and ", "en ", "bis", "L.", "R. *",
    "42 U.S.C. ", "of title 42", "–",
    "du code rural", "du même code", "12-3", "12", "5", "6", ", ", ". ", " ", "(2)", "°", "de la loi n° 83-634", "\n",
]  # fmt: skip
WORDS_BEHIND = [
    "(1), ", " eerste,", " second,", ", alinéa 1", " 1°", " para 1,", " II", " of the (a)", " aième", "  ", ", 1",
]  # fmt: skip


@given(text=st.one_of(st.text(max_size=60), st.lists(st.sampled_from(PIECES), max_size=25).map("".join)))
@pytest.mark.parametrize("code", [LABOUR, RURAL, "another code"])
def test_any_text_names_articles_that_exist_once_each(code, text):
    found = ReferenceFinder(TITLES, [title.partition(", ")[2] for title in TITLES]).find(text, code)
    assert len(set(found)) == len(found)
    assert set(found) <= set(range(len(TITLES)))


LAMP = Article("L1", "Art. 1, Lamp Code", "Lamps burn.", ("Lamp Code",), 1)
LAMP2 = Article("L2", "Art. 2, Lamp Code", "Who breaks a lamp pays.", ("Lamp Code",), 2)
WELL = Article("W1", "Art. 1, Well Code", "Wells are covered.", ("Well Code",), 1)


def cited_ids(title, text, *articles):
    (found,) = cited_articles([CitingText("c", title, text, ())], articles or (LAMP, LAMP2, WELL))
    return found


@pytest.mark.parametrize(
    ("title", "text", "articles", "cited"),
    [
        ("Article 2 of the Lamp Code", "See article 1 of the Well Code.", (), ("L2", "W1")),
        ("The well code in short", "Article 1 says that wells are covered.", (), ("W1",)),
        ("A guide", "Article 1 says that wells are covered.", (), ()),
        ("A guide", "Articles 1 and 2.", (LAMP, LAMP2), ("L1", "L2")),
    ],
)
def test_a_number_alone_is_of_the_code_that_the_title_names_or_of_the_only_one(title, text, articles, cited):
    assert cited_ids(title, text, *articles) == cited


@pytest.mark.parametrize("number", ["Art. 2", "2"])
def test_a_number_counts_whatever_the_title_is(number):
    titled = replace(LAMP2, title="Breakage", number=number)
    assert cited_ids("A guide", "Articles 1 and 2.", LAMP, titled) == ("L1", "L2")


@pytest.mark.parametrize(
    ("titles", "text", "named"),
    [
        (
            ["Art. L. 1", "Art. L. 2", "Art. L. 5", "Art. R. 1-2"],
            "Voir les articles L. 1, L. 2 et L. 5, l'article R. 1-2 et les articles L. 1 à L. 5.",
            [("articles L. 1", 0), ("L. 2", 1), ("L. 5", 2), ("article R. 1-2", 3), ("articles L. 1", 0), ("L. 5", 2)],
        ),
        (
            ["§ 1", "§ 2", "§ 3a"],
            "Nach § 1 Absatz 2 und den §§ 2 und 3a sowie § 9.",
            [("§ 1 Absatz 2", 0), ("§§ 2", 1), ("3a", 2)],
        ),
        (["Article 5", "Article 6"], "Under Articles 5 and 6 of the Dog Act, and Article 6(2).", [("Article 6(2)", 1)]),
    ],
)
def test_the_places_of_what_a_text_names(titles, text, named):
    places = ReferenceFinder(titles, ["Code"] * len(titles)).places(text, "Code")
    assert [(text[start:end], row) for start, end, row in places] == named


def test_invisible_characters_and_other_digits_in_a_text():
    finder = ReferenceFinder(["Art. 3", "Art. 30"], ["Dog Code"] * 2)
    text = "\u200bSee art. 3\u00ad0 of it, and article ٣."
    assert finder.find(text, "Dog Code") == [1, 0]
    found = [(text[start:end], row) for start, end, row in finder.places(text, "Dog Code")]
    assert found == [("art. 3\u00ad0", 1), ("article ٣", 0)]
