"""Records of any source as articles, questions, labels and citing texts of a draft: the names that the source has for
their fields, and the typed values under those."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any

from statgraph.law.draft import MADE_ID, Draft
from statgraph.law.lines import json_type
from statgraph.law.normal_text import comparable_question
from statgraph.law.records import MAIN_SET, SET_KEY, SPLITS
from statgraph.law.validity import with_plain_dates

LABEL_COLUMNS = ("query-id", "corpus-id", "score")
OTHER_COLUMNS = "columns that are not read"  # a rule of the account of tables
_CITING_KEYS = ("_id", "id", "title", "text", "cites", "question_id", "part")

# Replaces a value whose problem is recorded, so that the rest of the record is still checked.
UNREADABLE = "?"


@dataclass(frozen=True)
class FieldNames:
    """The keys under which the records of a source hold the fields of an article or a question; "" for one that they
    do not have.

    Attributes:
        id, text: of several keys, the first with a value.
        path: a list of the headings above an article, from the code down.
        heading: the id of the heading above an article, in place of its path.
        order: the place of an article in its code.
        articles: a list of the ids of the articles that answer a question.
        metadata: the keys that are kept as metadata; None for all others.
        makes_ids: whether a question without an id gets one, and a question of another file with the same text is the
            same question.
        within: an object whose keys count as those of the record, as the metadata of a corpus; "" for none.
    """

    id: tuple[str, ...]
    title: str = ""
    text: tuple[str, ...] = ("text",)
    number: str = ""
    rubric: str = ""
    path: str = ""
    heading: str = ""
    order: str = ""
    articles: str = ""
    split: str = ""
    metadata: tuple[str, ...] | None = None
    makes_ids: bool = False
    within: str = ""

    @cached_property
    def read(self) -> frozenset[str]:
        """Return the keys of a record that are read, beside those of metadata."""
        of_article = (self.title, self.number, self.rubric, self.path, self.heading, self.order)
        return frozenset((*self.id, *self.text, *of_article, self.articles, self.split))


def draft_article(
    draft: Draft,
    place: str,
    record: Mapping[str, object],
    names: FieldNames,
    *,
    paths: Mapping[str, tuple[str, ...]] = MappingProxyType({}),
    default_path: Sequence[str] = (),
    derive: Callable[[Mapping[str, Any]], Mapping[str, object]] | None = None,
) -> None:
    """Add the article of a record.

    Args:
        paths: those of headings, by id.
        default_path: of an article that has none.
        derive: returns from the values that the record has for `Draft.add_article` those that replace some of them.
    """
    record = _flat(draft, place, record, names)
    article_id = id_field(draft, place, record, *names.id)
    heading_id = id_field(draft, place, record, names.heading)
    if article_id is None or heading_id is None:
        return
    article: dict[str, Any] = {
        "article_id": article_id,
        "title": string_field(draft, place, record, names.title),
        "text": string_field(draft, place, record, *names.text),
        "path": path_field(draft, place, record, names.path, within=names.within),
        "order": _order(draft, place, record, names.order, within=names.within),
        "metadata": _with_days(draft, place, article_id, _metadata(draft, record, names)),
        "number": id_field(draft, place, record, names.number) or "",
        "rubric": string_field(draft, place, record, names.rubric),
    }
    draft.report.keep_cells((article["order"],))
    if heading_id := heading_id.strip():
        if article["path"]:
            draft.add_problem(place, f"article '{article_id}' has both a path and the heading '{heading_id}'; keep one")
        elif heading_id not in paths:
            draft.add_problem(
                place,
                f"article '{article_id}' is under heading '{heading_id}', which does not exist; "
                "add it to the table of headings",
            )
        article["path"] = paths.get(heading_id, (UNREADABLE,))
        draft.report.keep_cells((heading_id,))
    article["path"] = article["path"] or default_path
    draft.add_article(place, **{**article, **derive(article)} if derive else article)


def draft_question(
    draft: Draft, place: str, record: Mapping[str, object], names: FieldNames, *, split: str | None = None
) -> None:
    """Add the question of a record, with its labels; `split` is that of records that name none."""
    record = _flat(draft, place, record, names)
    question_id = id_field(draft, place, record, *names.id)
    if question_id is None:
        return
    question_id = question_id.strip()
    text = string_field(draft, place, record, *names.text)
    article_ids = ids_field(draft, place, record, names.articles)
    said = string_field(draft, place, record, names.split).strip()
    draft.report.keep_cells((said,))
    question_set = str(record.get(SET_KEY) or MAIN_SET)
    same = draft.question_with(text, question_set) if names.makes_ids else ""
    if same and (not question_id or not draft.is_from(same, place)):
        question_id, said = same, said or draft.split_of(same) or ""
        draft.report.keep_cells((text,))
    else:
        if names.makes_ids and not question_id:
            known_by = comparable_question(text) + question_set * (question_set != MAIN_SET)
            question_id = MADE_ID + hashlib.sha256(known_by.encode()).hexdigest()[:12]
        draft.add_question(place, question_id=question_id, text=text, metadata=_metadata(draft, record, names))
    split = (said.lower() if said.lower() in SPLITS else said) or split
    if split not in (None, *SPLITS):
        draft.add_problem(place, f"unknown split '{split}'; use one of {', '.join(SPLITS)}, or none")
    elif question_id:
        for article_id in article_ids:
            draft.add_label(place, question_id=question_id, article_id=article_id, split=split)


def draft_citing(draft: Draft, place: str, record: Mapping[str, object]) -> None:
    """Add the citing text of a record, whose id is under `_id` or `id`."""
    citing_id = id_field(draft, place, record, "_id", "id")
    leave_out_others(draft, record, _CITING_KEYS)
    question_id = id_field(draft, place, record, "question_id")
    if citing_id is not None and question_id is not None:
        draft.add_citing(
            place,
            citing_id=citing_id,
            title=string_field(draft, place, record, "title"),
            text=string_field(draft, place, record, "text"),
            article_ids=ids_field(draft, place, record, "cites"),
            question_id=question_id,
            part=string_field(draft, place, record, "part"),
        )


def draft_label(draft: Draft, place: str, record: Mapping[str, object], split: str) -> None:
    """Add the label of a record with `LABEL_COLUMNS`, if its score says that the article answers."""
    question, article, score = LABEL_COLUMNS
    values = [record.get(column) for column in LABEL_COLUMNS]
    if not _is_relevant(draft, place, record.get(score)):
        draft.report.leave_out_cells("labels with a score of 0", values)
    else:
        draft.report.keep_cells(values)
        question_id, article_id = (id_field(draft, place, record, column) for column in (question, article))
        draft.add_label(place, question_id=question_id or "", article_id=article_id or "", split=split)


def leave_out_others(draft: Draft, record: Mapping[str, object], keys: Collection[str]) -> None:
    """Add to the account of tables what a record holds under other keys, which nothing reads."""
    draft.report.leave_out_cells(OTHER_COLUMNS, (value for key, value in record.items() if key not in keys))


def _flat(draft: Draft, place: str, record: Mapping[str, object], names: FieldNames) -> Mapping[str, object]:
    """Return a record with what the object in it holds."""
    if not names.within:
        return record
    own = {key: value for key, value in record.items() if key != names.within}
    return {**object_field(draft, place, record, names.within), **own}


def _metadata(draft: Draft, record: Mapping[str, object], names: FieldNames) -> dict[str, object]:
    if names.metadata is None:
        return {key: value for key, value in record.items() if key not in names.read}
    leave_out_others(draft, record, names.read.union(names.metadata))
    return {key: record[key] for key in names.metadata if record.get(key)}


def _with_days(draft: Draft, place: str, article_id: str, metadata: Mapping[str, object]) -> Mapping[str, object]:
    """Return the metadata of an article with the days on which it is in force as a corpus holds them; what is wrong
    with its last day becomes a problem of the draft."""
    try:
        plain = with_plain_dates(metadata)
    except ValueError as error:
        draft.add_problem(place, f"article '{article_id}' {error}")
        return metadata
    if plain is not metadata:
        draft.report.keep_cells(metadata.values())
    return plain


def _is_relevant(draft: Draft, place: str, score: object) -> bool:
    """Return whether a label's score is above 0; one that is not a number becomes a problem of the draft."""
    try:
        return float(None if isinstance(score, bool) else score) > 0  # type: ignore[arg-type]
    except (TypeError, ValueError):
        draft.add_problem(place, f"score {score!r} is not a number; use 1 for an article that answers")
        return False


