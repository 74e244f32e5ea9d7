"""A question that nobody asked, and which articles it was made for."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class SyntheticQuestion:
    """A question made for articles. `generator` says by what: `headings`, or `seq2seq:` and the model's name."""

    text: str
    article_ids: tuple[str, ...]
    generator: str

    def only(self, article_ids: Container[str]) -> SyntheticQuestion:
        """Return the question for those of its articles that are among these."""
        return replace(
            self, article_ids=tuple(article_id for article_id in self.article_ids if article_id in article_ids)
        )


def questions_by_row(questions: Iterable[SyntheticQuestion], article_rows: Mapping[str, int]) -> list[list[str]]:
    """Return the texts of each article row's questions, in the order of the questions."""
    texts: list[list[str]] = [[] for _ in article_rows]
    for question in questions:
        for article_id in question.article_ids:
            texts[article_rows[article_id]].append(question.text)
    return texts
