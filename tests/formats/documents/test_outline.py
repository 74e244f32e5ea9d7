import pytest

from statgraph.formats.documents.blocks import Line
from statgraph.formats.documents.outline import CONTENTS, PREAMBLE, REPEALED, read_outline
from statgraph.formats.law_words import LinePatterns
from statgraph.law.account import KEPT


def outline_of(text, language="en", title=""):
    """Return the outline of a text, a paragraph a line; "# " before one is its heading style."""
    lines = []
    for number, line in enumerate(text.strip().split("\n"), start=1):
        level = len(line) - len(line.lstrip("#"))
        lines.append(Line(f"law:{number}", line[level:].strip(), level))
    return read_outline(lines, LinePatterns(language), title)


def found(outline):
    return [(article.number, article.rubric, article.text, article.path) for article in outline.articles]


def test_what_stands_below_an_article_line_is_its_text():
    outline = outline_of(
        """
        Dog Act
        Part 1 Dogs
        Section 1 Dogs bark
        (1) A dog may bark.
        (2) Section 2 applies.
        Section 2 Cats
        A cat may not.
        """
    )
    assert outline.title == "Dog Act"
    assert found(outline) == [
        ("Section 1", "Dogs bark", "(1) A dog may bark.\n(2) Section 2 applies.", ("Part 1 Dogs",)),
        ("Section 2", "Cats", "A cat may not.", ("Part 1 Dogs",)),
    ]
    assert [article.place for article in outline.articles] == ["law:3", "law:6"]
    assert [article.local_id for article in outline.articles] == ["1", "2"]


LOWER = """
Sec. 3 definitions
A dog is a dog.
Sec. 4 duties of the owner
Section 3 of this Act applies to cats.
Sec. 5 fees
"""


def test_rubrics_may_begin_in_lower_case_where_their_numbers_are_in_order():
    text = f"{LOWER}None.\nSec. 6 date\nToday."
    assert [article.local_id for article in outline_of(text).articles] == ["3", "4", "5", "6"]
    assert outline_of(text).articles[1].text == "Section 3 of this Act applies to cats."
    assert (
        outline_of("Section 9 Dogs\nBark as\nsection 3 says\nSection 7 of this Act").articles[0].number == "Section 9"
    )
    for unordered in (LOWER.replace("Sec. 5", "Sec. 2"), f"Section 7 Dogs\nBark.\nSection 8 Cats\nNo.\n{LOWER}"):
        assert "Sec. 4" not in [article.number for article in outline_of(unordered).articles]


def test_numbers_alone_go_on_behind_a_row_that_begins_as_an_article():
    text = "1 Dogs bark.\n2 At the end insert:\nSection 144 | False\nSection 148 | Hidden\n3 (A1) Cats.\n4 Owls."
    assert [article.number for article in outline_of(text).articles] == [
        "1",
        "2",
        "Section 144",
        "Section 148",
        "3",
        "4",
    ]
    paragraphs = f"{text}\nSection 5 Dogs\n1 One.\n6 Two."
    assert outline_of(paragraphs).articles[-1].text == "Dogs\n1 One.\n6 Two."


def test_the_parts_of_an_annex_that_have_texts_and_no_articles_are_articles():
    text = (
        "Section 1 Dogs\nBark.\nSchedule 1 Standards\nPart 1\nLETTERS\nStandard 1 | Bark.\nPart 2\nCALLS\n"
        "Standard 2 | No.\nSchedule 2 Forms\nPart 1\nSection 1 Form\nBark here."
    )
    assert found(outline_of(text, title="Law"))[1:] == [
        ("Part 1", "LETTERS", "Standard 1 | Bark.", ("Schedule 1 Standards",)),
        ("Part 2", "CALLS", "Standard 2 | No.", ("Schedule 1 Standards",)),
        ("Section 1", "Form", "Bark here.", ("Schedule 2 Forms", "Part 1")),
    ]


def test_rubrics_stand_among_texts_where_half_of_the_articles_have_one():
    text = (
        "Art. 1 Hunde\nSie bellen.\nArt. 2 Katzen bellen nicht.\nArt. 3 Eulen\nNein.\nArt. 4 Rinder\nDoch.\n"
        "Art. 5 1 Für sie gilt:\na."
    )
    rubrics = [article.rubric for article in outline_of(text, "de").articles]
    assert rubrics == ["Hunde", "", "Eulen", "Rinder", ""]


