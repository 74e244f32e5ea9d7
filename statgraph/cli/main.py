"""The `statgraph` command: finds each subcommand in a file of its own and turns whatever fails into one clear line."""

from __future__ import annotations

import errno
import importlib
import os
import sys

import click

from statgraph import __version__
from statgraph.errors import StatgraphError

# name -> (module, function, one line of help): a module loads only when its command runs, so --help stays quick.
COMMANDS: dict[str, tuple[str, str, str]] = {
    "fetch": ("statgraph.cli.fetch", "fetch", "Bring a catalogue corpus to disk."),
    "import": ("statgraph.cli.import_", "import_", "Convert your own statutes and questions to a corpus folder."),
    "build-graph": ("statgraph.cli.build_graph", "build_graph", "Build the graph of a corpus."),
    "train": ("statgraph.cli.train", "train", "Train a retriever on a corpus."),
    "tune": ("statgraph.cli.tune", "tune", "Find the settings that score best on dev."),
    "pretrain": ("statgraph.cli.pretrain", "pretrain", "Adapt a transformer to statutes."),
    "search": ("statgraph.cli.search", "search", "Find the articles that answer a question."),
    "evaluate": ("statgraph.cli.evaluate", "evaluate", "Measure a trained retriever on a split."),
    "update": ("statgraph.cli.update", "update", "Bring a run to a new version of its law, without training."),
    "index": ("statgraph.cli.index", "index", "Give a run another kind of index."),
    "quicken": ("statgraph.cli.quicken", "quicken", "Let a run's BERT encode questions faster on a CPU."),
    "reproduce": ("statgraph.cli.reproduce", "reproduce", "Reproduce a table or figure of the papers."),
    "augment": ("statgraph.cli.augment", "augment", "Write synthetic questions about the articles of a corpus."),
    "export": ("statgraph.cli.export", "export", "Write a run or a corpus in the format of another tool."),
    "serve": ("statgraph.cli.serve", "serve", "Serve a run over HTTP, with a page to search it."),
    "plot": ("statgraph.cli.plot", "plot", "Draw a corpus, its graph, or the training of a run."),
    "doctor": ("statgraph.cli.doctor", "doctor", "Show what works on this machine and what to install."),
}

INTERRUPTED = 130  # what a shell expects of a program that Ctrl-C ended
DEBUG_VARIABLE = "STATGRAPH_DEBUG"

_REMEDIES = {
    errno.ENOSPC: "free some space, or write to another disk",
    errno.EDQUOT: "free some of your quota, or write to another disk",
    errno.EACCES: "change its permissions, or name another place",
    errno.EPERM: "change its permissions, or name another place",
    errno.EROFS: "name a place on a disk that can be written to",
}


class LazyGroup(click.Group):
    """A group whose subcommands are imported when they run."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        module, function, _ = COMMANDS[name]
        return getattr(importlib.import_module(module), function)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, _, summary) in COMMANDS.items()])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="statgraph")
def cli() -> None:
    """Find the articles of law that answer a question.

    Without options the commands run on the embedded sample and the newest run:

    \b
        statgraph build-graph && statgraph train
        statgraph search "Who gets the deposit back?"
    """


def main() -> None:
    """Run the command line and exit: 0, 2 for a wrong command or option, 130 for Ctrl-C, else 1.

    Every failure ends as `Error: ...` on standard error; STATGRAPH_DEBUG=1 shows where an unexpected one came from.
    """
    try:
        status = cli.main(prog_name="statgraph", standalone_mode=False)
    except (Exception, KeyboardInterrupt) as error:
        sys.exit(report(error))
    sys.exit(status if isinstance(status, int) else 0)


def report(error: BaseException) -> int:
    """Say on standard error what ended a command, in one line, and return its exit code."""
    if isinstance(error, click.ClickException):
        error.show()
        return error.exit_code
    if isinstance(error, (click.Abort, KeyboardInterrupt)):
        click.echo("Interrupted", err=True)
        return INTERRUPTED
    if isinstance(error, StatgraphError):
        return _failed(str(error), error.exit_code)
    if isinstance(error, OSError):
        return _failed(_os_error_line(error), 1)
    if os.environ.get(DEBUG_VARIABLE) or not isinstance(error, Exception):
        raise error
    text = str(error).strip().partition("\n")[0]
    return _failed(
        f"{type(error).__name__}: {text}; this is a fault of statgraph, not of yours: "
        f"set {DEBUG_VARIABLE}=1 to see where, and report it",
        1,
    )


def _failed(message: str, exit_code: int) -> int:
    click.echo(f"Error: {message}", err=True)
    return exit_code


def _os_error_line(error: OSError) -> str:
    reason = (error.strerror or str(error) or type(error).__name__).strip().partition("\n")[0]
    place = f"{error.filename}: " if error.filename else ""
    remedy = _REMEDIES.get(error.errno)
    return f"{place}{reason}; {remedy}" if remedy else f"{place}{reason}"


if __name__ == "__main__":  # torchrun -m statgraph.cli.main
    main()