def _first(record: Mapping[str, object], keys: tuple[str, ...]) -> tuple[str, object]:
    """Return the first key that holds a value, and that value; the first key and None if none does."""
    for key in keys:
        if key and (value := record.get(key)) is not None:
            return key, value
    return keys[0], None


def id_field(draft: Draft, place: str, record: Mapping[str, object], *keys: str) -> str | None:
    """Return the id under the first key that holds one; "" where none does, None with the problem recorded.

    Numbers without a fraction are ids too.
    """
    key, value = _first(record, keys)
    if value is None:
        return ""
    if not _is_id(value):
        draft.add_problem(place, f"'{key}' is {json_type(value)}, not a string; put the id in quotes")
        return None
    return str(value)


def string_field(draft: Draft, place: str, record: Mapping[str, object], *keys: str) -> str:
    """Return the string under the first key that holds a value, "" where none does."""
    key, value = _first(record, keys)
    if value is None or isinstance(value, str):
        return value or ""
    draft.add_problem(place, f"'{key}' is {json_type(value)}, not a string; put it in quotes")
    return UNREADABLE


def object_field(draft: Draft, place: str, record: Mapping[str, object], key: str) -> Mapping[str, object]:
    """Return the object under a key, {} where it is absent or null."""
    value = record.get(key)
    if isinstance(value, Mapping):
        return value
    if value is not None:
        draft.add_problem(place, f'\'{key}\' is {json_type(value)}, not an object; write it like {{"name": "value"}}')
    return {}


