"""A small code of our own wording."""

from __future__ import annotations

import pytest

from statgraph.law import Article, Corpus, Question

LAMPS = ("Lamp Code", "Book I. Streets")
WELLS = ("Well Code",)


@pytest.fixture
def town() -> Corpus:
    """Three articles in two codes, two labelled questions."""
    return Corpus(
        name="town",
        language="en",
        licence="CC0",
        source="written for the tests",
        articles=(
            Article("L1", "Art. 1, Lamp Code", "Lamps burn from dusk.", LAMPS, 1, {"in_force": True}),
            Article("L2", "Art. 2, Lamp Code", "Who breaks a lamp pays.", LAMPS, 2),
            Article("W1", "Art. 1, Well Code", "Wells are covered\nat “night”.", WELLS, 1),
        ),
        questions=(
            Question("q1", "Who pays for a broken lamp?", "train", ("L2",), {"asked": 3}),
            Question("q2", "When are lamps and wells seen to?", "test", ("L1", "W1")),
        ),
    )