@pytest.mark.parametrize(
    ("language", "text", "articles"),
    [
        # Rubrics on the line of the number: all have a text below.
        ("es", "Artículo 1. Perros.\nLadran.\nArtículo 2. Gatos.\nNo.", ["Perros: Ladran.", "Gatos: No."]),
        # Texts on the line of the number: not all have one.
        ("pt", "Art. 1º O cão late:\na) alto.\nArt. 2º Não.", [": O cão late:\na) alto.", ": Não."]),
        # Rubrics on a line of their own.
        ("en", "Article 1\nDogs\nThey bark.\nArticle 2\nCats\nNo.", ["Dogs: They bark.", "Cats: No."]),
        # No rubrics.
        ("fr", "Article 1\nLe chien aboie.\nArticle 2\nLe chat,\nnon.", [": Le chien aboie.", ": Le chat,\nnon."]),
        # Rubrics in brackets, before a dash, as first sentences.
        ("it", "Art. 1. (Cane). Il cane abbaia.\nArt. 2. No.", ["Cane: Il cane abbaia.", ": No."]),
        ("zh", "第一条 【狗】 狗叫。\n第二条 猫不叫。", ["狗: 狗叫。", ": 猫不叫。"]),
        ("en", "Section 1. Dogs.—(1) They bark.\nSection 2. Cats.—No.", ["Dogs: (1) They bark.", "Cats: No."]),
        # What another act changed is no rubric.
        ("fi", "1 § (30.12.2003/1321)\nKoirat\nNe haukkuvat.\n2 §\nKissat\nEi.\n3 § on kumottu L:lla 12.4.2013/262.",
         ["Koirat: (30.12.2003/1321)\nNe haukkuvat.", "Kissat: Ei."]),
        ("pt", "Art. 1º (Redação dada pela Lei nº 12.744, de 2012) O cão late.\nArt. 2º Não.",
         [": (Redação dada pela Lei nº 12.744, de 2012) O cão late.", ": Não."]),
        ("es", "ARTÍCULO 1. Perros. Ladran.\nARTÍCULO 2. Gatos. No.", ["Perros: Ladran.", "Gatos: No."]),
    ],
)  # fmt: skip
def test_rubrics_and_texts_are_separated_for_the_whole_document(language, text, articles):
    outline = outline_of(text, language, title="Law")
    assert [f"{article.rubric}: {article.text}" for article in outline.articles] == articles


@pytest.mark.parametrize(
    ("language", "text", "articles"),
    [
        # Each heading is below those of the kinds met before.
        (
            "es",
            "TÍTULO I\nDe los perros\nCAPÍTULO I Grandes\nArtículo 1\nLadran.\nCAPÍTULO II Pequeños\nArtículo 2\nNo.\n"
            "TÍTULO II De los gatos\nArtículo 3\nMaúllan.",
            [
                ("1", "TÍTULO I. De los perros", "CAPÍTULO I Grandes"),
                ("2", "TÍTULO I. De los perros", "CAPÍTULO II Pequeños"),
                ("3", "TÍTULO II De los gatos"),
            ],
        ),
        # Styles give the levels; a chapter in the style of its title is below it.
        (
            "en",
            "# Dog Act\n## Barking\n### Section 1 Dogs\nBark.\n## Biting\n### Section 2\nNo.",
            [("1", "Barking"), ("2", "Biting")],
        ),
        (
            "en",
            "# Title 1\n# Chapter 1\nArticle 1\nDogs.\n# Chapter 2\nArticle 2\nCats.\n# Title 2\nArticle 3\nNo.",
            [("1", "Title 1", "Chapter 1"), ("2", "Title 1", "Chapter 2"), ("3", "Title 2")],
        ),
        # Headings with a text are articles where no line begins one, and articles that hold sections are headings.
        (
            "en",
            "# House Rules\n## Pets\n### 1.1 Dogs\nNo dogs.\n### Cats\nOne cat.",
            [("1-1", "Pets"), ("cats", "Pets")],
        ),
        (
            "en",
            "Article I Dogs\nSection 1\nBark.\nSection 2\nBite.\nArticle II Cats\nSection 3\nNo.",
            [("1", "Article I Dogs"), ("2", "Article I Dogs"), ("3", "Article II Cats")],
        ),
        # An annex with articles is a heading.
        (
            "en",
            "Part 1\nArticle 1\nDogs bark.\nAnnex\nCats\nArticle 1\nNo cat barks.",
            [("1", "Part 1"), ("1_2", "Annex. Cats")],
        ),
    ],
)
def test_articles_stand_below_their_headings(language, text, articles):
    outline = outline_of(text, language)
    assert [(article.local_id, *article.path) for article in outline.articles] == articles


def test_numbers_alone_begin_articles_where_they_go_on_from_one_to_the_next():
    law = "Part 1\n1 Dogs\n(1) They bark.\n2 Cats\nNo.\n2A Birds\nThey sing.\n3 Fish\nNo."
    assert [(article.number, article.rubric) for article in outline_of(law).articles] == [
        ("1", "Dogs"), ("2", "Cats"), ("2A", "Birds"), ("3", "Fish"),
    ]  # fmt: skip
    assert outline_of(law.replace("2A Birds", "1 Birds").replace("3 Fish", "2 Fish")).articles == []


