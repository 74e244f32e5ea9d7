"""Cutting a text about its passage: by code points, at words, with the passage marked."""

SNIPPET = """async ([text, passage]) => {
  const { snippet } = await import("/static/js/passage.js");
  const box = document.createElement("p");
  box.append(...snippet(text, passage).filter(Boolean));
  return [box.textContent, [...box.querySelectorAll("mark")].map((mark) => mark.textContent)];
}"""
PARAGRAPHS = """async ([text, words]) => {
  const { paragraphs } = await import("/static/js/passage.js");
  return paragraphs(text, words).map((paragraph) => paragraph.outerHTML);
}"""


def test_a_short_text_is_whole_and_its_passage_marked(evaluate):
    assert evaluate(SNIPPET, ["one two three", {"start": 4, "end": 7}]) == ["one two three", ["two"]]
    assert evaluate(SNIPPET, ["one two three", None]) == ["one two three", []]


def test_offsets_count_code_points(evaluate):
    # The balance is one code point and two of JavaScript's units.
    assert evaluate(SNIPPET, ["𝌆𝌆 is law, not more", {"start": 3, "end": 9}]) == [
        "𝌆𝌆 is law, not more",
        ["is law"],
    ]


def test_a_long_text_is_cut_at_words_around_the_passage(evaluate):
    # Words of four letters and a space: the passage is at 1000, 140 before it is 860, 460 further is 1320.
    text = "word " * 400
    shown, marked = evaluate(SNIPPET, [text, {"start": 1000, "end": 1009}])
    assert marked == ["word word"]
    assert shown == f"… {text[860:1319]} …"


def test_a_long_passage_is_cut_too(evaluate):
    # From 860 on, at most 2 x 460 characters are shown: to 1780, and 1779 is the end of a word.
    text = "word " * 1000
    shown, marked = evaluate(SNIPPET, [text, {"start": 1000, "end": 4999}])
    assert marked == [text[1000:1779]]
    assert shown == f"… {text[860:1779]} …"


def test_paragraphs_share_a_mark_that_crosses_them(evaluate):
    assert evaluate(PARAGRAPHS, ["a b\n\nc d\ne", "b\n\nc"]) == [
        "<p>a <mark>b</mark></p>",
        "<p><mark>c</mark> d</p>",
        "<p>e</p>",
    ]


def test_paragraphs_without_the_words(evaluate):
    assert evaluate(PARAGRAPHS, ["a <b>\nc", "not there"]) == ["<p>a &lt;b&gt;</p>", "<p>c</p>"]
    assert evaluate(PARAGRAPHS, ["a", None]) == ["<p>a</p>"]
