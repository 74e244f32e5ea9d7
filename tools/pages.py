"""Pages of docs/ that follow from the package or another page: cli.md, public-sets.md's table, tutorial.ipynb."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import click

from statgraph.cli.main import COMMANDS, cli
from statgraph.cli.options import settings_page
from statgraph.formats.catalogue.catalogue import CATALOGUE
from statgraph.studies.rendering import table

COLUMNS = 100
_OPENING = """# The command line

The `--help` of each command, and the [settings](#settings) of a run. Generated
by `make docs`: edit the commands in `statgraph/cli/`, not this file.
"""
_EXAMPLE = re.compile(r"^```python\n(.*?)^```\n", re.MULTILINE | re.DOTALL)
_ABOUT = {"nbformat": 4, "nbformat_minor": 5, "metadata": {"language_info": {"name": "python"}}}


def cli_page() -> str:
    """Return docs/cli.md: the help of `statgraph` and of each of its commands, and the settings, 100 columns wide."""
    return "\n".join([_OPENING, *_sections(), _text("Settings", settings_page(COLUMNS).rstrip())])


def public_sets() -> list[str]:
    """Return the table of the catalogue."""
    rows = (
        (f"`{name}`", of.title, of.language, f"{of.articles:,}", f"{of.questions:,}", of.licence.name, of.licence.terms)
        for name, of in CATALOGUE.items()
    )
    columns = ["name", "law and questions", "language", "articles", "questions", "licence", "terms"]
    return table(columns, rows, numbers=(3, 4))


def notebook(page: str) -> str:
    """Return the notebook of a page of Markdown, as JSON; links to other pages lead beside it, as on the page."""
    cells = []
    for number, part in enumerate(_EXAMPLE.split(page)):
        code = number % 2 == 1
        about = {"cell_type": "code", "execution_count": None, "outputs": []} if code else {"cell_type": "markdown"}
        source = part.strip().splitlines(keepends=True)
        cells.append({**about, "id": f"cell-{number}", "metadata": {}, "source": source})
    return json.dumps({**_ABOUT, "cells": cells}, indent=1, ensure_ascii=False) + "\n"


def _sections() -> Iterator[str]:
    top = click.Context(cli, info_name="statgraph", terminal_width=COLUMNS, **cli.context_settings)
    yield _section(top)
    for name in COMMANDS:
        command = click.Context(cli.get_command(top, name), info_name=name, parent=top, terminal_width=COLUMNS)
        yield _section(command)
        for inner, part in getattr(command.command, "commands", {}).items():
            yield _section(click.Context(part, info_name=inner, parent=command, terminal_width=COLUMNS))


def _section(context: click.Context) -> str:
    return _text(context.command_path, context.get_help())


def _text(title: str, text: str) -> str:
    return f"## {title}\n\n```text\n{text}\n```\n"
