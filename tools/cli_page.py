"""docs/cli.md, the reference of the command line."""

from __future__ import annotations

from collections.abc import Iterator

import click

from statgraph.cli.main import COMMANDS, cli
from statgraph.cli.options import settings_page

COLUMNS = 100
_OPENING = """# The command line

The `--help` of each command, and the [settings](#settings) of a run. Generated
by `make docs`: edit the commands in `statgraph/cli/`, not this file.
"""


def page() -> str:
    """Return docs/cli.md: the help of `statgraph` and of each of its commands, and the settings, 100 columns wide."""
    return "\n".join([_OPENING, *_sections(), _text("Settings", settings_page(COLUMNS).rstrip())])


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
