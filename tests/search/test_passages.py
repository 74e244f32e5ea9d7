"""The passage that fits best."""

import pytest

from statgraph.search.passages import PassageFinder, passage_spans


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


@pytest.mark.parametrize(
    "sentence",
    [
        "Die Steuer ist am 1. Juli fällig.",
        "Nach § 573c Abs. 2 Nr. 3 BGB, z. B. Miete, i.V.m. Art. II, vgl. Dr. Maier.",
        "Under s. 5 and para. 3, ss. 12 and subs. 4, Mr. Smith and Mrs. Jones pay.",
        "Loi du 1er janv. 2020, art. L. 12, al. 3, et M. Dupont, resp. Mme Durand.",
        "Artikel 7:201 lid. 2, nr. 3 BW, van 14 dec. 2020.",
        "2. Les charges sont dues.",
    ],
)
def test_a_full_stop_that_shortens_a_word_ends_no_sentence(sentence):
    assert passages(f"{sentence} Next.") == [sentence, "Next."]


@pytest.mark.parametrize(
    "text",
    [
        "The answer is no. The lessor pays.",
        "Zie het eerste lid. De huurder betaalt.",
        "Ils sont sept. Le bailleur paie.",
        "La loi de 1989. Le bailleur paie.",
        "Il est dû 12,50. Le bailleur paie.",
        "Nach § 573c. Der Vermieter zahlt.",
        "voir art.\n5 bis",
        "Fällig am 1.\nJuli",
    ],
)
def test_a_word_a_long_number_or_a_line_break_ends_one(text):
    assert len(passages(text)) == 2


def test_a_long_sentence_is_cut_at_spaces():
    text = " ".join(["word"] * 200)  # 999 characters
    parts = passages(text)
    assert [len(part) for part in parts] == [399, 399, 199]
    assert " ".join(parts) == text
    assert [len(part) for part in passages("x" * 900)] == [400, 400, 100]


# "the" is in every text and "deposit" in two, "return" in one: ln(1 + 0.5 / 4.5), ln(1 + 2.5 / 2.5), ln(1 + 3.5 / 1.5).
BACKGROUND = ("The deposit.", "The deposits.", "The lessor returns.", "The keys.")


def best_passage(question, text, *, language="en", background=BACKGROUND):
    (found,) = PassageFinder(language, lambda: background).passages(question, [text])
    return found and text[slice(*found)]


def test_the_best_passage_shares_the_rarest_words():
    # ln(3.33) = 1.20 for "return" and "the", 1.31, beats "the deposit", 0.11 + 0.69.
    text = "The deposit is the deposit of the lessee. The lessor returns it. Keys are the deposit."
    assert best_passage("Who returns the deposit?", text) == "The lessor returns it."


@pytest.mark.parametrize(
    ("question", "text", "options", "passage"),
    [
        ("the zebra", "The the the. A zebra. The end.", {}, "A zebra."),  # a rare word counts more
        ("deposit", "A deposit is held. A deposit is safe.", {}, "A deposit is held."),  # the first of equals
        (
            "restituer la clé",
            "Rien ici. Le bailleur restitue les clés.",
            {"language": "fr"},
            "Le bailleur restitue les clés.",
        ),
        ("zebra", "Keys are due.", {}, None),
        ("zebra", "", {}, None),
        ("?", "Keys are due.", {"background": ()}, None),
        ("keys", "𝔡 é. Keys 👩‍⚖️ are due.", {}, "Keys 👩‍⚖️ are due."),  # offsets count code points
    ],
)
def test_the_passage_by_hand(question, text, options, passage):
    assert best_passage(question, text, **options) == passage


def test_each_text_has_its_own():
    finder = PassageFinder("en", lambda: BACKGROUND)
    assert finder.passages("keys", ["Well. The keys are due.", "Keys!", "None."]) == [(6, 23), (0, 5), None]


def test_the_background_is_asked_once():
    asked = []
    finder = PassageFinder("en", lambda: asked.append(1) or BACKGROUND)
    assert (finder.passages("keys", ["Keys."]), finder.passages("lamp", ["Keys."]), asked) == ([(0, 5)], [None], [1])
