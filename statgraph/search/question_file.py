"""Files of questions for batch search."""

from __future__ import annotations

from pathlib import Path

from statgraph.corpus.draft import Draft
from statgraph.corpus.store import draft_questions
from statgraph.errors import CorpusError


def read_question_file(path: Path) -> tuple[list[str], list[str]]:
    """Return (ids, texts) of the questions in a JSONL file in the layout of `queries.jsonl`.

    Raises:
        CorpusError: if the file is missing, empty or faulty; every problem is listed.
    """
    if not path.is_file():
        problem = "is a folder" if path.is_dir() else "no such file"
        raise CorpusError([f"{path}: {problem}; give a JSONL file with one question a line (_id, text)"])
    draft = Draft(name=path.name, language="en")
    draft_questions(draft, path)
    questions = draft.questions()
    if not questions:
        raise CorpusError([f"{path}: holds no questions; give one JSON object a line with _id and text"])
    return [question_id for question_id, _ in questions], [text for _, text in questions]
