"""Public sets of questions about statutes, each from the files of its own publication.

- STARD (Su et al., 2024): `corpus.jsonl`, `queries.json`; `qrels.train.tsv` and `qrels.dev.tsv` say a question's split.
- GerLayQA (Büttner and Habernal, 2024): `bgb.json`, and the posts in `bgb_train.json`, `bgb_dev.json`, `bgb_eval.json`.
- AILA 2019, LegalQA-NL and the Zalo AI Challenge 2021 as MTEB has them: `corpus`, `queries` and `qrels/SPLIT`, each as
  JSON lines or Parquet. Questions that are repeated count once. One with labels of several splits is held out, with the
  labels of test or else of dev alone, so that figures compare with MTEB's.
"""

from __future__ import annotations

import json
import re
from bisect import bisect
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from statgraph.extras import require
from statgraph.formats.parquet import parquet_rows
from statgraph.law.draft import Draft
from statgraph.law.fields import (
    LABEL_COLUMNS,
    FieldNames,
    draft_article,
    draft_label,
    draft_question,
    ids_field,
    string_field,
)
from statgraph.law.lines import all_lines, json_lines, json_type

BGB = "Bürgerliches Gesetzbuch"
BGB_BOOKS = {  # by their first section
    1: "Buch 1. Allgemeiner Teil",
    241: "Buch 2. Recht der Schuldverhältnisse",
    854: "Buch 3. Sachenrecht",
    1297: "Buch 4. Familienrecht",
    1922: "Buch 5. Erbrecht",
}
GERLAYQA_POSTS = {"train": "bgb_train.json", "dev": "bgb_dev.json", "test": "bgb_eval.json"}
_CHINESE_NUMBER = re.compile(r"第[〇零一二三四五六七八九十百千]+条(?:之[一二三四五六七八九十]+)?$")
_SECTION = re.compile(r"§ (\d+)")
_AILA_TEXT = re.compile(r"\s*Title:\s*(?P<title>.*?)\s*\bDesc:\s*(?P<text>.*)", re.DOTALL)

STARD_ARTICLE = FieldNames(id=("id",), title="name", text=("content",), metadata=())
STARD_QUESTION = FieldNames(id=("query_id",), text=("问题",), articles="match_id", metadata=())
GERLAYQA_ARTICLE = FieldNames(id=("id",), text=("content",), metadata=())
GERLAYQA_QUESTION = FieldNames(id=("id",), text=("Question_text",), articles="Paragraphs", metadata=())
RETRIEVAL_ARTICLE = FieldNames(id=("_id", "id"), title="title", metadata=())
RETRIEVAL_QUESTION = FieldNames(id=("_id", "id"), metadata=())

Placed = Iterator[tuple[str, dict[str, Any]]]
Values = Mapping[str, Any]  # of an article, as `Draft.add_article` takes them
Parts = tuple[str, str, str]  # of an article: its title, text and law, "" if that is not known


def draft_stard(draft: Draft, folder: Path) -> None:
    """Fill a draft with STARD, whose articles are named by law and number."""
    with draft.articles_from("corpus.jsonl"):
        for place, record in json_lines(draft, folder / "corpus.jsonl", "corpus.jsonl"):
            draft_article(draft, place, record, STARD_ARTICLE, derive=_stard_values)
    splits: dict[str, str] = {}
    for split in ("train", "dev"):
        name = f"qrels.{split}.tsv"
        splits |= {line.split()[0]: split for _, line in all_lines(draft, folder / name, name) if line.strip()}
    for place, record in _json_list(draft, folder / "queries.json"):
        draft_question(draft, place, record, STARD_QUESTION, split=splits.get(str(record.get("query_id"))))


def _stard_values(article: Values) -> Values:
    """Return title, text and path of an article whose title is its law's name and its number."""
    name = article["title"].strip()
    text = article["text"].replace("\\n", "\n").strip()
    return {"title": name, "text": text or name, "path": (_CHINESE_NUMBER.sub("", name) or name,)}


def draft_gerlayqa(draft: Draft, folder: Path) -> None:
    """Fill a draft with GerLayQA. Posts without text, and references to sections that are not there, are left out."""
    with draft.articles_from("bgb.json"):
        for place, record in _json_list(draft, folder / "bgb.json"):
            draft_article(draft, place, record, GERLAYQA_ARTICLE, derive=_gerlayqa_values)
    for split, name in GERLAYQA_POSTS.items():
        for number, (place, record) in enumerate(_json_list(draft, folder / name), start=1):
            cited = map(_bare, ids_field(draft, place, record, GERLAYQA_QUESTION.articles))
            if string_field(draft, place, record, *GERLAYQA_QUESTION.text).strip():
                known = [article_id for article_id in cited if article_id in draft.article_ids]
                post = {**record, "id": f"{split}-{number}", GERLAYQA_QUESTION.articles: known}
                draft_question(draft, place, post, GERLAYQA_QUESTION, split=split)


