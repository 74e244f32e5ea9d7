import pytest
from lxml import etree

from statgraph.formats.documents.equations import formula, symbol

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
