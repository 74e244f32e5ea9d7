"""The passage that fits best, and the part of a long text around it."""

import pytest

from statgraph.service.passages import Excerpt, PassageFinder, excerpt, passage_spans


def passages(text):
    return [text[start:end] for start, end in passage_spans(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Keys are due. They go back! Why?", ["Keys are due.", "They go back!", "Why?"]),
        ("Voir l'article L. 12-3. Puis rien.", ["Voir l'article L. 12-3.", "Puis rien."]),
        ("first\n\n  second \n", ["first", "second"]),
        ("Sont dus : 1° le loyer ; 2° les charges.", ["Sont dus :", "1° le loyer ;", "2° les charges."]),
        ("See art. 5 and cf. No. 7 of it.", ["See art. 5 and cf. No. 7 of it."]),
        ("", []),
        (" \n ", []),
    ],
)
def test_passages_are_sentences_and_items(text, expected):
    assert passages(text) == expected


def test_a_long_sentence_is_cut_at_spaces():
    text = " ".join(["word"] * 200)  # 999 characters
    parts = passages(text)
    assert [len(part) for part in parts] == [399, 399, 199]
    assert " ".join(parts) == text
    assert [len(part) for part in passages("x" * 900)] == [400, 400, 100]


def test_the_best_passage_shares_the_rarest_words():
    finder = PassageFinder("en", most=2000)
    text = "The deposit is the deposit of the lessee. The lessor returns it. Keys are the deposit."
    other = "The deposit is held. The deposit is safe."
    best, second = finder.excerpts("Who returns the deposit?", [text, other])
    assert text[slice(*best.passage)] == "The lessor returns it."
    assert other[slice(*second.passage)] == "The deposit is held."


def test_inflected_words_are_shared_in_the_language_of_the_articles():
    text = "Rien ici. Le bailleur restitue les clés."
    (found,) = PassageFinder("fr", most=2000).excerpts("restituer la clé", [text])
    assert text[slice(*found.passage)] == "Le bailleur restitue les clés."


def test_nothing_shared_is_no_passage():
    assert PassageFinder("en", most=5).excerpts("zebra", ["Keys are due.", ""]) == [
        Excerpt("Keys ", None),
        Excerpt("", None),
    ]


@pytest.mark.parametrize(
    ("passage", "text", "place"),
    [
        ((0, 3), "0123456789", (0, 3)),
        ((47, 49), "3456789012", (4, 6)),  # 43 to 53
        ((98, 100), "0123456789", (8, 10)),
        ((20, 30), "0123456789", (0, 10)),
    ],
)
def test_a_long_text_is_shown_around_its_passage(passage, text, place):
    assert excerpt("0123456789" * 10, passage, most=10) == Excerpt(text, place)


def test_offsets_count_code_points():
    text = "𝔡 é. Keys 👩‍⚖️ are due."
    (found,) = PassageFinder("en", most=2000).excerpts("keys", [text])
    assert text[slice(*found.passage)] == "Keys 👩‍⚖️ are due."
