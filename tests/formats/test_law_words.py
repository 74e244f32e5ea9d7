import pytest

from statgraph.errors import UsageError
from statgraph.formats.importing import import_corpus
from statgraph.formats.law_words import ArticleLine, HeadingLine, LinePatterns


@pytest.mark.parametrize(
    ("language", "text", "word", "number", "rest"),
    [
        ("es", "Artículo 36. Fianza.", "Artículo", "36", "Fianza."),
        ("es", "ARTICULO 1.º Objeto", "ARTICULO", "1.º", "Objeto"),
        ("es", "Artículo primero.- Del objeto", "Artículo", "primero", "Del objeto"),
        (
            "es",
            "Disposición transitoria vigésima primera. Pozos",
            "Disposición transitoria",
            "vigésima primera",
            "Pozos",
        ),
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


# By language: title, two chapters, annex, a sentence, one that begins with a reference or holds one, and five articles
# with their rubrics, the second with both sentences.
LAWS = {
    "ko": (
        "선박법",
        "제1장 총칙",
        "제2장 요금",
        "별표 1",
        "모든 배는 허가를 받아야 한다.",
        "제3조에 따른 요금은 매년 낸다.",
        ["제1조|(목적)", "제2조|(허가)", "제2조의2|(예외)", "제3조|(요금)", "제4조|(시행)"],
    ),
    "vi": (
        "Luật Thuyền",
        "Chương I. Quy định chung",
        "Chương II. Lệ phí",
        "Phụ lục I",
        "Mọi thuyền phải có giấy phép.",
        "Điều 4 áp dụng cho chủ thuyền.",
        ["Điều 1|Phạm vi", "Điều 2|Giấy phép", "Điều 3|Ngoại lệ", "Điều 4|Lệ phí", "Điều 5|Hiệu lực"],
    ),
    "ru": (
        "Закон о лодках",
        "Глава 1. Общие положения",
        "Глава 2. Плата",
        "Приложение 1",
        "Каждая лодка имеет разрешение.",
        "Статья 3 применяется к владельцу лодки.",
        [
            "Статья 1|Предмет",
            "Статья 2|Разрешение",
            "Статья 2.1|Исключения",
            "Статья 3|Плата",
            "Статья 4|Вступление в силу",
        ],
    ),
    "uk": (
        "Закон про човни",
        "Розділ I. Загальні положення",
        "Розділ II. Плата",
        "Додаток 1",
        "Кожен човен має дозвіл.",
        "Стаття 4 застосовується до власника.",
        ["Стаття 1|Предмет", "Стаття 2|Дозвіл", "Стаття 3|Винятки", "Стаття 4|Плата", "Стаття 5|Набрання чинності"],
    ),
    "tr": (
        "Tekne Kanunu",
        "BİRİNCİ BÖLÜM",
        "İKİNCİ BÖLÜM",
        "EK-1",
        "Her teknenin izni vardır.",
        "Madde 4 tekne sahibine uygulanır.",
        ["MADDE 1|Amaç", "MADDE 2|İzin", "MADDE 3|İstisnalar", "MADDE 4|Ücret", "Geçici Madde 1|Geçiş"],
    ),
    "el": (
        "Νόμος περί σκαφών",
        "ΚΕΦΑΛΑΙΟ Α΄ Γενικά",
        "ΚΕΦΑΛΑΙΟ Β΄ Τέλη",
        "ΠΑΡΑΡΤΗΜΑ Ι",
        "Κάθε σκάφος έχει άδεια.",
        "Το άρθρο 4 ισχύει για τον ιδιοκτήτη.",
        ["Άρθρο 1|Σκοπός", "Άρθρο 2|Άδεια", "Άρθρο 3|Εξαιρέσεις", "Άρθρο 4|Τέλη", "Άρθρο 5|Έναρξη ισχύος"],
    ),
    "ar": (
        "قانون القوارب",
        "الفصل الأول أحكام عامة",
        "الفصل الثاني الرسوم",
        "الملحق 1",
        "لكل قارب ترخيص من الميناء.",
        "تسري المادة 4 على مالك القارب.",
        ["المادة 1|الغرض", "المادة 2|الترخيص", "المادة 3|الاستثناءات", "المادة 4|الرسوم", "المادة 5|النفاذ"],
    ),
    "id": (
        "Undang-Undang Perahu",
        "BAB I Ketentuan Umum",
        "BAB II Biaya",
        "LAMPIRAN I",
        "Setiap perahu wajib mempunyai izin.",
        "Pasal 4 berlaku bagi pemilik perahu.",
        ["Pasal 1|Tujuan", "Pasal 2|Izin", "Pasal 3|Pengecualian", "Pasal 4|Biaya", "Pasal 5|Penutup"],
    ),
    "hu": (
        "A csónakokról szóló törvény",
        "I. Fejezet Általános rendelkezések",
        "II. Fejezet Díjak",
        "1. melléklet",
        "Minden csónaknak engedélye van.",
        "A 3. § a tulajdonosra vonatkozik.",
        ["1. §|Cél", "2. §|Engedély", "2/A. §|Kivételek", "3. §|Díj", "4. §|Hatály"],
    ),
    "is": (
        "Lög um báta",
        "I. kafli Almenn ákvæði",
        "II. kafli Gjöld",
        "Viðauki I",
        "Hver bátur hefur leyfi.",
        "Ákvæði 4. gr. gilda um eigandann.",
        ["1. gr.|Markmið", "2. gr.|Leyfi", "3. gr.|Undantekningar", "4. gr.|Gjöld", "5. gr.|Gildistaka"],
    ),
    "cs": (
        "Zákon o lodích",
        "HLAVA I Obecná ustanovení",
        "HLAVA II Poplatky",
        "Příloha č. 1",
        "Každá loď má povolení.",
        "§ 3 se použije na vlastníka.",
        ["§ 1|Účel", "§ 2|Povolení", "§ 2a|Výjimky", "§ 3|Poplatky", "§ 4|Účinnost"],
    ),
    "ro": (
        "Legea bărcilor",
        "CAPITOLUL I Dispoziții generale",
        "CAPITOLUL II Taxe",
        "ANEXA 1",
        "Fiecare barcă are un permis.",
        "Articolul 4 se aplică proprietarului.",
        ["Art. 1|Scopul", "Art. 2|Permisul", "Art. 3|Excepții", "Art. 4|Taxe", "Art. 5|Intrarea în vigoare"],
    ),
    "da": (
        "Bådloven",
        "Kapitel 1 Indledning",
        "Kapitel 2 Gebyrer",
        "Bilag 1",
        "Hver båd har en tilladelse.",
        "§ 3 gælder for ejeren.",
        ["§ 1|Formål", "§ 2|Tilladelse", "§ 2 a|Undtagelser", "§ 3|Gebyr", "§ 4|Ikrafttræden"],
    ),
    "no": (
        "Båtloven",
        "Kapittel 1 Innledning",
        "Kapittel 2 Gebyr",
        "Vedlegg 1",
        "Hver båt har en tillatelse.",
        "§ 2-1 gjelder for eieren.",
        ["§ 1-1|Formål", "§ 1-2|Tillatelse", "§ 1-3|Unntak", "§ 2-1|Gebyr", "§ 2-2|Ikrafttredelse"],
    ),
    "fi": (
        "Venelaki",
        "1 luku Yleiset säännökset",
        "2 luku Maksut",
        "Liite 1",
        "Jokaisella veneellä on lupa.",
        "Mitä 3 §:ssä säädetään, koskee omistajaa.",
        ["1 §|Tarkoitus", "2 §|Lupa", "2 a §|Poikkeukset", "3 §|Maksu", "4 §|Voimaantulo"],
    ),
    "sv": (
        "Båtlag",
        "1 kap. Inledning",
        "2 kap. Avgifter",
        "Bilaga 1",
        "Varje båt har ett tillstånd.",
        "Bestämmelserna i 3 § gäller ägaren.",
        ["1 §|Syfte", "2 §|Tillstånd", "2 a §|Undantag", "3 §|Avgift", "4 §|Ikraftträdande"],
    ),
    "zh": (
        "船舶法",
        "第一章 总则",
        "第二章 费用",
        "附件一",
        "每艘船应当有许可证。",
        "第三条的规定适用于船主。",
        ["第一条|", "第二条|", "第二条之一|", "第三条|", "第四条|"],
    ),
    "ja": (
        "船舶法",
        "第一章 総則",
        "第二章 料金",
        "別表第一",
        "すべての船は許可を受けなければならない。",
        "第三条の規定は船主に適用する。",
        ["第一条|", "第二条|", "第二条の二|", "第三条|", "第四条|"],
    ),
}


@pytest.mark.parametrize("language", LAWS)
@pytest.mark.parametrize("suffix", ["txt", "md"])
def test_a_law_in_any_language_is_divided_by_its_words(tmp_path, language, suffix):
    title, first_chapter, second_chapter, annex, sentence, reference, articles = LAWS[language]
    parts = [title, first_chapter, second_chapter, annex]
    marks = dict(zip(parts, ("# ", "## ", "## ", "## "), strict=True)) if suffix == "md" else {}
    lines = [title, first_chapter]
    for row, (number, rubric) in enumerate(article.split("|") for article in articles):
        lines += [second_chapter] * (row == 3)
        between = "" if rubric.startswith("(") else " " if number.endswith(".") else ". "
        texts = [sentence, reference] if row == 1 else [sentence]
        if rubric:
            lines += ["### " * (suffix == "md") + f"{number}{between}{rubric}", *texts]
        else:
            lines += [f"{number}\u3000{texts[0]}", *texts[1:]]
    path = tmp_path / f"law.{suffix}"
    path.write_text("\n\n".join(f"{marks.get(line, '')}{line}" for line in (*lines, annex, sentence)), encoding="utf-8")
    *found, last = import_corpus(path, language=language).articles
    assert [f"{article.number}|{article.rubric}".replace("(", "").replace(")", "") for article in found] == [
        article.replace("(", "").replace(")", "") for article in articles
    ]
    assert [article.path for article in found] == [(title, first_chapter)] * 3 + [(title, second_chapter)] * 2
    assert [article.text for article in (*found, last)] == [
        f"{sentence}\n{reference}" if row == 1 else sentence for row in range(6)
    ]


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
