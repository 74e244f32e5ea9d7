"""docs/performance.md: the table of all results on disk, between the marks that the page keeps for it."""

from __future__ import annotations

from pathlib import Path

from benchmarks.results import read_results

PAGE = Path(__file__).parent.parent / "docs" / "performance.md"
BEGIN, END = "<!-- table: python -m benchmarks -->", "<!-- end of table -->"


def write() -> None:
    """Put the table of the results on disk into the page; what people wrote around it stays."""
    text = PAGE.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN, 1)
    _, after = rest.split(END, 1)
    PAGE.write_text(f"{before}{BEGIN}\n\n{table(read_results())}\n{END}{after}", encoding="utf-8")


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
