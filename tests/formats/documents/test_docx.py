import docx
import pytest
from docx.enum.text import WD_BREAK
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls

from statgraph.formats.documents import docx as docx_reader
from statgraph.formats.documents.docx import FORMAT as DOCX
from statgraph.formats.documents.docx import read_docx, walk_docx


@pytest.fixture
def document():
    return docx.Document()


@pytest.fixture
def lines_of(draft, tmp_path, document):
    """Return a function that saves the document and returns its (text, level)."""

    def read():
        document.save(str(tmp_path / "law.docx"))
        return [(line.text, line.level) for line in read_docx(draft, tmp_path / "law.docx", "law.docx").lines]

    return read


@pytest.fixture
def read(draft, tmp_path, document):
    """Return a function that appends XML to the document's body and returns it as it is read."""

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


def test_headings_have_the_levels_of_their_styles(document, lines_of):
    document.add_heading("Part 1", 1)
    document.add_heading("Section 1", 3)
    document.add_paragraph("Dogs bark.")
    own = document.add_paragraph("Section 2")
    own._p.get_or_add_pPr().append(parse_xml(f'<w:outlineLvl {nsdecls("w")} w:val="1"/>'))
    based = document.styles.add_style("Mine", 1)
    based.base_style = document.styles["Heading 2"]
    document.add_paragraph("Part 2", style="Mine")
    assert lines_of() == [("Part 1", 1), ("Section 1", 3), ("Dogs bark.", 0), ("Section 2", 2), ("Part 2", 2)]


def test_the_title_is_that_of_the_document(draft, document, tmp_path):
    document.add_paragraph("Dog Act", style="Title")
    document.add_paragraph("Dogs bark.")
    document.save(str(tmp_path / "law.docx"))
    read = read_docx(draft, tmp_path / "law.docx", "law.docx")
    assert (read.title, [line.place for line in read.lines]) == ("Dog Act", ["law.docx:2"])


def test_breaks_begin_lines_and_deleted_text_is_left_out(document, lines_of):
    paragraph = document.add_paragraph("Section 1")
    paragraph.add_run().add_break(WD_BREAK.LINE)
    paragraph.add_run("Dogs\tbark")
    kept = '<w:ins {0}><w:r><w:t xml:space="preserve"> loudly</w:t></w:r></w:ins>'
    deleted = "<w:del {0}><w:r><w:delText> softly</w:delText></w:r></w:del>"
    for change in (kept, deleted):
        paragraph._p.append(parse_xml(change.format(nsdecls("w"))))
    assert lines_of() == [("Section 1", 0), ("Dogs\tbark loudly", 0)]


def test_rows_of_tables_are_lines_and_spanning_cells_are_there_once(document, lines_of):
    table = document.add_table(rows=2, cols=3)
    for cell, text in zip(table.rows[0].cells, ("Dog", "Size", "Fee"), strict=True):
        cell.text = text
    table.cell(1, 0).merge(table.cell(1, 1)).text = "all\ndogs"
    table.cell(1, 2).text = "5"
    assert lines_of() == [("Dog | Size | Fee", 0), ("all dogs | 5", 0)]


LEVELS = {0: ("decimal", "Section %1"), 1: ("lowerLetter", "%2)"), 2: ("upperRoman", "%1.%3"), 3: ("bullet", "•")}


def test_numbers_of_lists_are_those_that_are_printed(document, lines_of):
    numbering = document.part.numbering_part.element
    levels = "".join(
        f'<w:lvl w:ilvl="{level}"><w:start w:val="1"/><w:numFmt w:val="{kind}"/><w:lvlText w:val="{text}"/></w:lvl>'
        for level, (kind, text) in LEVELS.items()
    )
    numbering.insert(0, parse_xml(f'<w:abstractNum {nsdecls("w")} w:abstractNumId="77">{levels}</w:abstractNum>'))
    numbering.append(parse_xml(f'<w:num {nsdecls("w")} w:numId="77"><w:abstractNumId w:val="77"/></w:num>'))
    for level, text in ((0, "Dogs"), (1, "big"), (1, "small"), (0, "Cats"), (1, "all"), (2, "four"), (3, "one")):
        numbered = f'<w:numPr {nsdecls("w")}><w:ilvl w:val="{level}"/><w:numId w:val="77"/></w:numPr>'
        document.add_paragraph(text)._p.get_or_add_pPr().append(parse_xml(numbered))
    assert [text for text, _ in lines_of()] == [
        "Section 1 Dogs", "a) big", "b) small", "Section 2 Cats", "a) all", "2.I four", "- one",
    ]  # fmt: skip


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
LEGAL = '<w:numFmt w:val="decimal"/><w:isLgl/><w:lvlText w:val="%1.%2"/>'
OWN = '<w:lvl w:ilvl="0"><w:numFmt w:val="decimal"/><w:lvlText w:val="%1)"/></w:lvl>'


