"""The passage that fits best."""

import numpy as np
import pytest

from statgraph.retrieval.search.passages import PassageFinder, SentenceEncoder

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


def test_each_text_has_its_own_and_the_background_is_asked_once():
    asked = []
    finder = PassageFinder("en", lambda: asked.append(1) or BACKGROUND)
    assert finder.passages("keys", ["Well. The keys are due.", "Keys!", "None."]) == [(6, 23), (0, 5), None]
    assert (finder.passages("lamp", ["Keys."]), asked) == ([None], [1])


def test_words_are_those_of_the_question_in_whatever_form():
    finder = PassageFinder("en", lambda: BACKGROUND)
    texts = ["The lessor RETURNED the deposits; a deposit.", "Keys."]
    assert finder.words("Who returns the deposit?", texts) == [["returned", "deposits", "deposit"], []]
    assert PassageFinder("ja", lambda: ()).words("敷金は", ["敷金を返す"]) == [["敷金"]]


def test_a_text_that_shares_no_word_has_the_nearest_sentence():
    # By their lengths: the question has 6 characters, and of "Four. Sixish. Sixth." the second and third are as near.
    def encode(texts):
        return np.array([[1.0, 0.0] if len(text) in (6, 7) else [3.0, 4.0] for text in texts], dtype=np.float32)

    finder = PassageFinder("en", lambda: BACKGROUND, SentenceEncoder(encode, 4))
    texts = ["Four. Sixish. Sixthy.", "Keys are due. Zebras.", "Some. More.", ""]
    assert finder.passages("zebra?", texts) == [(6, 13), (14, 21), (0, 5), None]  # "More." is the fifth sentence
