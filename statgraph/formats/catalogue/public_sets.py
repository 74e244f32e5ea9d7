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
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from statgraph.extras import require
from statgraph.formats.parquet import parquet_rows
from statgraph.law.draft import Draft
from statgraph.law.lines import all_lines, id_field, ids_field, json_lines, json_type, string_field
from statgraph.law.store import LABEL_COLUMNS, is_relevant

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

Placed = Iterator[tuple[str, dict[str, Any]]]
Parts = tuple[str, str, str]  # of an article: its title, text and law, "" if that is not known


def draft_stard(draft: Draft, folder: Path) -> None:
    """Fill a draft with STARD, whose articles are named by law and number."""
    with draft.articles_from("corpus.jsonl"):
        for place, record in json_lines(draft, folder / "corpus.jsonl", "corpus.jsonl"):
            name = string_field(draft, place, record, "name").strip()
            text = string_field(draft, place, record, "content").replace("\\n", "\n").strip()
            law = _CHINESE_NUMBER.sub("", name) or name
            article_id = id_field(draft, place, record, "id") or ""
            draft.add_article(place, article_id=article_id, title=name, text=text or name, path=(law,))
    splits: dict[str, str] = {}
    for split in ("train", "dev"):
        name = f"qrels.{split}.tsv"
        splits |= {line.split()[0]: split for _, line in all_lines(draft, folder / name, name) if line.strip()}
    for place, record in _json_list(draft, folder / "queries.json"):
        question_id = id_field(draft, place, record, "query_id") or ""
        draft.add_question(place, question_id=question_id, text=string_field(draft, place, record, "问题"))
        for article_id in ids_field(draft, place, record, "match_id"):
            draft.add_label(place, question_id=question_id, article_id=article_id, split=splits.get(question_id))


def draft_gerlayqa(draft: Draft, folder: Path) -> None:
    """Fill a draft with GerLayQA. Posts without text, and references to sections that are not there, are left out."""
    known = set()
    with draft.articles_from("bgb.json"):
        for place, record in _json_list(draft, folder / "bgb.json"):
            paragraph = string_field(draft, place, record, "id")
            rubric, _, text = string_field(draft, place, record, "content").partition(". ")
            section = _SECTION.match(paragraph)
            book = list(BGB_BOOKS.values())[bisect(list(BGB_BOOKS), int(section[1]) if section else 1) - 1]
            draft.add_article(
                place,
                article_id=_bare(paragraph),
                title=f"{paragraph} BGB",
                text=text or rubric,
                path=(BGB, book),
                number=paragraph,
                rubric=rubric if text else "",
            )
            known.add(_bare(paragraph))
    for split, name in GERLAYQA_POSTS.items():
        for number, (place, record) in enumerate(_json_list(draft, folder / name), start=1):
            question_id, text = f"{split}-{number}", string_field(draft, place, record, "Question_text")
            if text.strip():
                draft.add_question(place, question_id=question_id, text=text)
                for article_id in map(_bare, ids_field(draft, place, record, "Paragraphs")):
                    if article_id in known:
                        draft.add_label(place, question_id=question_id, article_id=article_id, split=split)


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
    with draft.articles_from("corpus"):
        for place, row in _table(draft, folder, "corpus"):
            article_id = id_field(draft, place, row, "_id", "id") or ""
            title, text, law = parts(article_id, *(string_field(draft, place, row, key) for key in ("title", "text")))
            # Some laws have a short article in its title alone.
            text, path = text.strip() or title, (law or draft.name,)
            draft.add_article(place, article_id=article_id, title=title, text=text, path=path)
    seen = set()
    for place, row in _table(draft, folder, "queries"):
        question_id = id_field(draft, place, row, "_id", "id") or ""
        if question_id not in seen:
            draft.add_question(place, question_id=question_id, text=string_field(draft, place, row, "text"))
        seen.add(question_id)
    splits: dict[str, str] = {}
    question, article, score = LABEL_COLUMNS
    for split in ("test", "dev", "train"):
        for place, row in _table(draft, folder, f"qrels/{split}"):
            question_id, article_id = (id_field(draft, place, row, column) or "" for column in (question, article))
            if splits.setdefault(question_id, split) == split and is_relevant(draft, place, row.get(score)):
                draft.add_label(place, question_id=question_id, article_id=article_id, split=split)


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