@pytest.mark.parametrize(
    ("numbering", "numbers", "marks"),
    [
        (lists("", RESTART.format(1)), [(71, 0), (71, 0), (72, 0), (72, 0), (71, 0)], "(a) (b) (a) (b) (c)"),
        (lists("", ""), [(71, 0), (72, 0)], "(a) (b)"),
        (lists(RESTART.format(3)), [(71, 0), (71, 0)], "(c) (d)"),
        (lists("", f'<w:lvlOverride w:ilvl="0">{OWN}</w:lvlOverride>'), [(71, 0), (72, 0)], "(a) 2)"),
        (lists("", level=(ROMAN, NEVER)), [(71, 0), (71, 1), (71, 1), (71, 0), (71, 1)], "I. § 1 § 2 II. § 3"),
        (lists("", level=(ROMAN, LEGAL)), [(71, 0), (71, 1), (71, 0), (71, 1)], "I. 1.1 II. 2.1"),
    ],
)
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
        (["a", "<w:r><w:noBreakHyphen/><w:tab/></w:r>", "b"], "a-\tb"),
        (["in ", f'<w:smartTag w:element="City">{run("Rome")}</w:smartTag>', f"<w:hyperlink>{run(' x')}</w:hyperlink>"],
         "in Rome x"),
        (["a ", f"<w:moveTo>{run('b')}</w:moveTo>", f"<w:ins>{run(' c')}</w:ins>"], "a b c"),
        ([f"<w:ruby><w:rubyPr/><w:rt>{run('b')}</w:rt><w:rubyBase>{run('a')}</w:rubyBase></w:ruby>"], "a"),
    ],
)  # fmt: skip
def test_words_of_a_paragraph(document, read, runs, text):
    document.styles.add_style("Raised", 2).font.superscript = True
    assert texts(read(p(*runs))) == [text]


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
    law = read(
        f"<w:tbl>{row(cell('Dogs', both), cell(p('5') + p('6')))}{row(cell('', below), cell('7'))}</w:tbl>",
        f"<w:tbl>{row(cell('Menu'), cell(p('Cats') + inner + p('!')))}</w:tbl>",
        f"<w:tbl>{row(cell(p('one') + p('two')))}</w:tbl>",
        f"<w:tbl>{row(cell(p('Owls', properties=heading)), cell('hoot'))}</w:tbl>",
    )
    assert texts(law) == [
        "Dogs | 5 6", "Dogs | 7", "Menu", "Cats", "a | b", "!", "one", "two", "Owls", "hoot",
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


def test_a_document_becomes_articles(draft, document, tmp_path):
    document.add_paragraph("Dog Act", style="Title")
    document.add_heading("Section 1 Barking", 2)
    document.add_paragraph("at night", style="List Bullet")
    document.save(str(tmp_path / "law.docx"))
    DOCX.fill(draft, tmp_path / "law.docx")
    (article,) = draft.corpus().articles
    assert (article.title, article.rubric, article.text) == ("Section 1, Dog Act", "Barking", "- at night")


@pytest.mark.parametrize("part", ["document.xml", "styles.xml"])
def test_damaged_xml_is_one_line(draft, document, recorded, tmp_path, part):
    import zipfile

    document.save(str(tmp_path / "good.docx"))
    with zipfile.ZipFile(tmp_path / "good.docx") as good, zipfile.ZipFile(tmp_path / "law.docx", "w") as bad:
        for name in good.namelist():
            bad.writestr(name, b"<broken" if name.endswith(part) else good.read(name))
    assert read_docx(draft, tmp_path / "law.docx", "law.docx") is None
    (said,) = recorded()
    assert said.startswith("law.docx: cannot be read as .docx (")
    assert "\n" not in said
