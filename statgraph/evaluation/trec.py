"""Rankings as a TREC run, the format that trec_eval, ir_measures and their like read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TextIO
from urllib.parse import quote

from statgraph.law.query import Ranked

TAG = "statgraph"


def write_trec_run(
    stream: TextIO,
    question_ids: Sequence[str],
    rankings: Sequence[Ranked],
    article_ids: Sequence[str],
) -> None:
    """Write one line per hit, `question-id Q0 article-id rank score tag`; ranks start at 1.

    Scores keep nine digits, enough to distinguish any two float32: trec_eval sorts by score and disregards the rank.
    `article_ids` has the id of each article row. White space in an id, which would end its column, is written as in
    addresses: "Art.%2036".

    Raises:
        ValueError: if the counts differ.
    """
    for question_id, (rows, row_scores) in zip(question_ids, rankings, strict=True):
        for rank, (row, score) in enumerate(zip(rows, row_scores, strict=True), start=1):
            stream.write(f"{_word(question_id)} Q0 {_word(article_ids[row])} {rank} {score:.9g} {TAG}\n")


def _word(identifier: str) -> str:
    return re.sub(r"\s", lambda match: quote(match[0]), identifier)
