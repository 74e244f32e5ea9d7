"""BSARD (Louis and Spanakis, 2022) and bBSARD (Lotfi et al., 2025): statutes of Belgium with citizens' questions.

The folder holds the articles (`articles_fr.csv`, `articles.csv`, `corpus.csv`...) and the questions
(`questions_fr_train.csv`, `questions_train.csv`, `train.csv`..., and the same for the test).

- Tree: the columns of `LEVELS` from left to right, empty ones skipped. The older files have a `description`
  instead, the headings joined by commas. It is kept as one heading under the code: headings contain commas themselves,
  so splitting at each would invent some.
- Splits: neither set has a dev split. 15 % of the training questions, chosen by their ids, are dev, unless the folder
  contains a file of dev questions.
- Synthetic questions (`questions_fr_synthetic.csv`...) are no part of the corpus: training reads them from their file.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from statgraph.formats.tables import split_ids
from statgraph.law.draft import Draft, SourceFormat
from statgraph.law.fields import FieldNames, draft_article, draft_question
from statgraph.law.lines import csv_rows
from statgraph.law.splitting import split_of

LANGUAGES = ("fr", "nl")
LEVELS = ("code", "book", "part", "act", "chapter", "section", "subsection")
TRAIN_SHARES = (0.85, 0.15, 0.0)

ARTICLE_COLUMNS = ("id", "article", "code", "reference|article_no", "book|description")
QUESTION_COLUMNS = ("id", "question", "article_ids")
ARTICLE_NAMES = FieldNames(
    id=("id",), title="reference", text=("article",), path="path", metadata=("law_type", "article_no")
)
QUESTION_NAMES = FieldNames(
    id=("id",),
    text=("question",),
    articles="article_ids",
    metadata=("category", "subcategory", "extra_description"),
)

# The first that exists is read: of a detailed file and a plain one, the detailed one has the levels.
ARTICLE_FILES = (
    "articles_{language}_detailed.csv",
    "articles_{language}.csv",
    "articles.csv",
    "corpus_{language}.csv",
    "corpus.csv",
)
QUESTION_FILES = ("questions_{language}_{split}.csv", "questions_{split}.csv", "{split}.csv")

_LANGUAGE_IN_NAME = re.compile(r"^(fr|nl)$|_(fr|nl)(?=[_.])")


def draft_bsard(draft: Draft, source: Path) -> None:
    """Fill a draft from a folder of BSARD's or bBSARD's CSV files, in the language of the draft."""
    if not source.is_dir():
        return draft.add_problem(str(source), "is a file; name the folder that holds the articles and questions")
    folder = source / draft.language if (source / draft.language).is_dir() else source
    articles = _first_file(draft, folder, ARTICLE_FILES)
    if articles is None:
        return None
    _draft_articles(draft, articles)
    dev, synthetic = (_first_file(draft, folder, QUESTION_FILES, split, needed=False) for split in ("dev", "synthetic"))
    for split in ("train", "test"):
        questions = _first_file(draft, folder, QUESTION_FILES, split)
        if questions is not None:
            _draft_questions(draft, questions, split, hold_out=split == "train" and dev is None)
    if dev is not None:
        _draft_questions(draft, dev, "dev", hold_out=False)
    if synthetic is not None:
        draft.left_out.append(f"synthetic questions; train on them with --set augment.file={synthetic}")
    return None


def language_of(source: Path) -> str | None:
    """Return "fr" or "nl" where the folder's name, its only language folder or its file names have it, else None."""
    if source.resolve().name in LANGUAGES:
        return source.resolve().name
    names = [path.name for path in source.iterdir()] if source.is_dir() else [source.name]
    said = {match[1] or match[2] for name in names if (match := _LANGUAGE_IN_NAME.search(name))}
    return said.pop() if len(said) == 1 else None


def _draft_articles(draft: Draft, path: Path) -> None:
    with draft.articles_from(path.name):
        for place, row in csv_rows(draft, path, path.name, needed=ARTICLE_COLUMNS):
            cells: dict[str, Any] = {column: value.strip() for column, value in row.items()}
            code = cells["code"]
            levels = [cells.pop(level, "") for level in (LEVELS if "book" in cells else ("code", "description"))]
            cells["path"] = [level for level in levels if level] if code else ()
            cells["reference"] = cells.get("reference") or f"Art. {cells.get('article_no', '')}, {code}"
            draft_article(draft, place, cells, ARTICLE_NAMES)


def _draft_questions(draft: Draft, path: Path, split: str, *, hold_out: bool) -> None:
    for place, row in csv_rows(draft, path, path.name, needed=QUESTION_COLUMNS):
        own_split = split_of(row["id"].strip(), TRAIN_SHARES) if hold_out else split
        record = {**row, "article_ids": split_ids(row["article_ids"])}
        draft_question(draft, place, record, QUESTION_NAMES, split=own_split)


def _first_file(
    draft: Draft, folder: Path, patterns: Sequence[str], split: str = "", *, needed: bool = True
) -> Path | None:
    """Return the first file there is of the patterns; None, with the problem recorded if it is needed."""
    names = [pattern.format(language=draft.language, split=split) for pattern in patterns]
    file = next((folder / name for name in names if (folder / name).exists()), None)
    if file is None and needed:
        found = ", ".join(sorted(path.name for path in folder.iterdir())[:8]) or "nothing"
        draft.add_problem(str(folder), f"holds none of {', '.join(names)} (found: {found}); put that file there")
    return file


FORMAT = SourceFormat("the CSV files of BSARD or bBSARD", draft_bsard, language_of, files=("questions_*.csv",))