def _gerlayqa_values(article: Values) -> Values:
    """Return the values of an article whose id is its number, and whose text begins with its rubric."""
    paragraph = article["article_id"]
    rubric, _, text = article["text"].partition(". ")
    section = _SECTION.match(paragraph)
    book = list(BGB_BOOKS.values())[bisect(list(BGB_BOOKS), int(section[1]) if section else 1) - 1]
    return {
        "article_id": _bare(paragraph),
        "title": f"{paragraph} BGB",
        "text": text or rubric,
        "path": (BGB, book),
        "number": paragraph,
        "rubric": rubric if text else "",
    }


def _bare(paragraph: str) -> str:
    """Return "573b" of "§ 573b": an id without a space."""
    return paragraph.removeprefix("§").strip()


def _aila_parts(article_id: str, title: str, text: str) -> Parts:
    """Return the parts of a statute of AILA's, whose text begins with its title."""
    match = _AILA_TEXT.fullmatch(text)
    return (match["title"], match["text"], "") if match else (title, text, "")


def _legalqa_parts(article_id: str, title: str, text: str) -> Parts:
    """Return the parts of an article of LegalQA-NL's, whose text begins with a line of law, chapter and article."""
    head, line_end, rest = text.partition("\n")
    return (head, rest, head.partition(", ")[0]) if line_end else (title, text, "")


def _zalo_parts(article_id: str, title: str, text: str) -> Parts:
    """Return the parts of an article whose id is like "47/2011/tt-bca+7": its law's and its number."""
    return title, text, article_id.rpartition("+")[0].upper()


def _draft_retrieval(draft: Draft, folder: Path, parts: Callable[[str, str, str], Parts]) -> None:
    """Fill a draft from the tables of a retrieval task; `parts` takes an article's id, title and text."""

    def derive(article: Values) -> Values:
        title, text, law = parts(article["article_id"], article["title"], article["text"])
        # Some laws have a short article in its title alone.
        return {"title": title, "text": text.strip() or title, "path": (law or draft.name,)}

    with draft.articles_from("corpus"):
        for place, row in _table(draft, folder, "corpus"):
            draft_article(draft, place, row, RETRIEVAL_ARTICLE, derive=derive)
    seen = set()
    for place, row in _table(draft, folder, "queries"):
        question_id = str(row.get("_id") or row.get("id"))
        if question_id not in seen:
            draft_question(draft, place, row, RETRIEVAL_QUESTION)
        seen.add(question_id)
    splits: dict[str, str] = {}
    for split in ("test", "dev", "train"):
        for place, row in _table(draft, folder, f"qrels/{split}"):
            if splits.setdefault(str(row.get(LABEL_COLUMNS[0])), split) == split:
                draft_label(draft, place, row, split)


draft_aila = partial(_draft_retrieval, parts=_aila_parts)
draft_legalqa_nl = partial(_draft_retrieval, parts=_legalqa_parts)
draft_zalo = partial(_draft_retrieval, parts=_zalo_parts)


def _table(draft: Draft, folder: Path, name: str) -> Placed:
    """Yield (place, row) of a table: of `NAME.jsonl` or `NAME.parquet`, or of `NAME/*.parquet` or `NAME-*.parquet`."""
    patterns = (f"{name}.jsonl", f"{name}.parquet", f"{name}/*.parquet", f"{name}-*.parquet")
    files = sorted(chain.from_iterable(map(folder.glob, patterns)))
    if not files and "/" not in name:
        draft.add_problem(str(folder), f"holds no {', no '.join(patterns)}; put the table there")
    for path in files:
        place = path.relative_to(folder).as_posix()
        if path.suffix == ".jsonl":
            yield from json_lines(draft, path, place)
        else:
            require("parquet")
            yield from parquet_rows(draft, path, place)


def _json_list(draft: Draft, path: Path) -> Placed:
    """Yield (place, object) for each of a JSON file's list; what else it holds becomes a problem of the draft."""
    try:
        values: object = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        return draft.add_problem(path.name, f"cannot be read as JSON ({error}); download it again")
    if not isinstance(values, list):
        return draft.add_problem(path.name, f"holds {json_type(values)}, not a list; download it again")
    for number, value in enumerate(values):
        place = f"{path.name}[{number}]"
        if isinstance(value, dict):
            yield place, value
        else:
            draft.add_problem(place, f"is {json_type(value)}, not an object; download the file again")
