"""Rankings as a TREC run, the format that trec_eval, ir_measures and their like read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TextIO

from statgraph.corpus.query import Ranked
from statgraph.errors import UsageError

TAG = "statgraph"


def write_trec_run(
    stream: TextIO,
    question_ids: Sequence[str],
    rankings: Sequence[Ranked],
    article_ids: Sequence[str],
) -> None:
    """Write one line per hit, `question-id Q0 article-id rank score tag`; ranks start at 1.

    Scores keep nine digits, enough to distinguish any two float32: trec_eval sorts by score and disregards the rank.
    `article_ids` has the id of each article row.

    Raises:
        UsageError: if an id holds white space, which separates the columns of a run.
        ValueError: if the counts differ.
    """
    for question_id, (rows, row_scores) in zip(question_ids, rankings, strict=True):
        _check_word("question id", question_id)
        for rank, (row, score) in enumerate(zip(rows, row_scores, strict=True), start=1):
            article_id = article_ids[row]
            _check_word("article id", article_id)
            stream.write(f"{question_id} Q0 {article_id} {rank} {score:.9g} {TAG}\n")


def _check_word(role: str, value: str) -> None:
    if value.split() != [value]:
        raise UsageError(f"{role} '{value}': must not be empty or contain white space in a TREC run; rename it")
