from pathlib import Path

import pytest

from statgraph.artifacts import read_table
from statgraph.errors import UsageError
from statgraph.formats.importing import import_corpus
from statgraph.formats.law_words import ArticleLine, HeadingLine, LinePatterns


@pytest.mark.parametrize(
    ("language", "text", "word", "number", "rest"),
    [
        ("es", "Artículo 36. Fianza.", "Artículo", "36", "Fianza."),
        ("es", "ARTICULO 1.º Objeto", "ARTICULO", "1.º", "Objeto"),
        ("es", "Artículo primero.- Del objeto", "Artículo", "primero", "Del objeto"),
        ("es", "Disposición final vigésima primera. Pozos", "Disposición final", "vigésima primera", "Pozos"),
        ("es", "Disposición derogatoria. Gatos", "", "Disposición derogatoria", "Gatos"),
        ("de", "§ 573b Teilkündigung des Vermieters", "§", "573b", "Teilkündigung des Vermieters"),
        ("de", "§ 5 (1) Der Hund zahlt.", "§", "5", "(1) Der Hund zahlt."),
        ("en", "Section 12 Deposits", "Section", "12", "Deposits"),
        ("en", "§ 12A", "§", "12A", ""),
        ("fr", "Article L. 123-4", "Article", "L. 123-4", ""),
        ("fr", "Article premier", "Article", "premier", ""),
        ("it", "Art. 5-bis. (Nozione). La barca galleggia.", "Art.", "5-bis", "(Nozione). La barca galleggia."),
        ("nl", "Artikel 7:201 Huur", "Artikel", "7:201", "Huur"),
        ("pt", "Art. 2º É dever do barqueiro remar.", "Art.", "2º", "É dever do barqueiro remar."),
        ("pl", "Art. 12. 1. Ustawa określa psy.", "Art.", "12", "1. Ustawa określa psy."),
        ("zh", "第三十六条　灯应当亮。", "", "第三十六条", "灯应当亮。"),
        ("zh", "第十条之一 灯", "", "第十条之一", "灯"),
        ("fi", "1 §", "", "1 §", ""),
        ("fi", "4 a § Veneet", "", "4 a §", "Veneet"),
        ("sv", "2 § Båten flyter.", "", "2 §", "Båten flyter."),
        ("ja", "第三十六条の二 灯は明るい。", "", "第三十六条の二", "灯は明るい。"),
        ("da", "Artikel 5 Både", "Artikel", "5", "Både"),
        ("tr", "Madde 28/A – (Ek: 9/7/2021) Köpek", "Madde", "28/A", "(Ek: 9/7/2021) Köpek"),
    ],
)
def test_article_lines(language, text, word, number, rest):
    found = LinePatterns(language).article(text)
    assert (found.word, found.number, found.rest) == (word, number, rest)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("es", "Artículo 36 de la Ley de Puertos"),
        ("es", "Artículo 36.1 establece la tasa."),
        ("es", "El artículo 36. Fianza."),
        ("es", "Disposición final de la ley de perros"),
        ("de", "§ 5 Abs. 2 gilt entsprechend."),
        ("de", "§ 5 gilt entsprechend."),
        ("en", "Section 12(3) applies to dogs."),
        ("en", "Section 12 (3) applies to dogs."),
        ("en", "Section 3 (which is about dogs) is repealed."),
        ("fi", "5 §:n mukaan"),
        ("sv", "2 § första stycket gäller."),
        ("en", "Sections 12 and 13 of the Dog Act apply to every dog that is kept in a harbour."),
        ("fr", "Section 2 Des barques"),
        ("pt", "§ 1º O barqueiro rema."),
        ("pl", "§ 2. Pies płaci."),
        ("nl", "Artikel 5, tweede lid, blijft buiten toepassing."),
        ("zh", "依照第五条规定"),
    ],
)
def test_sentences_about_an_article_begin_none(language, text):
    assert LinePatterns(language).article(text) is None


@pytest.mark.parametrize(
    ("language", "text"),
    [("es", "Artículos 21 a 25. (Derogados)"), ("de", "§§ 12 bis 15 (weggefallen)"), ("en", "Articles 3 to 5")],
)
def test_ranges_of_articles(language, text):
    assert LinePatterns(language).article(text).is_several


