"""A corpus as Parquet tables, which data tools read and write by the column. Needs the extra `parquet`.

The names are BEIR's; each table is a file `NAME.parquet`, or a folder `NAME` of such files:

- `corpus`: `_id`, `title`, `number`, `rubric`, `text`, `path` (a list of headings from the code down, or one text with
  " > " between them), `order` (the place in the code; without it that of the row).
- `queries`: `_id`, `text`; `set`, the name of a question set other than the main one.
- `qrels/SPLIT`: `query-id`, `corpus-id`, `score`.
- `citing`: `_id`, `title`, `text`, `cites` (a list of ids), `question_id`, `part`.

`corpus` and `queries` can have a column `metadata`, a JSON object as text. Any other column of theirs is metadata too.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from statgraph import artifacts
from statgraph.errors import reason_of
from statgraph.extras import require
from statgraph.formats.tables import split_path
from statgraph.law.draft import Draft, SourceFormat
from statgraph.law.fields import (
    LABEL_COLUMNS,
    FieldNames,
    draft_article,
    draft_citing,
    draft_label,
    draft_question,
)
from statgraph.law.lines import table_value
from statgraph.law.records import SET_KEY, SPLITS, Corpus
from statgraph.law.store import BEIR_SPLITS, article_record, citing_record, label_rows, question_record
from statgraph.law.validity import VALID_FROM, VALID_TO

ARTICLES, QUESTIONS, CITING = "corpus", "queries", "citing"
_SUFFIX = ".parquet"
ARTICLE_NAMES = FieldNames(id=("_id",), title="title", number="number", rubric="rubric", path="path", order="order")
QUESTION_NAMES = FieldNames(id=("_id",))


def draft_parquet(draft: Draft, source: Path) -> None:
    """Fill a draft from a folder of Parquet tables, or from a single file of articles.

    Raises:
        DependencyError: if pyarrow is missing.
    """
    require("parquet")
    with draft.articles_from(source.name if source.is_file() else f"{ARTICLES}{_SUFFIX}"):
        for place, row in _table(draft, source, ARTICLES):
            parquet_article(draft, place, row, default_path=(draft.name,))
    for place, row in _table(draft, source, QUESTIONS):
        draft_question(draft, place, _record(draft, place, row), QUESTION_NAMES)
    for place, row in _table(draft, source, CITING):
        draft_citing(draft, place, row)
    for name, split in BEIR_SPLITS.items():
        for place, row in _table(draft, source, f"{artifacts.CORPUS_LABELS}/{name}", needed=LABEL_COLUMNS[:2]):
            draft_label(draft, place, {LABEL_COLUMNS[-1]: 1, **row}, split)


def parquet_article(draft: Draft, place: str, row: Mapping[str, object], *, default_path: tuple[str, ...] = ()) -> None:
    """Add the article of a row, with its values by column."""
    record = _record(draft, place, row)
    if isinstance(path := record.get("path"), str):
        record["path"] = split_path(path)
    draft_article(draft, place, record, ARTICLE_NAMES, default_path=default_path)


def _table(
    draft: Draft, source: Path, table: str, needed: tuple[str, ...] = ("_id", "text")
) -> Iterator[tuple[str, dict[str, object]]]:
    """Yield (place, values by column) for each row of a table: NAME.parquet, or all such files in a folder NAME."""
    if source.is_file():
        files = [source] if table == ARTICLES else []
    elif (single := source / f"{table}{_SUFFIX}").is_file():
        files = [single]
    else:
        files = sorted((source / table).glob(f"*{_SUFFIX}"))
    if not files and table == ARTICLES:
        draft.add_problem(str(source), f"holds no {ARTICLES}{_SUFFIX}; put a table of the articles there")
    for path in files:
        yield from parquet_rows(
            draft, path, path.name if path == source else path.relative_to(source).as_posix(), needed
        )


def parquet_rows(
    draft: Draft, path: Path, name: str, needed: tuple[str, ...] = ()
) -> Iterator[tuple[str, dict[str, object]]]:
    """Yield (place, values by column) for each row of a file; what cannot be read becomes a problem of the draft."""
    import pyarrow
    from pyarrow import parquet

    try:
        with parquet.ParquetFile(path) as file:
            columns = file.schema_arrow.names
            missing = [column for column in needed if column not in columns]
            if missing:
                found = ", ".join(columns)
                draft.add_problem(name, f"no column {', '.join(missing)} (found: {found}); add it to the table")
                return
            rows = (row for batch in file.iter_batches() for row in batch.to_pylist())
            for number, row in enumerate(rows, start=1):
                row = {column: table_value(value) for column, value in row.items()}
                draft.report.read_cells(
                    f"{name} row {number}", [_json_object(value) or value for value in row.values()]
                )
                yield f"{name} row {number}", row
    except (pyarrow.ArrowException, OSError) as error:
        draft.add_problem(name, f"cannot be read as Parquet ({reason_of(error)}); write it again")


def _record(draft: Draft, place: str, row: Mapping[str, object]) -> dict[str, object]:
    """Return the values of a row that has a column `metadata` or none, and those that this holds."""
    held = _json_object(row.get("metadata") or {})
    if held is None:
        draft.add_problem(place, '\'metadata\' is not a JSON object; write it as text, like {"name": "value"}')
    return {
        **(held or {}),
        **{column: value for column, value in row.items() if column != "metadata" and value is not None},
    }


def _json_object(value: object) -> dict[str, object] | None:
    """Return the object that a cell is, or holds as JSON; None if it is neither."""
    if isinstance(value, str) and value.startswith("{"):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return None
    return value if isinstance(value, dict) else None


def write_parquet(corpus: Corpus, folder: Path) -> None:
    """Write the tables of a whole corpus, every set of questions included, and a `manifest.json` with its name,
    language, licence and source, to an empty folder; `import parquet` reads an equal corpus from them.

    Raises:
        DependencyError: if pyarrow is missing.
    """
    require("parquet")
    from pyarrow import Table, list_, parquet, schema, string, uint32

    texts = {"_id": string(), "title": string(), "text": string()}
    optional = dict.fromkeys(("number", "rubric", VALID_FROM, VALID_TO), string())
    columns = {
        ARTICLES: texts | {"path": list_(string()), "order": uint32()} | optional | {"metadata": string()},
        QUESTIONS: {"_id": string(), "text": string(), SET_KEY: string(), "metadata": string()},
        CITING: texts | {"cites": list_(string()), "question_id": string(), "part": string()},
    }
    rows = {
        ARTICLES: [_row(article_record(article), columns[ARTICLES]) for article in corpus.articles],
        QUESTIONS: [_row(question_record(question), columns[QUESTIONS]) for question in corpus.questions],
        CITING: [{"question_id": "", "part": "", **citing_record(text)} for text in corpus.citing],
    }
    (folder / artifacts.CORPUS_LABELS).mkdir()
    for split in SPLITS:
        table = f"{artifacts.CORPUS_LABELS}/{split}"
        columns[table] = dict(zip(LABEL_COLUMNS, (string(), string(), uint32()), strict=True))
        rows[table] = [dict(zip(LABEL_COLUMNS, row, strict=True)) for row in label_rows(corpus, split)]
    for table, of_table in rows.items():
        if of_table or table != CITING:
            parquet.write_table(Table.from_pylist(of_table, schema(columns[table])), folder / f"{table}{_SUFFIX}")
    about = {name: getattr(corpus, name) for name in ("name", "language", "licence", "source", "content_hash")}
    artifacts.write_json(folder / artifacts.MANIFEST, about)


def _row(record: dict[str, Any], columns: Mapping[str, object]) -> dict[str, object]:
    """Return a record with the metadata that has a column there, and the rest as JSON text."""
    metadata = record["metadata"]
    rest = {name: value for name, value in metadata.items() if name not in columns}
    return {**metadata, **record, "metadata": json.dumps(rest, ensure_ascii=False) if rest else None}


FORMAT = SourceFormat(
    "corpus.parquet, queries.parquet, qrels/*.parquet",
    draft_parquet,
    suffixes=(_SUFFIX,),
    files=(f"{ARTICLES}{_SUFFIX}",),
)
