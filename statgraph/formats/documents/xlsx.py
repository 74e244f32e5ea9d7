"""Tables of a spreadsheet program: those of `statgraph.formats.tables`, each in a file or on a sheet of its
own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

from statgraph.errors import reason_of
from statgraph.extras import require
from statgraph.formats.documents.office import archive_problem
from statgraph.formats.tables import NEEDED_COLUMNS, PlacedRecords, draft_records, draft_tables, records_of_rows
from statgraph.law.draft import Draft, SourceFormat
from statgraph.law.lines import table_value

MAX_COLUMNS = 200
_Rows = list[tuple[str, list[str]]]


def draft_xlsx(draft: Draft, source: Path) -> None:
    """Fill a draft from a folder with a file for each table, or from one file: its sheets with the name of a table, or
    its first sheet, which holds the articles.

    Raises:
        DependencyError: if openpyxl is missing.
    """
    require("documents", "openpyxl")

    def read(path: Path, table: str) -> PlacedRecords:
        return records_of_rows(draft, table, sheet_rows(draft, path))

    if source.is_dir():
        return draft_tables(draft, source, ".xlsx", read)
    sheets = _sheets(draft, source)
    names = {name.strip().casefold(): name for name in sheets}
    chosen = {table: names[table] for table in NEEDED_COLUMNS if table in names}
    if sheets:
        chosen.setdefault("articles", next(iter(sheets)))
    _leave_out(draft, [(name, rows) for name, rows in sheets.items() if name not in chosen.values()])
    if chosen:
        tables = {table: records_of_rows(draft, table, sheets[name]) for table, name in chosen.items()}
        draft_records(draft, tables, source.name)
    elif not draft.problem_count:
        draft.add_problem(source.name, "holds no filled cell; name the columns on its first row")


def sheet_rows(draft: Draft, path: Path) -> _Rows:
    """Return the rows of the first sheet of a file, none where it has none; the others are left out.

    Raises:
        DependencyError: if openpyxl is missing.
    """
    require("documents", "openpyxl")
    first, *others = _sheets(draft, path).items() or [("", [])]
    _leave_out(draft, others)
    return first[1]


def _leave_out(draft: Draft, sheets: Iterable[tuple[str, _Rows]], rule: str = "sheets without a table") -> None:
    for name, rows in sheets:
        draft.left_out.append(f"sheet '{name}' ({len(rows):,} rows)")
        draft.report.leave_out_cells(rule, chain.from_iterable(cells for _, cells in rows))


def _sheets(draft: Draft, path: Path) -> dict[str, _Rows]:
    """Return the rows of each sheet that has any, by its name; what cannot be read becomes a problem of the draft."""
    if problem := archive_problem(path, "xl/workbook.xml"):
        draft.add_problem(path.name, problem)
        return {}
    import openpyxl

    try:
        workbook = openpyxl.load_workbook(path, read_only=True, data_only=True)
        names = workbook.sheetnames
        sheets = {
            sheet.title: list(_rows(sheet, path.name if len(names) == 1 else f"{path.name}[{sheet.title}]"))
            for sheet in workbook.worksheets
        }
        hidden = {sheet.title for sheet in workbook.worksheets if sheet.sheet_state != "visible"}
        workbook.close()
    except Exception as error:  # openpyxl raises what the XML makes it raise
        draft.add_problem(path.name, f"cannot be read as .xlsx ({reason_of(error)}); save it again")
        return {}
    sheets = {name: rows for name, rows in sheets.items() if rows}
    for place, cells in chain.from_iterable(sheets.values()):
        draft.report.read_cells(place, cells)
    _leave_out(draft, [(name, rows) for name, rows in sheets.items() if name in hidden], "hidden sheets")
    return {name: rows for name, rows in sheets.items() if name not in hidden}


def _rows(sheet, name: str) -> Iterator[tuple[str, list[str]]]:  # type: ignore[no-untyped-def]
    """Yield (place, cells as texts) for each row that is not blank, without the blank columns on the right."""
    rows = []
    sheet.reset_dimensions()  # what a file says of its size can be wrong
    for number, values in enumerate(sheet.iter_rows(values_only=True), start=1):
        cells = list(map(_text, values[:MAX_COLUMNS]))
        if any(cells):
            rows.append((f"{name}:{number}", cells))
    width = max((i + 1 for _, cells in rows for i, cell in enumerate(cells) if cell), default=0)
    for place, cells in rows:
        yield place, (cells + [""] * width)[:width]


def _text(value: object) -> str:
    value = table_value(value)
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value).strip()


FORMAT = SourceFormat(
    "tables of a spreadsheet, as of csv, on one sheet or several",
    draft_xlsx,
    takes=("columns", "code"),
    suffixes=(".xlsx", ".xlsm"),
    files=("articles.xlsx",),
)
