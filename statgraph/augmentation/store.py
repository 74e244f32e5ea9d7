"""Synthetic questions and the files that hold them."""

from __future__ import annotations

import json
import os
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from statgraph import artifacts
from statgraph.errors import CorpusError, UsageError, damaged_run, marked, option
from statgraph.formats.tables import split_ids
from statgraph.law.draft import Draft
from statgraph.law.fields import ids_field, object_field, string_field
from statgraph.law.lines import csv_rows, json_lines
from statgraph.law.records import Corpus
from statgraph.settings import changed_settings


@dataclass(frozen=True)
class SyntheticQuestion:
    """A question made for articles. `generator` is what made it: `headings`, `seq2seq:MODEL`, or `file:NAME` of the
    table that it came in."""

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


_MANIFEST = "manifest"
TABLE, TABLE_COLUMNS = ".csv", ("question", "article_ids")


@dataclass(frozen=True)
class QuestionFile:
    """What a file holds. `manifest` has the corpus (name, content_hash) and the settings of the generator."""

    manifest: Mapping[str, Any]
    questions: tuple[SyntheticQuestion, ...]


def write_synthetic(path: Path, questions: Sequence[SyntheticQuestion], manifest: Mapping[str, object]) -> None:
    """Write a file of synthetic questions, whole or not at all."""
    with artifacts.replaced_file(path) as staging:
        artifacts.write_json_lines(staging, ({_MANIFEST: manifest}, *map(asdict, questions)))


def read_synthetic(path: Path) -> QuestionFile:
    """Return what is in a file of synthetic questions.

    Raises:
        CorpusError: if it is missing, empty or faulty; every problem is listed.
    """
    if not path.is_file():
        raise CorpusError(f"{path}: no such file; write one with 'statgraph augment'")
    draft = Draft(name=str(path), language="en")
    manifest: Mapping[str, object] = {}
    questions = []
    for place, record in json_lines(draft, path, str(path)):
        if not manifest:
            manifest = _manifest_in(draft, place, record)
            if not manifest:
                break
        else:
            question = SyntheticQuestion(
                text=string_field(draft, place, record, "text"),
                article_ids=ids_field(draft, place, record, "article_ids"),
                generator=string_field(draft, place, record, "generator"),
            )
            if not question.text.strip() or not question.article_ids:
                draft.add_problem(place, "lacks a 'text', or an id in 'article_ids'; write the file again")
            questions.append(question)
    draft.questions()  # raises the problems
    if not questions:
        raise CorpusError(f"{path}: holds no questions; write it again with 'statgraph augment'")
    return QuestionFile(manifest, tuple(questions))


def synthetic_of_run(path: Path) -> QuestionFile:
    """Return what is in the file of synthetic questions of a run.

    Raises:
        RunError: if it is faulty.
    """
    try:
        return read_synthetic(path)
    except CorpusError as error:
        raise damaged_run(marked(error.problems[0])) from None


def synthetic_of(path: Path, corpus: Corpus) -> tuple[SyntheticQuestion, ...]:
    """Return the questions in a file that was written for a corpus, or in a table (`.csv`) with a `question` and the
    `article_ids` that answer it in each row, as BSARD's synthetic questions come.

    Raises:
        CorpusError: as in `read_synthetic`, and if it was written for another corpus or another state of this one; of
            a table, every faulty row is listed.
    """
    if path.suffix.lower() == TABLE:
        return _questions_in_table(path, corpus)
    file = read_synthetic(path)
    made_for = file.manifest["corpus"]
    if made_for["content_hash"] != corpus.content_hash:
        raise CorpusError(
            f"{path}: made for corpus '{made_for['name']}' (hash {made_for['content_hash'][:12]}), not for "
            f"'{corpus.name}' (hash {corpus.content_hash[:12]}); name that corpus with {option('corpus')}, or write "
            "the file again with 'statgraph augment'"
        )
    strange = unknown_article(file.questions, corpus.article_rows)
    if strange is not None:
        raise CorpusError(f"{path}: article '{strange}' is not in corpus '{corpus.name}'; write the file again")
    return file.questions


