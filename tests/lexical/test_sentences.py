"""The sentences of a text."""

import pytest

from statgraph.lexical.sentences import sentence_spans


def sentences(text):
    return [text[start:end] for start, end in sentence_spans(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Keys are due. They go back! Why?", ["Keys are due.", "They go back!", "Why?"]),
        ("Voir l'article L. 12-3. Puis rien.", ["Voir l'article L. 12-3.", "Puis rien."]),
        ("first\n\n  second \n", ["first", "second"]),
        ("Sont dus : 1° le loyer ; 2° les charges.", ["Sont dus :", "1° le loyer ;", "2° les charges."]),
        ("See art. 5 and cf. No. 7 of it.", ["See art. 5 and cf. No. 7 of it."]),
        ("my car broke down. what now? i need help.", ["my car broke down.", "what now?", "i need help."]),
        ("租金应当按月支付。逾期怎么办？\u201c好。\u201d", ["租金应当按月支付。", "逾期怎么办？", "\u201c好。\u201d"]),
        ("", []),
        (" \n ", []),
    ],
)
def test_sentences_and_items(text, expected):
    assert sentences(text) == expected


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
    assert sentences(f"{sentence} Next.") == [sentence, "Next."]


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
    assert len(sentences(text)) == 2


def test_a_long_sentence_is_cut_at_spaces():
    text = " ".join(["word"] * 200)  # 999 characters
    parts = sentences(text)
    assert [len(part) for part in parts] == [399, 399, 199]
    assert " ".join(parts) == text
    assert [len(part) for part in sentences("x" * 900)] == [400, 400, 100]
