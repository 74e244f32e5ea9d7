import docx
import pytest
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls

from statgraph.formats.documents import docx as docx_reader
from statgraph.formats.documents.docx import read_docx, walk_docx


@pytest.fixture
def document():
    return docx.Document()


@pytest.fixture
def read(draft, tmp_path, document):
    """Return a function that appends XML to the document's body, saves it and returns it as it is read."""

    def read(*blocks):
        for block in blocks:
            body = parse_xml(f"<w:body {NAMESPACES}>{block}</w:body>")
            for element in list(body):
                document.element.body.sectPr.addprevious(element)
        document.save(str(tmp_path / "law.docx"))
        return read_docx(draft, tmp_path / "law.docx", "law.docx")

    return read


OFFICE = "http://schemas.openxmlformats.org"
NAMESPACES = (
    f'{nsdecls("w", "wp", "a")} xmlns:m="{OFFICE}/officeDocument/2006/math" xmlns:v="urn:schemas-microsoft-com:vml" '
    f'xmlns:mc="{OFFICE}/markup-compatibility/2006" '
    'xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape"'
)


def run(text, properties=""):
    return f'<w:r><w:rPr>{properties}</w:rPr><w:t xml:space="preserve">{text}</w:t></w:r>'


def p(*runs, properties=""):
    runs = "".join(text if text.startswith("<") else run(text) for text in runs)
    return f"<w:p><w:pPr>{properties}</w:pPr>{runs}</w:p>"


def sdt(content, properties=""):
    return f"<w:sdt><w:sdtPr>{properties}</w:sdtPr><w:sdtContent>{content}</w:sdtContent></w:sdt>"


def row(*cells):
    return f"<w:tr>{''.join(cells)}</w:tr>"


def cell(content, properties=""):
    return f"<w:tc><w:tcPr>{properties}</w:tcPr>{content if content.startswith('<') else p(content)}</w:tc>"


UP, DOWN = '<w:vertAlign w:val="superscript"/>', '<w:vertAlign w:val="subscript"/>'


def texts(document):
    return [line.text for line in document.lines]


def test_headings_have_the_levels_of_their_styles(document, read):
    document.add_heading("Part 1", 1)
    document.add_heading("Section 1", 3)
    document.add_paragraph("Dogs bark.")
    own = document.add_paragraph("Section 2")
    own._p.get_or_add_pPr().append(parse_xml(f'<w:outlineLvl {nsdecls("w")} w:val="1"/>'))
    based = document.styles.add_style("Mine", 1)
    based.base_style = document.styles["Heading 2"]
    document.add_paragraph("Part 2", style="Mine")
    assert [(line.text, line.level) for line in read().lines] == [
        ("Part 1", 1), ("Section 1", 3), ("Dogs bark.", 0), ("Section 2", 2), ("Part 2", 2),
    ]  # fmt: skip


def test_the_title_is_that_of_the_document(document, read):
    document.add_paragraph("Dog Act", style="Title")
    law = read(p("Dogs bark."))
    assert (law.title, [line.place for line in law.lines]) == ("Dog Act", ["law.docx:2"])


def lists(*lists, level='<w:numFmt w:val="lowerLetter"/><w:lvlText w:val="(%1)"/>', abstract=""):
    """Return the XML of a list definition and of the lists that share it."""
    levels = "".join(
        f'<w:lvl w:ilvl="{n}"><w:start w:val="1"/>{one}</w:lvl>'
        for n, one in enumerate([level] if isinstance(level, str) else level)
    )
    yield f'<w:abstractNum {nsdecls("w")} w:abstractNumId="70">{abstract}{levels}</w:abstractNum>'
    for number, overrides in enumerate(lists, start=71):
        yield f'<w:num {nsdecls("w")} w:numId="{number}"><w:abstractNumId w:val="70"/>{overrides}</w:num>'


