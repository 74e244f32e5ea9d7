"""Cutting a text about its passage: by code points, at words, with the passage marked."""

SNIPPET = """async ([text, passage, words]) => {
  const { snippet } = await import("/static/js/passage.js");
  const box = document.createElement("p");
  box.append(...snippet(text, passage, words ?? []).filter(Boolean));
  const texts = (name) => [...box.querySelectorAll(name)].map((mark) => mark.textContent);
  return [box.textContent, texts("mark"), ...(words ? [texts("b")] : [])];
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


def test_a_passage_that_is_the_whole_text_is_marked_too(evaluate):
    assert evaluate(SNIPPET, ["Keys.", {"start": 0, "end": 5}]) == ["Keys.", ["Keys."]]


def test_the_words_of_the_question_are_marked_in_and_beside_the_passage(evaluate):
    text = "Deposits, undeposited: the deposit. A-deposit"
    shown = evaluate(SNIPPET, [text, {"start": 23, "end": 35}, ["deposit", "deposits"]])
    assert shown == [text, ["the deposit."], ["Deposits", "deposit", "deposit"]]
    assert evaluate(SNIPPET, ["敷金を返す", None, ["敷金"]]) == ["敷金を返す", [], ["敷金"]]


def test_a_long_text_is_cut_at_words_around_the_passage(evaluate):
    # Words of four letters and a space: the passage is at 1000, 30 before it is 970, 190 further is 1160.
    text = "word " * 400
    shown, marked = evaluate(SNIPPET, [text, {"start": 1000, "end": 1009}])
    assert marked == ["word word"]
    assert shown == f"… {text[970:1159]} …"


def test_a_long_passage_is_shown_from_its_first_word_of_the_question(evaluate):
    text = "word " * 1000
    assert evaluate(SNIPPET, [text, {"start": 1000, "end": 4999}])[1] == [text[1000:1159]]
    text = f"{text[:3000]}Keys {text[3005:]}"  # 30 before it is 2970, and 190 further 3160
    shown, marked, words = evaluate(SNIPPET, [text, {"start": 1000, "end": 4999}, ["keys"]])
    assert (marked, words) == ([text[2970:3159]], ["Keys"])
    assert shown == f"… {text[2970:3159]} …"


def test_paragraphs_share_a_mark_that_crosses_them(evaluate):
    assert evaluate(PARAGRAPHS, ["a b\n\nc d\ne", "b\n\nc"]) == [
        "<p>a <mark>b</mark></p>",
        "<p><mark>c</mark> d</p>",
        "<p>e</p>",
    ]


def test_paragraphs_without_the_words(evaluate):
    assert evaluate(PARAGRAPHS, ["a <b>\nc", "not there"]) == ["<p>a &lt;b&gt;</p>", "<p>c</p>"]
    assert evaluate(PARAGRAPHS, ["a", None]) == ["<p>a</p>"]
