"""Readers' marks as labels: what `statgraph serve` writes, turned into training questions of a corpus."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from statgraph.errors import CorpusError
from statgraph.law.draft import Draft
from statgraph.law.fields import string_field
from statgraph.law.lines import json_lines, json_type
from statgraph.law.normal_text import comparable_question
from statgraph.law.records import MAIN_SET, Corpus, Question, checked_corpus
from statgraph.law.store import held_for_writing, write_corpus

TRAIN = "train"
ID_PREFIX = "feedback-"
_ID_LENGTH = 12
_EARLIEST = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Mark:
    """A reader's judgement of whether an article answers a question, None where an earlier one is taken back; `time`
    orders contradicting marks, and `law` is the name of the corpus where a service has several, else blank."""

    question: str
    article_id: str
    right: bool | None
    time: datetime = _EARLIEST
    law: str = ""


@dataclass(frozen=True)
class FeedbackSummary:
    """What became of the marks.

    Attributes:
        marks: how many there were.
        overruled: those replaced by a later mark of the same question and article.
        taken_back: of the rest, those that only take an earlier one back.
        wrong: of the rest, those that say "wrong": they neither add nor remove a label.
        known: of the rest, those that repeat a label.
        held_out: of the rest, those on dev or test questions, which must not be trained on.
        labels: new labels, one for each remaining mark.
        questions: new questions among them.
        other_laws: marks on other laws of the same service.
    """

    marks: int
    overruled: int
    taken_back: int
    wrong: int
    known: int
    held_out: int
    labels: int
    questions: int
    other_laws: int = 0

    @property
    def left_out(self) -> dict[str, int]:
        """Return how many marks became no label, by the reason in words."""
        return {
            "on other laws": self.other_laws,
            "overruled by a later one": self.overruled,
            "taken back": self.taken_back,
            "wrong": self.wrong,
            "already labels": self.known,
            "on questions of dev or test": self.held_out,
        }


def read_marks(path: Path, article_ids: Mapping[str, object], law: str = "") -> list[Mark]:
    """Return the marks in a JSONL file, earliest first; those without a time come first.

    Args:
        path: one object a line: `question`, `article_id`, `right`, and `time` (ISO 8601) and `law` where they are
            known.
        article_ids: the articles that a mark may name.
        law: the name of their corpus; a mark on another may name any.

    Raises:
        CorpusError: if the file is missing or faulty, or names an article that is not there; every problem is listed.
    """
    path = Path(path)
    if path.is_dir() or not path.exists():
        raise CorpusError(f"{path}: no such file; name the JSONL file that 'statgraph serve' appended marks to")
    draft = Draft(name=path.name, language="en")
    marks = []
    for place, record in json_lines(draft, path, path.name):
        problems_before = draft.problem_count
        mark = _mark(draft, place, record)
        if mark.article_id and mark.article_id not in article_ids and mark.law in ("", law):
            draft.add_problem(
                place, f"article '{mark.article_id}' is not in the corpus; name its corpus, or remove the line"
            )
        if draft.problem_count == problems_before:
            marks.append(mark)
    draft.check()
    return sorted(marks, key=lambda mark: mark.time)


def with_feedback(corpus: Corpus, marks: Iterable[Mark]) -> tuple[Corpus, FeedbackSummary]:
    """Return the corpus with the articles marked right as training labels, and what became of the marks.

    Marks on other laws are left out. Questions are equal if their texts are, ignoring case and spaces. Of contradicting
    marks the last counts. Dev and test questions of any set get no labels: training on them would leak their answers.
    Labels are of the main set.
    """
    marks = list(marks)
    own = [mark for mark in marks if mark.law in ("", corpus.name)]
    latest: dict[tuple[str, str], Mark] = {}
    for mark in own:
        latest[comparable_question(mark.question), mark.article_id] = mark
    known_questions = {  # of equal ones, one that is held out where there is any
        comparable_question(question.text): question
        for question in sorted(corpus.questions, key=lambda question: question.split != TRAIN)
        if question.split != TRAIN or question.question_set == MAIN_SET
    }
    added: dict[str, list[str]] = {}
    texts: dict[str, str] = {}
    known = held_out = 0
    for (key, article_id), mark in latest.items():
        question = known_questions.get(key)
        if not mark.right:
            continue
        if question is not None and question.split != TRAIN:
            held_out += 1
        elif question is not None and article_id in question.article_ids:
            known += 1
        else:
            added.setdefault(key, []).append(article_id)
            texts.setdefault(key, " ".join(mark.question.split()))
    questions = []
    for question in corpus.questions:
        if question.split == TRAIN and question.question_set == MAIN_SET:
            more = added.get(comparable_question(question.text), ())
            question = replace(question, article_ids=tuple(dict.fromkeys((*question.article_ids, *more))))
        questions.append(question)
    new = [
        Question(
            ID_PREFIX + hashlib.sha256(key.encode("utf-8")).hexdigest()[:_ID_LENGTH],
            texts[key],
            TRAIN,
            tuple(sorted(article_ids, key=corpus.article_rows.__getitem__)),
        )
        for key, article_ids in added.items()
        if key not in known_questions
    ]
    summary = FeedbackSummary(
        marks=len(marks),
        overruled=len(own) - len(latest),
        taken_back=sum(mark.right is None for mark in latest.values()),
        wrong=sum(mark.right is False for mark in latest.values()),
        known=known,
        held_out=held_out,
        labels=sum(map(len, added.values())),
        questions=len(new),
        other_laws=len(marks) - len(own),
    )
    return replace(corpus, questions=(*questions, *new)), summary


def add_feedback(
    corpus: Corpus, marks: Path | str, out: Path | str, *, name: str | None = None, force: bool = False
) -> tuple[Corpus, FeedbackSummary]:
    """Write a corpus with the marks of a service's `feedback.jsonl` as labels to a folder, and return both.

    Args:
        corpus: the corpus that the readers searched.
        marks: the file, as in `read_marks`.
        out: the corpus folder.
        name: of the new corpus; None for that of the other.
        force: whether to replace a corpus that is there.

    Raises:
        CorpusError: as in `read_marks`, and if the folder holds anything, or with `force` anything but a corpus.
    """
    checked_corpus(corpus)
    with held_for_writing(Path(out), replace=force):
        after, summary = with_feedback(corpus, read_marks(Path(marks), corpus.article_rows, corpus.name))
        after = replace(after, name=name or after.name)
        write_corpus(after, Path(out))
    return after, summary


def _mark(draft: Draft, place: str, record: Mapping[str, object]) -> Mark:
    question = string_field(draft, place, record, "question")
    article_id = string_field(draft, place, record, "article_id")
    right = record.get("right")
    if not question.strip():
        draft.add_problem(place, "the mark has no 'question'; give its text")
    if not article_id:
        draft.add_problem(place, "the mark has no 'article_id'; name the article")
    if "right" not in record or not isinstance(right, bool | None):
        kind = json_type(right) if "right" in record else "missing"
        draft.add_problem(place, f"'right' is {kind}; give true, false, or null to take an earlier mark back")
        right = False
    return Mark(question, article_id, right, _time(draft, place, record), string_field(draft, place, record, "law"))


def _time(draft: Draft, place: str, record: Mapping[str, object]) -> datetime:
    text = string_field(draft, place, record, "time")
    if not text:
        return _EARLIEST
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        draft.add_problem(place, f"'time' is '{text}', not an ISO 8601 time; write it like 2026-01-31T12:00:00+00:00")
        return _EARLIEST
    return time if time.tzinfo else time.replace(tzinfo=UTC)
