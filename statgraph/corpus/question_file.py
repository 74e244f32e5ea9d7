"""Files of questions to search for: JSON lines or CSV, in any layout of questions that `statgraph import` reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from statgraph.corpus.draft import Draft
from statgraph.corpus.lines import csv_rows, id_field, json_lines, string_field
from statgraph.errors import CorpusError

ID_KEYS = ("_id", "id")
TEXT_KEYS = ("text", "question")  # the second is BSARD's
_TABLES = (".csv", ".tsv")
_MAX_NAMED = 8


def read_question_file(path: Path) -> tuple[list[str], list[str]]:
    """Return (ids, texts) of the questions in a file; whatever else its records hold is left out.

    A file that ends in .csv or .tsv is a table with a header, any other JSON lines.

    Raises:
        CorpusError: if the file is missing, empty or faulty; every problem is listed.
    """
    if not path.is_file():
        problem = "is a folder" if path.is_dir() else "no such file"
        raise CorpusError(f"{path}: {problem}; give a JSONL or CSV file of questions (id, text)")
    draft = Draft(name=path.name, language="en")
    for place, record in _records(draft, path):
        missing = [" or ".join(keys) for keys in (ID_KEYS, TEXT_KEYS) if not set(keys) & set(record)]
        if missing:
            found = ", ".join(list(record)[:_MAX_NAMED]) or "nothing"
            draft.add_problem(place, f"no {' and no '.join(missing)} (found: {found}); rename the keys that hold them")
            continue
        question_id = id_field(draft, place, record, *ID_KEYS)
        if question_id is not None:
            text_key = next(key for key in TEXT_KEYS if key in record)
            text = string_field(draft, place, record, text_key)
            draft.add_question(place, question_id=question_id, text=text)
    questions = draft.questions()
    if not questions:
        raise CorpusError(f"{path}: holds no questions; give each a line with an id and a text")
    return [question_id for question_id, _ in questions], [text for _, text in questions]


def _records(draft: Draft, path: Path) -> Iterator[tuple[str, Mapping[str, object]]]:
    if path.suffix.lower() in _TABLES:
        return csv_rows(draft, path, path.name, needed=("|".join(ID_KEYS), "|".join(TEXT_KEYS)))
    return json_lines(draft, path, path.name)