@pytest.mark.parametrize(
    ("language", "text", "kind", "name", "title"),
    [
        ("es", "TÍTULO II De los contratos", "title", "TÍTULO II", "De los contratos"),
        ("es", "Sección 1.ª", "section", "Sección 1.ª", ""),
        ("es", "TITULO PRELIMINAR", "title", "TITULO PRELIMINAR", ""),
        ("de", "Erster Abschnitt", "section", "Erster Abschnitt", ""),
        ("de", "2. Teil: Hunde", "part", "2. Teil", "Hunde"),
        ("de", "Unterabschnitt 1 Allgemeines", "sub-section", "Unterabschnitt 1", "Allgemeines"),
        ("de", "Anlage 1 (zu § 5)", "annex", "Anlage 1", "(zu § 5)"),
        ("en", "PART 1 — PRELIMINARY", "part", "PART 1", "PRELIMINARY"),
        ("en", "FIRST SCHEDULE", "annex", "FIRST SCHEDULE", ""),
        ("en", "Schedule", "annex", "Schedule", ""),
        ("fr", "Titre Ier : des barques", "title", "Titre Ier", "des barques"),
        ("fr", "Première partie", "part", "Première partie", ""),
        ("it", "CAPO II Della barca", "chapter", "CAPO II", "Della barca"),
        ("nl", "Eerste afdeling. Huur", "section", "Eerste afdeling", "Huur"),
        ("pt", "Seção II Do aluguel", "section", "Seção II", "Do aluguel"),
        ("pl", "Rozdział 1 Psy", "chapter", "Rozdział 1", "Psy"),
        ("fi", "2 a luku Veneet", "chapter", "2 a luku", "Veneet"),
        ("fi", "II OSA", "part", "II OSA", ""),
        ("sv", "3 kap. Båtar", "chapter", "3 kap.", "Båtar"),
        ("zh", "第一章 总则", "chapter", "第一章", "总则"),
        ("zh", "第二节租金", "section", "第二节", "租金"),
    ],
)
def test_headings(language, text, kind, name, title):
    assert LinePatterns(language).heading(text) == HeadingLine(kind, name, title)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "Part of the deposit is kept."),
        ("en", "Title I may be given to a boat."),
        ("es", "Título II de la ley, capítulo I;"),
        ("de", "Dieser Abschnitt gilt für Hunde."),
        ("it", "Parte di essa"),
        ("en", f"Part 1 {'x' * 200}"),
    ],
)
def test_sentences_are_no_headings(language, text):
    assert LinePatterns(language).heading(text) is None


def test_a_paragraph_sign_begins_an_article_where_nothing_else_does():
    assert LinePatterns("pl").without_articles().article("§ 2. Pies płaci.") == ArticleLine(
        "§", "2", "Pies płaci.", is_marked=True
    )
    assert LinePatterns("pl", "x").without_articles() is LinePatterns("de").without_articles() is None


@pytest.mark.parametrize(
    ("text", "number"),
    [("2A. Dogs", "2A"), ("2.1 Dogs", "2.1"), ("2 (1) A dog", "2"), ("2 dogs", ""), ("(2) A dog", ""), ("2", "")],
)
def test_a_bare_number_begins_an_article(text, number):
    found = LinePatterns("en").bare_numbers().article(text)
    assert (found.number if found else "") == number
    assert LinePatterns("en", "x").bare_numbers() is None


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        (r"(\d+)\. (.*)", "12. Dogs", ArticleLine("", "12", "Dogs", is_rubric=True)),
        (r"Rule (?P<number>\w+)", "Rule 7b: dogs bark", ArticleLine("", "7b", "dogs bark")),
        (r"Rule \d+", "Rule 7", ArticleLine("", "Rule 7", "")),
        (r"(\d+)\. (.*)", "Section 12 Dogs", None),
    ],
)
def test_the_users_pattern_replaces_the_words(pattern, text, found):
    assert LinePatterns("en", pattern).article(text) == found


def test_the_users_headings_have_their_order_as_level():
    patterns = LinePatterns("en", headings=("== ", "-- "))
    assert [patterns.heading(text) for text in ("== Dogs", "-- Cats", "Part 1 Birds")] == [
        HeadingLine("pattern 1", "", "== Dogs", 1), HeadingLine("pattern 2", "", "-- Cats", 2), None,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("patterns", "message"),
    [
        (("(",), r"article_pattern \(: invalid regular expression \(missing \)"),
        ((r"\d*",), r"article_pattern .*: matches a blank line"),
        (("", ("a", "[")), r"heading_pattern \[: invalid"),
    ],
)
def test_patterns_that_cannot_be_used_are_refused(patterns, message):
    with pytest.raises(UsageError, match=message):
        LinePatterns("en", *patterns)


