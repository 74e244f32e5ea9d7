import pytest

from statgraph.formats.documents.html import page_lines


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
