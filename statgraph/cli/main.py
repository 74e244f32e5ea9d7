"""The `statgraph` command: loads each subcommand when it runs, and turns any failure into one clear line."""

from __future__ import annotations

import os
import signal
import sys
import threading
from difflib import get_close_matches

import click

from statgraph._version import __version__
from statgraph.cli.failures import report
from statgraph.cli.terminal import escape_unwritable
from statgraph.registry import load

# name -> (module, function, one line of help): a module loads only when its command runs, so --help stays fast.
COMMANDS: dict[str, tuple[str, str, str]] = {
    "fetch": ("statgraph.cli.fetch", "fetch", "Download a corpus from the catalogue."),
    "import": ("statgraph.cli.corpora", "import_", "Convert your own statutes and questions to a corpus folder."),
    "build-graph": ("statgraph.cli.corpora", "build_graph", "Build a corpus's graph (optional: train does it)."),
    "train": ("statgraph.cli.train", "train", "Train a retriever on a corpus."),
    "tune": ("statgraph.cli.tune", "tune", "Find the settings that score best on dev."),
    "pretrain": ("statgraph.cli.preparing", "pretrain", "Adapt a transformer to statutes."),
    "search": ("statgraph.cli.search", "search", "Find the articles that answer a question."),
    "evaluate": ("statgraph.cli.evaluate", "evaluate", "Measure a trained retriever on a split."),
    "runs": ("statgraph.cli.runs", "runs", "List the runs, show one, or remove it."),
    "update": ("statgraph.cli.updating", "update", "Update a run to a new version of its law, without training."),
    "add": ("statgraph.cli.updating", "add", "Add single articles to a run, without training."),
    "remove": ("statgraph.cli.updating", "remove", "Remove single articles from a run, without training."),
    "embed": ("statgraph.cli.embed", "embed", "Embed the articles of a corpus on many machines (Ray)."),
    "index": ("statgraph.cli.updating", "index", "Rebuild the index of a run as another kind."),
    "quicken": ("statgraph.cli.updating", "quicken", "Speed up a run's query encoder on CPU."),
    "reproduce": ("statgraph.cli.reproduce", "reproduce", "Reproduce a table or figure from the papers."),
    "augment": ("statgraph.cli.preparing", "augment", "Generate synthetic questions about the articles of a corpus."),
    "export": ("statgraph.cli.export", "export", "Export a run or a corpus to another tool's format."),
    "serve": ("statgraph.cli.serve", "serve", "Serve a run over HTTP, with a search page."),
    "mcp": ("statgraph.cli.serve", "mcp", "Serve a run to an assistant as tools (MCP)."),
    "plot": ("statgraph.cli.plot", "plot", "Plot a corpus, its graph, or the training of a run."),
    "doctor": ("statgraph.cli.doctor", "doctor", "Check this machine, and say what to install."),
    "cache": ("statgraph.cli.doctor", "cache", "List what is cached, or remove it."),
}


class LazyGroup(click.Group):
    """A group that imports a subcommand when it runs, and suggests the nearest command for an unknown name."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        module, function, _ = COMMANDS[name]
        command: click.Command = load(f"{module}:{function}")
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            near = get_close_matches(args[0], COMMANDS, n=1)
            if near:
                error.message = f"{error.message} Did you mean '{near[0]}'?"  # type: ignore[misc]  # final for click
            raise

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, _, summary) in COMMANDS.items()])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "show_default": True})
@click.version_option(__version__, prog_name="statgraph")
def cli() -> None:
    """Find the articles of law that answer a question.

    Without options, the commands use the embedded sample and the newest run:

    \b
        statgraph train
        statgraph search "Who gets the deposit back?"
    """


def main() -> None:
    """Run the command line and exit."""
    run_command(cli, "statgraph")


def run_command(command: click.Command, name: str) -> None:
    """Run a command and exit: 0 on success, 2 for a wrong command or option, 130 for Ctrl-C, else 1.

    Every failure is one `Error: ...` on standard error; STATGRAPH_DEBUG=1 shows the traceback of an unexpected one.
    """
    # OpenMP reads it when torch is loaded. Threads that wait for one another spin otherwise, and where other work holds
    # a core, they spin until they have used up their own turn on it (docs/performance.md).
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    escape_unwritable(sys.stdout)
    escape_unwritable(sys.stderr)
    sys.unraisablehook = _unraisable
    try:
        status = command.main(prog_name=name, standalone_mode=False)
    except (Exception, KeyboardInterrupt) as error:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # a second Ctrl-C would print a traceback on the way out
        sys.exit(report(error))
    sys.exit(status if isinstance(status, int) else 0)


def _unraisable(unraisable: sys.UnraisableHookArgs) -> None:
    """Repeat a Ctrl-C that arrived inside a destructor, such as those of DGL's arrays, where Python cannot raise it."""
    if issubclass(unraisable.exc_type, KeyboardInterrupt):
        threading.Timer(0.01, os.kill, [os.getpid(), signal.SIGINT]).start()  # here it would be lost once more
    else:
        sys.__unraisablehook__(unraisable)
