"""The training questions of a run, and which articles they cite."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from statgraph import artifacts
from statgraph.corpus.records import Question
from statgraph.gnn.graph_inputs import read_graph_inputs
from statgraph.service.contents import Contents


class TrainingQuestions:
    """Questions by row, in the run's order; those that cite articles which are not there cite the others only."""

    def __init__(self, questions: Iterable[Question], contents: Contents):
        self.questions = tuple(questions)
        self._cites = tuple(
            tuple(row for article_id in question.article_ids if (row := contents.article_row(article_id)) is not None)
            for question in self.questions
        )
        self._cited_by: dict[int, list[int]] = {}
        for question_row, article_rows in enumerate(self._cites):
            for article_row in article_rows:
                self._cited_by.setdefault(article_row, []).append(question_row)

    @classmethod
    def load(cls, run: Path, contents: Contents) -> TrainingQuestions:
        """Return the questions that a run keeps: none where it has no graph, or comes from before they were kept.

        Raises:
            RunError: if what it keeps is damaged.
        """
        folder = run / artifacts.RUN_GRAPH_INPUTS
        return cls(read_graph_inputs(folder).questions if folder.is_dir() else (), contents)

    def cites(self, question_row: int) -> tuple[int, ...]:
        """Return the rows of the articles that a question cites."""
        return self._cites[question_row]

    def citing(self, article_row: int) -> tuple[int, ...]:
        """Return the rows of the questions that cite an article."""
        return tuple(self._cited_by.get(article_row, ()))
