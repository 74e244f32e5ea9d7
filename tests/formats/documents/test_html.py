import pytest

from statgraph.formats.documents import html
from statgraph.formats.documents.html import language_of, page_lines, read_html, walk_html

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


DECLARED = '<?xml version="1.0" encoding="iso-8859-1"?><p>Straße', '<meta charset="iso-8859-1"><p>Straße'


@pytest.mark.parametrize("page", DECLARED)
def test_pages_are_read_in_the_encoding_that_they_declare_or_have(draft, recorded, tmp_path, page):
    path = tmp_path / "law.html"
    for encoding in ("latin-1", "utf-8", "utf-8-sig", "utf-16"):
        path.write_bytes(page.encode(encoding))
        assert lines_of(draft, path) == [("Straße", 0)]
        assert "Straße" in [text for _, text in walk_html(draft, path, "law.html")]
    assert not recorded()


@pytest.mark.parametrize(
    ("page", "problem"),
    [
        ("<html>\n<p>Straße", "law.html:2: byte 0xdf is not UTF-8"),
        ('<meta charset="utf-8"><p>Straße', "law.html:1: byte 0xdf is not UTF-8"),
        ('<meta charset="shift_jis"><p>\x81 ', "law.html: is not in the encoding cp932"),
        ('<meta charset="klingon"><p>Straße', "law.html: is not in the encoding klingon"),
    ],
)
def test_bytes_that_do_not_fit_are_one_problem(draft, recorded, tmp_path, page, problem):
    (tmp_path / "law.html").write_bytes(page.encode("latin-1"))
    html.FORMAT.fill(draft, tmp_path / "law.html")
    (said,) = recorded()
    assert said.startswith(problem)


def page_of(draft, tmp_path, body):
    (tmp_path / "law.html").write_text(body, encoding="utf-8")
    return read_html(draft, tmp_path / "law.html", "law.html")


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        ("<tr><td>A<br>or b<td><p>A</p><p>B</p><td><ul><li>5</li><li>6</li></ul></tr>", ["A or b | A B | 5 6"]),
        ("<tr><td>Fee<td><ol><li>oar<li>mast</ol></tr>", ["Fee | 1. oar 2. mast"]),
        ("<tr>Dogs<td>bark</td>at<td>cats</td></tr>", ["Dogs", "bark", "at", "cats"]),
        ("<tr><td>Menu<td>" + "<p>Bark.</p>" * 11 + "</tr>", ["Menu", *["Bark."] * 11]),
    ],
)
def test_paragraphs_of_a_cell_are_divided_by_blanks(draft, tmp_path, body, lines):
    assert [line.text for line in page_of(draft, tmp_path, f"<table>{body}</table>").lines] == lines


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        ('<ol reversed><li>x<li>y</ol>', ["2. x", "1. y"]),
        ('<ol><li>x<li value="7">y<li>z</ol>', ["1. x", "7. y", "8. z"]),
        ('<ol type="i"><li>x<li><ol type="A"><li>y</ol></ol>', ["i. x", "A) y"]),
        ('<ol style="list-style-type: upper-roman" start="4"><li>x</ol>', ["IV. x"]),
        ('<ol type="a" start="27"><li>x</ol>', ["aa) x"]),
        ('<ol style="list-style: none"><li>x</ol><ol><li>(1) y</ol><ul><li>a) z</ul>', ["x", "(1) y", "a) z"]),
        ("<dl><dt>1.<dd><p>x</p><dt>b)</dt><dt>–<dd>y<dd>z<dt>Boat<dd>a vessel</dl>w",
         ["1. x", "b)", "– y", "z", "Boat", "a vessel", "w"]),
        ("<dl><dt>1.</dl><p>x", ["1.", "x"]),
    ],
)  # fmt: skip
def test_list_items_have_the_marks_that_are_printed(draft, tmp_path, body, lines):
    assert [line.text for line in page_of(draft, tmp_path, body).lines] == lines


def test_preformatted_text_keeps_its_lines(draft, tmp_path):
    page = page_of(draft, tmp_path, "<h1>Act</h1>\n<pre>\nSection <b>1</b>\n\n  Dogs\n</pre>")
    assert [(line.place, line.text) for line in page.lines if line.text] == [
        ("law.html:1", "Act"), ("law.html:3", "Section 1"), ("law.html:5", "  Dogs"),
    ]  # fmt: skip
    assert page.is_wrapped
    assert not page_of(draft, tmp_path, "<p>Dogs bark at night.<pre>Bark</pre>").is_wrapped


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("Art. 22<sup>1</sup>. A", "Art. 22¹. A"), ("Cafe\u0301", "Café"),
        ("f() on<ruby>e<rt>f</ruby>\x01", "f() one"), ("in <st1:place>Rome</st1:place>, now", "in Rome, now"),
    ],
)  # fmt: skip
def test_tags_in_a_line_do_not_divide_it(draft, tmp_path, body, text):
    assert [line.text for line in page_of(draft, tmp_path, f"<p>{body}</p>").lines] == [text]


@pytest.mark.parametrize(
    "page",
    [
        "<html><body><p>Dogs</p></body></html>\n<html><body><p>Cats</p></body></html>",
        "<p>Dogs" + "<font>" * 1_500 + "<p>Cats",
        f"<p>Dogs<p>{'x' * 10_000_001}<p>Cats",
    ],
    ids=["second page", "tags without end", "long text"],
)
def test_pages_are_read_to_their_end(draft, tmp_path, page):
    lines = page_of(draft, tmp_path, page).lines
    assert (lines[0].text, lines[-1].text) == ("Dogs", "Cats")


