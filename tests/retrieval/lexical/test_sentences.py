"""The sentences of a text."""

import textwrap
from itertools import pairwise

import pytest

from statgraph.retrieval.lexical.sentences import question_sentences, sentence_spans


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
        "(Ek: 30/7/2024-7527/5 md.) Bakımevi kurulur.",
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


STORY = "I have rented a flat in the old town since 2019, and now my landlord says that he needs it. May he?"


@pytest.mark.parametrize("mark", ["", "> ", ">> "])
def test_lines_that_a_mail_program_wrapped_are_joined(mark):
    end = ["Yours,", "A. Tenant", "1 High Street", "Town"]
    letter = "\n".join(["Dear Sir,", "", "w" * 120, "", textwrap.fill(f"{STORY} {STORY}", 60), "", *end])
    typed = "\r\n".join(mark + line for line in letter.splitlines())
    assert question_sentences(typed) == ["Dear Sir,", "w" * 120, STORY[:-8], "May he?", STORY[:-8], "May he?", *end]


@pytest.mark.parametrize("width", [8, 290])
def test_lines_that_somebody_ended_are_sentences(width):
    lines = ["hello", "he keeps my deposit, and has kept it since May", "what can i do", "x" * width]
    assert question_sentences("\n".join(lines)) == lines


def test_what_has_commas_for_full_stops_comes_in_clauses():
    clauses = [f"this is clause number {place} of what I tell you, and it costs me 1,500" for place in range(8)]
    assert question_sentences(", ".join(clauses)) == [*(f"{clause}," for clause in clauses[:-1]), clauses[-1]]


def test_what_has_no_marks_comes_in_parts_that_share_a_half():
    words = [f"w{place:03}" for place in range(80)]
    parts = [part.split() for part in question_sentences(" ".join(words))]
    assert parts[0] + parts[2] + parts[4] == words[: len(parts[0] + parts[2] + parts[4])]
    assert max(len(" ".join(part)) for part in parts) <= 100
    assert {word for part in parts for word in part} == set(words)
    assert all(set(part) & set(following) for part, following in pairwise(parts[:9]))


def test_a_sentence_of_up_to_300_characters_is_whole():
    sentence = "a clause of it, " * 18
    assert question_sentences(sentence) == [sentence.strip()]
    assert question_sentences("") == []