def path_field(
    draft: Draft, place: str, record: Mapping[str, object], key: str, *, within: str = ""
) -> tuple[str, ...]:
    """Return the headings under a key, () where it is absent or null. `within` is the key of the record itself."""
    _, value = _first(record, (key,))
    if isinstance(value, list | tuple) and all(isinstance(heading, str) for heading in value):
        return tuple(value)
    if value is None:
        return ()
    draft.add_problem(
        place,
        f"'{_within(within, key)}' is not a list of strings; name the headings above the article, from the code down",
    )
    return (UNREADABLE,)


def ids_field(draft: Draft, place: str, record: Mapping[str, object], key: str) -> tuple[str, ...]:
    """Return the ids in the list under a key, () where it is absent or null."""
    _, value = _first(record, (key,))
    if isinstance(value, list | tuple) and all(_is_id(item) for item in value):
        return tuple(str(item) for item in value)
    if value is not None:
        draft.add_problem(place, f'\'{key}\' is not a list of ids; write it like ["id 1", "id 2"]')
    return ()


def _order(draft: Draft, place: str, record: Mapping[str, object], key: str, *, within: str) -> int | None:
    _, order = _first(record, (key,))
    if order is None or (isinstance(order, int) and not isinstance(order, bool)):
        return order
    draft.add_problem(place, f"{_within(within, key)} {order!r} is not a whole number; give the place in the code")
    return None


def _within(within: str, key: str) -> str:
    return f"{within}.{key}" if within else key


def _is_id(value: object) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool)