def items(*numbers):
    """Return a paragraph for each (list, level)."""
    return "".join(
        p("x", properties=f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="{number}"/></w:numPr>')
        for number, level in numbers
    )


RESTART = '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="{}"/></w:lvlOverride>'
ROMAN = '<w:numFmt w:val="upperRoman"/><w:lvlText w:val="%1."/>'
NEVER = '<w:lvlRestart w:val="0"/><w:numFmt w:val="decimal"/><w:lvlText w:val="§ %2"/>'
BULLET = '<w:numFmt w:val="bullet"/><w:lvlText w:val="•"/>'
SECTIONS = (
    '<w:numFmt w:val="decimal"/><w:lvlText w:val="Section %1"/>',
    '<w:numFmt w:val="lowerLetter"/><w:lvlText w:val="%2)"/>',
    '<w:numFmt w:val="upperRoman"/><w:lvlText w:val="%1.%3"/>',
    BULLET,
)
LEGAL = '<w:numFmt w:val="decimal"/><w:isLgl/><w:lvlText w:val="%1.%2"/>'
OWN = '<w:lvl w:ilvl="0"><w:numFmt w:val="decimal"/><w:lvlText w:val="%1)"/></w:lvl>'


@pytest.mark.parametrize(
    ("numbering", "numbers", "marks"),
    [
        (lists("", level=SECTIONS), [(71, level) for level in (0, 1, 1, 0, 1, 2, 3)],
         "Section 1 a) b) Section 2 a) 2.I -"),
        (lists("", RESTART.format(1)), [(71, 0), (71, 0), (72, 0), (72, 0), (71, 0)], "(a) (b) (a) (b) (c)"),
        (lists("", ""), [(71, 0), (72, 0)], "(a) (b)"),
        (lists(RESTART.format(3)), [(71, 0), (71, 0)], "(c) (d)"),
        (lists("", f'<w:lvlOverride w:ilvl="0">{OWN}</w:lvlOverride>'), [(71, 0), (72, 0)], "(a) 2)"),
        (lists("", level=(ROMAN, NEVER)), [(71, 0), (71, 1), (71, 1), (71, 0), (71, 1)], "I. § 1 § 2 II. § 3"),
        (lists("", level=(ROMAN, LEGAL)), [(71, 0), (71, 1), (71, 0), (71, 1)], "I. 1.1 II. 2.1"),
    ],
)  # fmt: skip
def test_lists_begin_again_and_go_on(document, read, numbering, numbers, marks):
    for part in numbering:
        element = parse_xml(part)
        place = 0 if "abstractNum " in part else len(document.part.numbering_part.element)
        document.part.numbering_part.element.insert(place, element)
    assert " ".join(text.removesuffix(" x") for text in texts(read(items(*numbers)))) == marks


def test_content_controls_hold_blocks_rows_cells_and_words(read):
    law = read(
        sdt(p("Section 1") + sdt(p("Dogs"))),
        p("A ", sdt(run("big")), " dog"),
        f"<w:tbl>{sdt(row(cell('a'), sdt(cell('b'))))}</w:tbl>",
        f'<w:customXml w:element="x">{p("Cats")}</w:customXml>',
    )
    assert texts(law) == ["Section 1", "Dogs", "A big dog", "a | b", "Cats"]
    assert [line.place for line in law.lines] == [f"law.docx:{place}" for place in (1, 2, 3, 4, 6)]


FRACTION = "<m:f><m:num><m:r><m:t>5</m:t></m:r></m:num><m:den><m:r><m:t>2</m:t></m:r></m:den></m:f>"


@pytest.mark.parametrize(
    ("runs", "text"),
    [
        (["Art. 22", run("1", UP), ". Dogs"], "Art. 22¹. Dogs"),
        (["10", run("-", UP), run("6", UP), " H", run("2", DOWN), "O"], "10⁻⁶ H2O"),
        (["1", run("er", UP)], "1er"),
        (["2", run("1", UP), "/", run("2", DOWN), " m"], "2 1/2 m"),
        (["22", run("1", '<w:rStyle w:val="Raised"/>')], "22¹"),
        (["22", run("1", '<w:position w:val="6"/>'), run("0", '<w:position w:val="0"/>')], "22¹0"),
        ([run("All is raised", UP)], "All is raised"),
        (["Cafe\u0301"], "Café"),
        ([f'<w:hyperlink w:anchor="n">{run("Art. 22")}{run("1", UP)}</w:hyperlink>', " &lt;b&gt; &amp;amp;"],
         "Art. 22¹ <b> &amp;"),
        (["x=", f"<m:oMath>{FRACTION}</m:oMath>", " m"], "x=5/2 m"),
        (["§", '<w:r><w:sym w:font="Symbol" w:char="F061"/><w:sym w:font="Arial" w:char="F0A7"/></w:r>'], "§α§"),
        (["Section 1", "<w:r><w:br/></w:r>", "Dogs"], "Section 1\nDogs"),
        (["a", "<w:r><w:noBreakHyphen/><w:tab/></w:r>", "b"], "a-\tb"),
        (["in ", f'<w:smartTag w:element="City">{run("Rome")}</w:smartTag>', f"<w:hyperlink>{run(' x')}</w:hyperlink>"],
         "in Rome x"),
        (["a ", f"<w:moveTo>{run('b')}</w:moveTo>", f"<w:ins>{run(' c')}</w:ins>"], "a b c"),
        ([f"<w:ruby><w:rubyPr/><w:rt>{run('b')}</w:rt><w:rubyBase>{run('a')}</w:rubyBase></w:ruby>"], "a"),
    ],
)  # fmt: skip
def test_words_of_a_paragraph(document, read, runs, text):
    document.styles.add_style("Raised", 2).font.superscript = True
    assert texts(read(p(*runs))) == text.split("\n")


def test_what_is_left_out_is_reported(document, read, draft, tmp_path):
    document.sections[0].header.paragraphs[0].text = "Gazette"
    document.sections[0].footer.paragraphs[0].text = "page"
    document.add_comment(document.add_paragraph("Dogs").runs, "Really?")
    deleted = "<w:del><w:r><w:delText>no </w:delText></w:r></w:del>"
    own = '<w:r><w:footnoteReference w:customMarkFollows="1" w:id="1"/><w:t>*</w:t></w:r>'
    mark = f'<w:hyperlink w:anchor="n">{run("3", UP)}</w:hyperlink>'
    law = read(
        sdt(p("Contents") + p("Dogs 1"), '<w:docPartObj><w:docPartGallery w:val="Table of Contents"/></w:docPartObj>'),
        p("A ", deleted, f"<w:moveFrom>{run('old ')}</w:moveFrom>", "dog", mark, own),
        p(deleted, properties="<w:rPr><w:del/></w:rPr>"),
    )
    assert texts(law) == ["Dogs", "A dog"]
    assert sorted(law.left_out) == [
        ("contents", "Contents"), ("contents", "Dogs 1"), ("deleted text", "no "), ("deleted text", "no "),
        ("deleted text", "old "), ("heads and feet of pages", "Gazette"), ("heads and feet of pages", "page"),
        ("notes", "*"), ("notes", "3"), ("notes", "Really?"),
    ]  # fmt: skip
    walked = [piece for piece in walk_docx(draft, tmp_path / "law.docx", "law.docx") if piece[1].strip()]
    assert ("law.docx:1", "Dogs") in walked
    assert ("law.docx[header1]:1", "Gazette") in walked
    assert [text for place, text in walked if place == "law.docx:4"] == ["A ", "no ", "old ", "dog", "3", "*"]


def test_contents_are_told_by_their_style(document, read):
    document.styles.add_style("toc 1", 1)
    document.add_paragraph("Section 1\t7", style="toc 1")
    law = read(p("Dogs"))
    assert (texts(law), law.left_out) == (["Dogs"], [("contents", "Section 1\t7")])


def test_text_boxes_are_read_once(draft, read, tmp_path):
    box = f"<w:txbxContent>{p('In a box')}</w:txbxContent>"
    shape = (
        f"<w:r><mc:AlternateContent><mc:Choice Requires='wps'><wps:txbx>{box}</wps:txbx></mc:Choice>"
        f"<mc:Fallback><w:pict><v:textbox>{box}</v:textbox></w:pict></mc:Fallback></mc:AlternateContent></w:r>"
    )
    assert texts(read(p("Dogs", shape), p("Cats"))) == ["Dogs", "In a box", "Cats"]
    assert [text for _, text in walk_docx(draft, tmp_path / "law.docx", "law.docx")][:3] == ["Dogs", "In a box", "Cats"]


def test_tables_hold_data_or_lay_out_a_page(read):
    both, below = '<w:vMerge w:val="restart"/>', "<w:vMerge/>"
    heading = '<w:outlineLvl w:val="1"/>'
    inner = f"<w:tbl>{row(cell('a'), cell('b'))}</w:tbl>"
    wide = '<w:gridSpan w:val="2"/>'
    law = read(
        f"<w:tbl>{row(cell('Dogs', both), cell(p('5') + p('6')))}{row(cell('', below), cell('7'))}</w:tbl>",
        f"<w:tbl>{row(cell('a'), cell('b'), cell('c', both))}{row(cell('all', wide), cell('', below))}</w:tbl>",
        f"<w:tbl>{row(cell('Menu'), cell(p('Cats') + inner + p('!')))}</w:tbl>",
        f"<w:tbl>{row(cell(p('one') + p('two')))}</w:tbl>",
        f"<w:tbl>{row(cell(p('Owls', properties=heading)), cell('hoot'))}</w:tbl>",
    )
    assert texts(law) == [
        "Dogs | 5 6", "Dogs | 7", "a | b | c", "all | c", "Menu", "Cats", "a | b", "!", "one", "two", "Owls", "hoot",
    ]  # fmt: skip


def test_a_paragraph_that_the_reader_drops_is_missed(document, tmp_path, without_lines):
    document.add_heading("Section 1 Barking", 2)
    document.add_paragraph("A dog may bark.")
    document.add_table(1, 2).cell(0, 1).text = "5 crowns"
    for element in (
        sdt(p("It may bite at 10", run("2", UP), " degrees.")),
        p("Ha", "lf: ", f"<m:oMath>{FRACTION}</m:oMath>"),
    ):
        document.element.body.sectPr.addprevious(parse_xml(f"<w:x {NAMESPACES}>{element}</w:x>")[0])
    document.save(str(tmp_path / "law.docx"))
    corpus = without_lines(docx_reader, read_docx, walk_docx, tmp_path / "law.docx", "bite", "law.docx:5")
    assert corpus.articles[0].text == "A dog may bark.\n| 5 crowns\nHalf: 5/2"


@pytest.mark.parametrize("part", ["document.xml", "styles.xml"])
def test_damaged_xml_is_one_line(draft, document, recorded, damage, tmp_path, part):
    document.save(str(tmp_path / "good.docx"))
    damage(tmp_path / "good.docx", part, tmp_path / "law.docx")
    assert read_docx(draft, tmp_path / "law.docx", "law.docx") is None
    (said,) = recorded()
    assert said.startswith("law.docx: cannot be read as .docx (")
    assert "\n" not in said
