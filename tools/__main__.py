"""`make docs`: write the pages of docs/ that follow from the package, what was measured and the papers' values."""

from __future__ import annotations

from pathlib import Path

from benchmarks import results as measured
from statgraph.artifacts import write_text
from statgraph.studies.table_files import markdown_beside
from tools import fidelity_page, findings_page, results_page
from tools.material import DOCS, read_yaml, with_tables
from tools.pages import cli_page, notebook, public_sets


def pages() -> dict[Path, str]:
    """Return each page's path with its text."""
    tables, sets, results = DOCS / "tables.md", DOCS / "public-sets.md", DOCS / "results"
    findings = findings_page.page((DOCS / "results.md").read_text(encoding="utf-8"), results)
    return {
        DOCS / "cli.md": cli_page(),
        sets: with_tables(sets, public_sets()),
        DOCS / "fidelity.md": fidelity_page.page(read_yaml(fidelity_page.VALUES)),
        DOCS / "tutorial.ipynb": notebook((DOCS / "tutorial.md").read_text(encoding="utf-8")),
        DOCS / "results.md": findings,
        DOCS / "images" / "findings.svg": findings_page.plot(findings, results),
        DOCS / "images" / "first-three.svg": findings_page.first_three(results),
        **measured.pages(),
        tables: results_page.page(tables.read_text(encoding="utf-8"), results),
        **{markdown_beside(path): results_page.table_page(path) for path in sorted(results.glob("*.json.gz"))},
    }


if __name__ == "__main__":
    for path, text in pages().items():
        write_text(path, text)