# Of each language the title of a law, two chapters, an annex, a sentence, one that begins with a reference or holds
# one, and five articles with their rubrics.
LAWS = read_table(Path(__file__).with_name("laws.tsv"))


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law["language"])
@pytest.mark.parametrize("suffix", ["txt", "md"])
def test_a_law_in_any_language_is_divided_by_its_words(tmp_path, law, suffix):
    marks = {"txt": ("", "", ""), "md": ("# ", "## ", "### ")}[suffix]
    articles = [article.split("|") for article in law["articles"].split("; ")]
    lines = [f"{marks[0]}{law['title']}", f"{marks[1]}{law['first chapter']}"]
    for row, (number, rubric) in enumerate(articles):
        lines += [f"{marks[1]}{law['second chapter']}"] * (row == 3)
        between = "" if rubric.startswith("(") else " " if number.endswith(".") else ". "
        if rubric:
            lines += [f"{marks[2]}{number}{between}{rubric}", law["sentence"]]
        else:
            lines += [f"{number}\u3000{law['sentence']}"]
        lines += [law["reference"]] * (row == 1)
    lines += [f"{marks[1]}{law['annex']}", law["sentence"]]
    path = tmp_path / f"law.{suffix}"
    path.write_text("\n\n".join(lines), encoding="utf-8")
    *found, last = import_corpus(path, language=law["language"]).articles
    assert [(article.number, article.rubric.strip("()")) for article in found] == [
        (number, rubric.strip("()")) for number, rubric in articles
    ]
    chapters = [law["first chapter"]] * 3 + [law["second chapter"]] * 2
    assert [article.path for article in found] == [(law["title"], chapter) for chapter in chapters]
    texts = [article.text for article in (*found, last)]
    assert texts.pop(1) == f"{law['sentence']}\n{law['reference']}"
    assert texts == [law["sentence"]] * 5


@pytest.mark.parametrize(
    ("language", "article"),
    [
        ("ar", "المادة الأولى"), ("ar", "المادة (2)"), ("ar", "مادة ٤"), ("ru", "СТАТЬЯ 3"), ("uk", "Стаття 12-1"),
        ("vi", "Điều 12a"), ("tr", "EK MADDE 1 –"), ("el", "ΑΡΘΡΟ 7"), ("id", "Pasal 12A"), ("hu", "5/B. §"),
        ("is", "12. gr. a."), ("ko", "제12조의3(특례)"), ("cs", "Čl. 5"), ("ro", "Art. 12^1. -"), ("no", "§ 3-12."),
    ],
)  # fmt: skip
def test_other_forms_of_numbers(language, article):
    assert LinePatterns(language).article(article) is not None


@pytest.mark.parametrize(
    ("language", "heading"),
    [
        ("ar", "الفصل الثالث: العقوبات"), ("ru", "ЧАСТЬ ПЕРВАЯ"), ("uk", "КНИГА ПЕРША"), ("vi", "Phần thứ nhất"),
        ("tr", "ÜÇÜNCÜ KISIM"), ("el", "ΜΕΡΟΣ ΠΡΩΤΟ"), ("el", "Κεφάλαιο Α'"), ("id", "Bagian Kesatu"),
        ("hu", "ELSŐ RÉSZ"), ("is", "IV. KAFLI"), ("ko", "제2절 벌칙"), ("cs", "ČÁST PRVNÍ"),
        ("cs", "Příloha č. 2 k zákonu o lodích"),
        ("ro", "ANEXA nr. 1"), ("da", "Kapitel 3 a"), ("nb", "Kap. 2"),
        ("hu", "2. melléklet a 2011. évi CX. törvényhez"),
    ],
)  # fmt: skip
def test_other_forms_of_headings(language, heading):
    assert LinePatterns(language).heading(heading) is not None


@pytest.mark.parametrize(
    ("language", "sentence"),
    [
        ("ru", "Статья 5 настоящего Закона применяется."), ("ru", "Часть первая статьи 5 применяется."),
        ("vi", "Điều 5 của Luật này áp dụng."), ("tr", "Madde 5 hükmü uygulanır."), ("id", "Pasal 5 ayat (1) berlaku."),
        ("ko", "제3조제1항에 따라 낸다."), ("zh", "第三条第一款的规定适用。"), ("ja", "第三条及び第四条は適用しない。"),
        ("da", "§ 5, stk. 2, gælder."), ("no", "§ 5 første ledd gjelder."), ("hu", "A 3. § szerint."),
    ],
)  # fmt: skip
def test_sentences_that_begin_with_a_reference(language, sentence):
    assert LinePatterns(language).article(sentence) is None
    assert LinePatterns(language).heading(sentence) is None
