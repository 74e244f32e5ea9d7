"""Two small codes with training questions."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from statgraph.law.records import Article, Corpus, Question


@pytest.fixture(scope="session")
def corpus_of() -> Callable[..., Corpus]:
    """Return a function that makes a corpus of articles at (path, order) and of training questions answered by rows."""

    def make(
        places: Sequence[tuple[tuple[str, ...], int]],
        answers: Sequence[Sequence[int]],
        *,
        texts: Sequence[str] = (),
        questions: Sequence[str] = (),
    ) -> Corpus:
        articles = tuple(
            Article(f"a{row}", f"Art. {row}", texts[row] if texts else "Text.", path, order)
            for row, (path, order) in enumerate(places)
        )
        asked = tuple(
            Question(
                f"q{number}", questions[number] if questions else "What?", "train", tuple(f"a{row}" for row in rows)
            )
            for number, rows in enumerate(answers)
        )
        return Corpus("two codes", "en", "CC0", "written for the tests", articles, asked)

    return make


@pytest.fixture(scope="session")
def two_codes(corpus_of: Callable[..., Corpus]) -> Corpus:
    """Return seven articles of the codes A and B; a1 answers q0 (lamps), a3 and a5 answer q1 (wells)."""
    return corpus_of(
        [
            (("A", "I"), 1),
            (("A", "I"), 2),
            (("A", "I", "x"), 3),
            (("A", "II"), 4),
            (("A",), 5),
            (("B", "I"), 1),
            (("B", "I"), 2),
        ],
        [[1], [3, 5]],
        texts=["lamp", "lamp lamp lamp", "dog", "well", "well well lamp", "dog", "lamp lamp"],
        questions=["lamp", "well"],
    )


@pytest.fixture(scope="session")
def no_bm25() -> Callable[[], object]:
    """Return a function that stands for BM25 where it must not be asked for."""

    def refuse():
        raise AssertionError("BM25 was asked for")

    return refuse
