"""`statgraph serve` and `mcp`: a run over HTTP, with a search page, and as tools for assistants."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

from statgraph.cli import options
from statgraph.service.config import LANGUAGES, TOKEN_VARIABLE, PageConfig, ServiceConfig

_runs = click.option(
    "--run",
    "runs",
    metavar="DIR",
    multiple=True,
    help="Run folder, or hf://OWNER/NAME of the Hugging Face hub; repeatable, one for each law.  [default: the newest "
    "under runs/]",
)


@click.command()
@_runs
@click.option("--host", metavar="ADDRESS", default="127.0.0.1", help="Address to listen on.")
@click.option(
    "--port", metavar="N", type=options.WholeNumber(0, 65535), default=8000, help="Port, or 0 for any free one."
)
@click.option(
    "--feedback",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="File that readers' feedback is appended to.  [default: feedback.jsonl in each run folder, none for hf://]",
)
@click.option("--no-feedback", is_flag=True, help="Take no feedback: the page shows no marks, and nothing is stored.")
@click.option("--name", metavar="TEXT", default=PageConfig.name, help="What the page calls itself.")
@click.option(
    "--logo",
    metavar="FILE",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Image for the page's corner and tab (SVG, PNG, JPEG or WebP).",
)
@click.option("--contact", metavar="ADDRESS", default="", help="E-mail or web address that the page names as contact.")
@click.option(
    "--language",
    type=click.Choice(LANGUAGES),
    help="Language of the page at first.  [default: the reader's browser's, else the law's]",
)
@click.option(
    "--editable", is_flag=True, help="Let whoever has the token add articles to the runs and remove them, over HTTP."
)
@click.option("--log-questions", is_flag=True, help="Also log the text of the questions.")
@options.reader
@options.searching
def serve(
    runs: tuple[str, ...], feedback: Path | None, no_feedback: bool, editable: bool, log_questions: bool, **given: Any
) -> None:
    """Serve a run over HTTP, with a search page; or several laws, which readers choose from.

    Set STATGRAPH_TOKEN in the environment to require that token with every request. SIGTERM and Ctrl-C stop the service
    once the requests in progress are answered.
    """
    from statgraph import api

    options.refuse({"--feedback and --no-feedback: give only one of them": feedback and no_feedback})
    rewriter, how = options.searching_of(given)
    page = PageConfig(*(given.pop(name) for name in ("name", "logo", "contact", "language")))
    config = ServiceConfig(
        token=os.environ.get(TOKEN_VARIABLE) or None,
        editable=editable,
        log_questions=log_questions,
        rewriter=rewriter,
        page=page,
        reader=how.pop("reader"),
        engine=how.pop("engine"),
    )
    api.serve(
        list(runs) or options.chosen_run(None),
        config,
        feedback=feedback or not no_feedback,
        announce=_announce,
        **given,
        **how,
    )


def _announce(line: str) -> None:
    click.echo(line, err=line.startswith("Warning"))


@click.command()
@_runs
@options.device
def mcp(runs: tuple[str, ...], device: str) -> None:
    """Serve a run, or several laws, to an assistant as tools of the Model Context Protocol, on standard input and
    output.

    The tools search the law, show an article and what stands around it, and what was in force on a day. The assistant's
    program starts this command itself, and ends it by closing its input.
    """
    from statgraph.integrations.mcp_server import create_mcp_server
    from statgraph.service.loaded_run import LoadedRun, law_names

    folders = [options.chosen_run(run) for run in runs or (None,)]
    loaded = [LoadedRun(folder, device=device) for folder in folders]
    server = create_mcp_server(dict(zip(law_names(folders), loaded, strict=True)))
    click.echo(f"Serving {', '.join(map(str, folders))} to an assistant on standard input and output", err=True)
    server.run("stdio")
