"""The reference of the command line, docs/cli.md: `python -m statgraph.cli.docs` prints it anew."""

from __future__ import annotations

from collections.abc import Iterator

import click

from statgraph.cli.main import COMMANDS, cli

COLUMNS = 100
_OPENING = """# The command line

What `--help` says, command by command. Made by `make docs-cli`; edit the commands in `statgraph/cli/`, not this file.
"""


def reference() -> str:
    """Return docs/cli.md: the help of `statgraph` and of each of its commands, 100 columns wide."""
    return "\n".join([_OPENING, *_sections()])


def _sections() -> Iterator[str]:
    top = click.Context(cli, info_name="statgraph", terminal_width=COLUMNS, **cli.context_settings)
    yield _section(top)
    for name in COMMANDS:
        yield _section(click.Context(cli.get_command(top, name), info_name=name, parent=top, terminal_width=COLUMNS))


def _section(context: click.Context) -> str:
    return f"## {context.command_path}\n\n```text\n{context.get_help()}\n```\n"


if __name__ == "__main__":
    print(reference(), end="")
