import pytest

from statgraph.formats.documents.html import language_of, read_html

PAGE = """<!DOCTYPE html>
<html lang="fr-FR"><head><title>Loi des barques</title><script>var a = "<p>Article 9</p>";</script></head>
<body><nav><p>Menu</p></nav><!-- Article 8 -->
<h1>Loi des<br>barques</h1>
<p>Article <b>1</b><sup>er</sup><br>La barque</p>
<div>est&nbsp;libre.<p>Et bleue.</p> Oui.</div>
<ol type="a" start="2"><li>rame ;</li><li><p>voile.</p></li></ol><ul><li>mât</li></ul>
<table><tr><th>Taille</th><th>Prix</th></tr><tr><td><p>5 m</p></td><td>6</td></tr></table>
<table><tr><td>Menu</td><td><h2>Titre Ier</h2><p>Texte.</p></td></tr></table>
</body></html>"""


def lines_of(draft, path):
    return [(line.text, line.level) for line in read_html(draft, path, path.name).lines]


def test_each_paragraph_item_and_row_is_a_line(draft, tmp_path):
    path = tmp_path / "law.html"
    path.write_text(PAGE, encoding="utf-8")
    assert read_html(draft, path, path.name).title == "Loi des barques"
    assert lines_of(draft, path) == [
        ("Loi des barques", 1), ("Article 1er", 0), ("La barque", 0), ("est libre.", 0), ("Et bleue.", 0), ("Oui.", 0),
        ("b) rame ;", 0), ("c) voile.", 0), ("- mât", 0), ("Taille | Prix", 0), ("5 m | 6", 0), ("Menu", 0),
        ("Titre Ier", 2), ("Texte.", 0),
    ]  # fmt: skip
    assert read_html(draft, path, path.name).lines[1].place == "law.html:5"
    assert language_of(path) == "fr"


@pytest.mark.parametrize("page", ["<p>Straße", '<meta charset="iso-8859-1"><p>Straße'])
def test_pages_are_read_in_the_encoding_that_they_declare(draft, recorded, tmp_path, page):
    path = tmp_path / "law.html"
    path.write_bytes(page.encode("latin-1"))
    declares = "charset" in page
    assert (lines_of(draft, path) == [("Straße", 0)]) == declares
    assert bool(recorded()) != declares


@pytest.mark.parametrize("content", ["", "<", "<!-- -->", "<?xml version='1.0' encoding='utf-8'?><html/>"])
def test_pages_without_text_have_no_lines(draft, tmp_path, content):
    (tmp_path / "law.html").write_text(content)
    document = read_html(draft, tmp_path / "law.html", "law.html")
    assert document is None or not any(line.text.strip("<") for line in document.lines)


def test_a_page_cannot_read_files_or_grow(draft, tmp_path):
    (tmp_path / "secret").write_text("secret")
    entities = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 9))
    page = f'<!DOCTYPE html [<!ENTITY a0 "x">{entities}<!ENTITY f SYSTEM "{tmp_path}/secret">]><p>&a8;&f;</p>'
    (tmp_path / "law.html").write_text(page)
    text = " ".join(text for text, _ in lines_of(draft, tmp_path / "law.html"))
    assert "secret" not in text.replace(f"{tmp_path}/secret", "")
    assert len(text) < 10_000