def test_numbers_alone_begin_articles_beside_the_articles_of_a_schedule():
    """As in an act of the United Kingdom that has a convention in a schedule."""
    outline = outline_of(
        "Dog Act\n1 Dogs.\n(1) They bark.\n2 Cats.\nNo.\n3 Birds.\nSection 1 (which is about dogs) is amended."
        "\n4 End.\nThis is it.\nSCHEDULE 1\nThe Convention\nArticle 2\nRight to bark\n1 Everyone barks.\n2 Always.\n"
        "SCHEDULE 2\nOrders\n1 An order may—\n(a) bark.\n2 No order bites."
    )
    above = [("SCHEDULE 1. The Convention",), ("SCHEDULE 2. Orders",), ("SCHEDULE 2. Orders",)]
    assert [(article.number, article.rubric, article.path) for article in outline.articles] == [
        ("1", "Dogs", ()), ("2", "Cats", ()), ("3", "Birds", ()), ("4", "End", ()),
        ("Article 2", "Right to bark", above[0]), ("1", "", above[1]), ("2", "", above[2]),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("language", "text", "articles"),
    [
        ("en", "PART 1 Dogs\nBarking\n1 A dog barks.\nBiting\n2 (1) No dog bites.\n(2) Never.\n3 End.\nTails\n4 Yes.",
         ["Barking: A dog barks.", "Biting: (1) No dog bites.\n(2) Never.", ": End.", "Tails: Yes."]),
        ("ja", "第一章 犬\n（鳴声）\n第一条 犬は吠える。\n（尾）\n第二条 尾は短い。\n（耳）\n第二条の二 耳は長い。",
         ["鳴声: 犬は吠える。", "尾: 尾は短い。", "耳: 耳は長い。"]),
        # In brackets stands what another act changed.
        ("tr", "BİRİNCİ BÖLÜM\nKöpek\nSes\nMadde 1 – Köpek havlar.\nKuyruk\nMadde 2 – (Ek: 9/7/2021-7332/3 md.) Kısa."
         "\nKulak\nMadde 3 – Uzundur.\nMadde 4 – (Mülga: 11/6/2010-5996/47 md.)\nBurun\nMadde 5 – Islaktır.",
         ["Ses: Köpek havlar.", "Kuyruk: (Ek: 9/7/2021-7332/3 md.) Kısa.", "Kulak: Uzundur.", "Burun: Islaktır."]),
    ],
)  # fmt: skip
def test_rubrics_stand_above_the_numbers_of_most_articles(language, text, articles):
    outline = outline_of(text, language, title="Law")
    assert [f"{article.rubric}: {article.text}" for article in outline.articles] == articles


def test_annexes_and_final_provisions_are_articles_outside_the_headings():
    outline = outline_of(
        "TÍTULO I\nArtículo 1. Perros\nLadran.\nDisposición final primera. Gatos\nNo.\nANEXO I\nTabla\nperro | 5",
        "es",
        "Ley",
    )
    assert found(outline)[1:] == [
        ("Disposición final primera", "Gatos", "No.", ()),
        ("ANEXO I", "", "Tabla\nperro | 5", ()),
    ]
    assert [article.local_id for article in outline.articles] == ["1", "disposición-final-primera", "anexo-i"]


def test_a_table_of_contents_is_left_out():
    contents = "Part 1 Dogs\nSection 1 Barking\nSection 2 Biting ..... 3\n"
    outline = outline_of(f"Act\n{contents}Part 1 Dogs\nSection 1 Barking\nBark.\nSection 2 Biting\nNo.")
    assert found(outline) == [
        ("Section 1", "Barking", "Bark.", ("Part 1 Dogs",)), ("Section 2", "Biting", "No.", ("Part 1 Dogs",)),
    ]  # fmt: skip
    assert [text for rule, text in outline.parts if rule == CONTENTS] == contents.rstrip().split("\n")


def test_an_article_of_one_line_whose_number_comes_again_is_no_contents():
    outline = outline_of("Art. 1 Dogs bark.\nArt. 2 Cats do not.\nAnnex\nArt. 1 Birds\n(a) sing;\n(b) fly.")
    assert [article.local_id for article in outline.articles] == ["1", "2", "1_2"]


def test_what_is_left_out_is_recognised_as_that():
    outline = outline_of(
        "Act\nWhereas dogs bark.\nPart 1 Dogs\nAll of them.\nBig ones;\nSection 1\nBark.\nSection 2 (Repealed)"
    )
    assert [(rule, text) for rule, text in outline.parts if text] == [
        (KEPT, "Act"), (PREAMBLE, "Whereas dogs bark."), (KEPT, "Part 1 Dogs"), (PREAMBLE, "All of them."),
        (PREAMBLE, "Big ones;"), (KEPT, "Section 1"), (KEPT, "Bark."), (REPEALED, "Section 2"),
        (REPEALED, "(Repealed)"),
    ]  # fmt: skip


@pytest.mark.parametrize("text", ["", "Dogs bark.", "Section 1", "# Dogs", "Annex"])
def test_documents_without_articles(text):
    assert outline_of(text).articles == []
