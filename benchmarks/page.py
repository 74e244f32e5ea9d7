"""docs/performance.md and docs/other-tools.md: the tables of all results on disk, between the marks kept for them."""

from __future__ import annotations

from pathlib import Path

from benchmarks.results import read_results

DOCS = Path(__file__).parent.parent / "docs"
PAGE, TOOLS_PAGE, TOOLS = DOCS / "performance.md", DOCS / "other-tools.md", "known_tools"
BEGIN, END = "<!-- table: python -m benchmarks -->", "<!-- end of table -->"
# Figure of a row -> its column and how it is written.
_COLUMNS = {
    "S@1": ("S@1", "{:.1f}"), "S@3": ("S@3", "{:.1f}"), "R@100": ("R@100", "{:.1f}"),
    "first_s": ("first answer, s", "{:,.0f}"), "again_s": ("after a restart, s", "{:.1f}"),
    "question_ms": ("a question, ms", "{:,.1f}"), "memory_mb": ("memory, MB", "{:,.0f}"),
    "disk_mb": ("disk, MB", "{:,.1f}"), "lines": ("lines of code", "{:.0f}"),
}  # fmt: skip


def write() -> None:
    """Put the tables of the results on disk into the pages; what people wrote around them stays."""
    results = read_results()
    tools = results.pop(TOOLS, None)
    _put(PAGE, table(results))
    if tools is not None:
        _put(TOOLS_PAGE, tools_table(tools))


def _put(page: Path, written: str) -> None:
    text = page.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN, 1)
    _, after = rest.split(END, 1)
    page.write_text(f"{before}{BEGIN}\n\n{written}\n{END}{after}", encoding="utf-8")


def tools_table(result: dict) -> str:
    """Return a Markdown table for each law of `known_tools`, a line a tool, and where they come from."""
    lines: list[str] = []
    law = None
    for row in result["rows"]:
        if row["what"] != law:
            law = row["what"]
            lines += [*[""] * bool(lines), f"**{law}**", ""]
            lines += ["| | " + " | ".join(column for column, _ in _COLUMNS.values()) + " |"]
            lines += ["| --- " + "| ---: " * len(_COLUMNS) + "|"]
        figures = [written.format(row["figures"][name]) for name, (_, written) in _COLUMNS.items() if row["figures"]]
        lines.append(
            f"| {row['against']} | " + " | ".join(figures or [row["note"], *[""] * (len(_COLUMNS) - 1)]) + " |"
        )
    about = result["about"]
    return "\n".join(
        [*lines, "", f"`{about['command']}`: commit {about['commit']}, {about['date']}, {about['machine']}.", ""]
    )


def table(results: dict[str, dict]) -> str:
    """Return the Markdown table of results by measure, and under it the notes of the rows that fall short or were not
    measured, and where each comes from; `benchmarks/results/` has the notes of all rows."""
    lines = ["| what | against | asked | reached | |", "| --- | --- | --- | --- | --- |"]
    notes, sources = [], []
    for result in results.values():
        for row in result["rows"]:
            mark = {True: "holds", False: "**falls short**", None: ""}[row["holds"]]
            if row["note"] and row["holds"] is not True and (row["asked"] or row["holds"] is False):
                if row["note"] not in notes:
                    notes.append(row["note"])
                mark = f"{mark} ({notes.index(row['note']) + 1})".strip()
            cells = (row["what"], row["against"], row["asked"], row["reached"], mark)
            lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
        about = result["about"]
        sources.append(f"- `{about['command']}`: commit {about['commit']}, {about['date']}, {about['machine']}")
    numbered = [f"{number}. {note}" for number, note in enumerate(notes, start=1)]
    return "\n".join([*lines, "", *numbered, *([""] if numbered else []), *sources, ""])
