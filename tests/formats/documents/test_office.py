import zipfile

import pytest
from lxml import etree

from statgraph.formats.documents import office
from statgraph.formats.documents.docx import read_docx
from statgraph.formats.documents.office import formula, symbol

PART = "word/document.xml"


def archive(path, content, name=PART):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr(name, content)


def test_an_archive_is_checked_before_it_is_unpacked(tmp_path, monkeypatch):
    law = tmp_path / "law.docx"
    archive(law, "<a/>")
    assert office.archive_problem(law, PART) == ""
    archive(law, "<a/>", "other.xml")
    assert office.archive_problem(law, PART).startswith("holds no word/document.xml, ")
    monkeypatch.setattr(office, "MAX_UNPACKED_BYTES", 8 << 20)
    archive(law, b"x" * (9 << 20))
    assert law.stat().st_size < 1 << 17
    assert office.archive_problem(law, PART) == "unpacks to 9 MiB, and at most 8 are read; split it"


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"\xd0\xcf\x11\xe0 rest", "is protected by a password or of an old format; open it and save it as .docx"),
        (b"PK\x03\x04 rest", "is damaged (File is not a zip file); save it again"),
        (b"", "is damaged (File is not a zip file); save it again"),
    ],
)
def test_what_is_no_archive_is_refused(draft, recorded, tmp_path, content, problem):
    (tmp_path / "law.docx").write_bytes(content)
    assert read_docx(draft, tmp_path / "law.docx", "law.docx") is None
    assert recorded() == [f"law.docx: {problem}"]


M = 'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'


def r(text):
    return f"<m:r><m:t>{text}</m:t></m:r>"


def e(text, tag="e"):
    return f"<m:{tag}>{r(text)}</m:{tag}>"


@pytest.mark.parametrize(
    ("math", "text"),
    [
        (f"{r('x=')}<m:f>{e('a+b', 'num')}{e('2', 'den')}</m:f>", "x=(a+b)/2"),
        (f"<m:sSup>{e('r')}{e('2', 'sup')}</m:sSup>", "r²"),
        (f"<m:sSub>{e('r')}{e('2', 'sub')}</m:sSub>", "r2"),
        (f"<m:sSubSup>{e('r')}{e('i', 'sub')}{e('k', 'sup')}</m:sSubSup>", "ri^k"),
        (f"<m:rad>{e('3', 'deg')}{e('x')}</m:rad>", "³√(x)"),
        (f"<m:d>{e('x')}</m:d>", "(x)"),
        (f'<m:d><m:dPr><m:begChr m:val="["/><m:endChr m:val="]"/></m:dPr>{e("x")}{e("y")}</m:d>', "[x|y]"),
        (f'<m:nary><m:naryPr><m:chr m:val="∑"/></m:naryPr>{e("i", "sub")}{e("n", "sup")}{e("x")}</m:nary>', "∑iⁿ x"),
        (f"<m:m><m:mr>{e('a')}{e('b')}</m:mr><m:mr>{e('c')}</m:mr></m:m>", "a, b; c"),
        (f"<!-- x --><m:box>{e('a')}</m:box>", "a"),
    ],
)
def test_equations_are_on_one_line(math, text):
    assert formula(etree.fromstring(f"<m:oMath {M}>{math}</m:oMath>")) == text


@pytest.mark.parametrize(
    ("code", "font", "text"),
    [
        ("00A7", "Arial", "§"), ("F0A7", "Arial", "§"), ("F0A7", "Wingdings", "▪"), ("F0B3", "Symbol", "≥"),
        ("F021", "Wingdings 3", "□"), ("2265", "Symbol", "≥"), ("", "Symbol", ""), ("x", "Symbol", ""),
    ],
)  # fmt: skip
def test_symbols_of_fonts(code, font, text):
    assert symbol(code, font) == text