@pytest.mark.parametrize(
    "head",
    [
        '<html xml:lang="de">', '<meta http-equiv="Content-Language" content="de-AT">',
        "<meta content=de name='language'>", '<meta charset="utf-8"><meta name="DC.language" content="de">',
    ],
)  # fmt: skip
def test_the_language_is_the_one_that_a_page_states(tmp_path, head):
    (tmp_path / "law.html").write_text(f"{head}<p>Hund")
    assert language_of(tmp_path / "law.html") == "de"


def test_a_paragraph_that_the_reader_drops_is_missed(tmp_path, without_lines):
    (tmp_path / "law.html").write_text(
        "<title>Dog Act</title><script>var dog = 'no word of it';</script><nav>Home</nav>\n<h2>Section 1 Barking</h2>\n"
        "<p>A dog<br>may bark<sup>2</sup> at <b>night</b> &amp; day.</p>\n<ul>\n<li>a <i>loud</i> one: never</ul>"
    )
    corpus = without_lines(html, read_html, walk_html, tmp_path / "law.html", "loud", "law.html:5")
    assert [article.text for article in corpus.articles] == ["A dog\nmay bark² at night & day."]


@pytest.mark.parametrize(
    ("content", "lines"), [("", []), ("<", ["<"]), ("<?xml version='1.0' encoding='utf-8'?><html/>", [])]
)
def test_pages_without_text_have_no_lines(draft, recorded, tmp_path, content, lines):
    assert [line.text for line in page_of(draft, tmp_path, content).lines] == lines
    assert page_of(draft, tmp_path, "<!-- -->") is None
    assert recorded() == ["law.html: is not HTML; save the page again, or import it as txt"]


def test_a_page_cannot_read_files_or_grow(draft, tmp_path):
    (tmp_path / "secret").write_text("secret")
    entities = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 9))
    page = f'<!DOCTYPE html [<!ENTITY a0 "x">{entities}<!ENTITY f SYSTEM "{tmp_path}/secret">]><p>&a8;&f;</p>'
    (tmp_path / "law.html").write_text(page)
    text = " ".join(text for text, _ in lines_of(draft, tmp_path / "law.html"))
    assert "secret" not in text.replace(f"{tmp_path}/secret", "")
    assert len(text) < 10_000


def read(page):
    return page_lines(page, "law.html")


def test_marks_of_footnotes_and_footnotes_are_left_out():
    page = read(
        '<p>Bark (<a href="#n1" id="m1"><span class="superscript">1</span></a>).</p>'
        '<p id="5">5 Bite<a href="#n2">(<sup>2</sup>)</a></p>'
        '<p>As in <a href="#5">10<sup>5</sup></a> and<sup><a href="#end">3</a></sup></p>'
        '<p id="n1"><a href="#m1"><sup>1</sup></a> Changed.</p><ol start=2><li id=n2>Old.</ol><p id=end>The end.</p>',
    )
    assert [line.text for line in page.lines] == ["Bark.", "5 Bite", "As in 10⁵ and", "The end."]
    assert {rule for rule, _ in page.left_out} == {"notes"}
    assert [text for _, text in page.left_out if text.endswith("d.")] == ["1  Changed.", "Old."]


TEXT = (
    '<h3 id="1"><a href="#1">Art. 1</a></h3><p>Dogs</p><p>See:</p><p><a href="#3">Owls</a></p>'
    '<a name="2"></a><h3>Art. 2. Cats</h3><p id="3"><a href="#3">Owls</a></p><p><a href="#1">Art. 1</a></p>'
)
LINKS = '<ul><li><a href="#1">Art. 1 – Dogs</a><li><a href="#2">Art. 2</a></ul><p><a href="#3">Owls</a></p>'


def test_links_to_what_begins_with_their_words_are_contents():
    law = [line.text for line in read(TEXT).lines]
    assert law == ["Art. 1", "Dogs", "See:", "Owls", "Art. 2. Cats", "Owls", "Art. 1"]
    page = read(LINKS + TEXT)
    assert [line.text for line in page.lines] == law
    assert page.left_out == [("contents", text) for text in ("Art. 1 – Dogs", "Art. 2", "Owls")]
    others = read(LINKS.replace("Owls", "Seals") + TEXT)
    assert [line.text for line in others.lines] == ["- Art. 1 – Dogs", "- Art. 2", "Seals", *law]


@pytest.mark.parametrize(
    "body",
    [
        "<nav>Home</nav>", "<div hidden>Home</div>", '<p aria-hidden="true">Home',
        '<div style="display: none"><p>Home</div>', '<ul role="navigation"><li>Home</ul>',
        "<aside>Home<nav>!</nav></aside>",
    ],
)  # fmt: skip
def test_what_is_not_shown_or_no_law_is_navigation(body):
    page = read(f"<p>Bark</p>{body}")
    assert [line.text for line in page.lines] == ["Bark"]
    assert [(rule, text.split()[0]) for rule, text in page.left_out] == [("navigation", "Home")]


def test_deleted_text_is_left_out():
    page = read("<p>A dog <del>may</del> <ins>must</ins> bark</p>")
    assert ([line.text for line in page.lines], page.left_out) == (["A dog must bark"], [("deleted text", "may")])
