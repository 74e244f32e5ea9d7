"""Two small codes with training questions, and the edges of the tree above articles for networkx."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import networkx
import pytest

from statgraph.law.records import Article, Corpus, Question
from statgraph.training.negatives.source import TrainingQuestions


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


@pytest.fixture(scope="session")
def tree_distances() -> Callable[[Corpus, TrainingQuestions], list[list[int]]]:
    """Return a function that has networkx find the path length from every article to each question's nearest answer."""

    def find(corpus: Corpus, questions: TrainingQuestions) -> list[list[int]]:
        depth = max(len(article.path) for article in corpus.articles)
        tree = networkx.Graph()
        for row, article in enumerate(corpus.articles):
            tree.add_edge(row, article.path, weight=1)
            tree.add_edge(article.path[:1], "root", weight=depth)
            for level in range(1, len(article.path)):
                tree.add_edge(article.path[:level], article.path[: level + 1], weight=1)
        found = []
        for answers in questions.answers:
            lengths = networkx.multi_source_dijkstra_path_length(tree, set(answers.tolist()))
            found.append([lengths[row] for row in range(len(corpus.articles))])
        return found

    return find