def _questions_in_table(path: Path, corpus: Corpus) -> tuple[SyntheticQuestion, ...]:
    """Return the questions of a table's rows."""
    draft = Draft(name=str(path), language=corpus.language)
    questions = []
    for place, row in csv_rows(draft, path, str(path), needed=TABLE_COLUMNS):
        text, ids = row["question"].strip(), split_ids(row["article_ids"], corpus.article_rows)
        question = SyntheticQuestion(text, ids, f"file:{path.name}")
        strange = unknown_article([question], corpus.article_rows)
        if not text or not ids:
            draft.add_problem(place, "lacks a 'question', or an id in 'article_ids'; fill it or remove the row")
        elif strange is not None:
            draft.add_problem(
                place,
                f"article '{strange}' is not in corpus '{corpus.name}'; remove the row, or name the corpus that the "
                f"questions were made for with {option('corpus')}",
            )
        questions.append(question)
    draft.questions()  # raises the problems
    if not questions:
        raise CorpusError(f"{path}: holds no questions; put one in each row")
    return tuple(questions)


def unknown_article(questions: Sequence[SyntheticQuestion], article_rows: Mapping[str, int]) -> str | None:
    """Return the first article id of the questions that has no row, or None where all have one."""
    named = (article_id for question in questions for article_id in question.article_ids)
    return next((article_id for article_id in named if article_id not in article_rows), None)


def _manifest_in(draft: Draft, place: str, record: Mapping[str, object]) -> Mapping[str, object]:
    """Return the manifest on a file's first line, {} with the problem recorded if it is not one."""
    manifest = object_field(draft, place, record, _MANIFEST)
    corpus = manifest.get("corpus")
    if isinstance(corpus, dict) and all(isinstance(corpus.get(key), str) for key in ("name", "content_hash")):
        return manifest
    draft.add_problem(
        place, "not the manifest of synthetic questions, which comes first; write the file with 'statgraph augment'"
    )
    return {}


class PartialFile:
    """The finished batches of a long generation, on disk after each, so that a kill costs one batch: one JSON object a
    line, after a first line with the settings that decide them.

    A last line that a kill left half-written is dropped. Nothing is written before the first batch.

    Args:
        path: the file; it need not exist.
        about: the settings that decide the batches (JSON values).

    Raises:
        UsageError: if the file was started with other settings, or is damaged.
    """

    def __init__(self, path: Path, about: Mapping[str, object]):
        self._path = path
        self._about = dict(about)
        whole = path.read_bytes().rpartition(b"\n")[0] if path.exists() else b""
        self._size = len(whole) + 1 if whole else 0
        try:
            lines = [json.loads(line) for line in whole.split(b"\n")] if whole else []
            if not all(isinstance(line, dict) for line in lines):
                raise ValueError
        except ValueError:
            raise UsageError(f"{path}: damaged; delete it to start over") from None
        if lines and lines[0] != self._about:
            changed = changed_settings(lines[0], self._about)
            raise UsageError(
                f"{path}: was started with other settings ({changed}); continue with the same ones, "
                "or delete it to start over"
            )
        self.batches: list[dict[str, Any]] = lines[1:]

    def append(self, batch: Mapping[str, object]) -> None:
        """Add a batch; it is on the disk when this returns."""
        lines = [batch] if self._size else [self._about, batch]
        data = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines).encode("utf-8")
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with artifacts.refused_write_named(self._path), self._path.open("ab+") as file:
            artifacts.locked(file.fileno(), wait=True)
            file.seek(self._size)
            if b"\n" in file.read():
                raise UsageError(f"{self._path}: another process writes it too; wait for it, or write another file")
            file.truncate(self._size)
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        self._size += len(data)
        self.batches.append(dict(batch))
