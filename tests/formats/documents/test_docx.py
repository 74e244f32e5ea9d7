import docx
import pytest
from docx.enum.text import WD_BREAK
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls

from statgraph.formats.documents.docx import FORMAT as DOCX
from statgraph.formats.documents.docx import read_docx


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
