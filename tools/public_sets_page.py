"""The table on docs/public-sets.md: the corpora of the catalogue with their licences."""

from __future__ import annotations

from statgraph.formats.catalogue.catalogue import CATALOGUE

_HEAD = "| name | law and questions | language | articles | questions | licence | terms |"


def page(text: str) -> str:
    """Return the page with the table as the catalogue has it.

    Raises:
        ValueError: if the page has no such table.
    """
    before, head, after = text.partition(_HEAD)
    if not head:
        raise ValueError(f"docs/public-sets.md: no table '{_HEAD}'; put its first line where it belongs")
    rest = after[after.index("\n\n") :]
    return "\n".join([f"{before}{head}", "| --- | --- | --- | ---: | ---: | --- | --- |", *_rows()]) + rest


def _rows() -> list[str]:
    cells = (
        (f"`{name}`", of.title, of.language, f"{of.articles:,}", f"{of.questions:,}", of.licence.name, of.licence.terms)
        for name, of in CATALOGUE.items()
    )
    return [f"| {' | '.join(row)} |" for row in cells]
