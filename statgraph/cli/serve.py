"""`statgraph serve`: a run over HTTP, with a search page."""

from __future__ import annotations

import os
from pathlib import Path

import click

from statgraph.cli import options
from statgraph.errors import DependencyError, UsageError
from statgraph.service.config import LANGUAGES, PageConfig

DEFAULT_HOST, DEFAULT_PORT = "127.0.0.1", 8000
_EXTRA = ("fastapi", "uvicorn", "prometheus_client")


@click.command()
@options.run_or_hub
@click.option("--host", metavar="ADDRESS", default=DEFAULT_HOST, help="Address to listen on.")
@click.option(
    "--port", metavar="N", type=click.IntRange(0, 65535), default=DEFAULT_PORT, help="Port, or 0 for any free one."
)
@click.option(
    "--feedback",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="File that readers' feedback is appended to.  [default: feedback.jsonl in the run folder, none for hf://]",
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
@click.option("--log-questions", is_flag=True, help="Also log the text of the questions.")
@options.rewrite
@options.rewrite_model
@options.engine
@options.engine_uri
@options.device
@options.precision
def serve(
    run: str | None,
    host: str,
    port: int,
    feedback: Path | None,
    no_feedback: bool,
    name: str,
    logo: Path | None,
    contact: str,
    language: str | None,
    log_questions: bool,
    rewrite: str | None,
    rewrite_model: str | None,
    engine: str,
    engine_uri: str | None,
    device: str,
    precision: str,
) -> None:
    """Serve a run over HTTP, with a search page.

    Set STATGRAPH_TOKEN in the environment to require that token with every request. SIGTERM and Ctrl-C stop the service
    once the requests in progress are answered.
    """
    if feedback is not None and no_feedback:
        raise UsageError("--feedback and --no-feedback: give only one of them")
    page = PageConfig(name, logo, contact, language)
    rewriter = options.rewriter_of(rewrite, rewrite_model)
    _check_extra()
    from statgraph.runs.hub import SCHEME
    from statgraph.service.config import TOKEN_VARIABLE, ServiceConfig
    from statgraph.service.feedback import FEEDBACK_FILE, check_writable
    from statgraph.service.server import serve as serve_run

    folder = options.chosen_run(run)
    # The hub's cache is no place for what readers say.
    no_feedback = no_feedback or (feedback is None and (run or "").startswith(SCHEME))
    if feedback is not None:  # the default is not checked: a run on a read-only disk is served, without feedback
        check_writable(feedback)
    config = ServiceConfig(
        token=os.environ.get(TOKEN_VARIABLE) or None,
        feedback=None if no_feedback else feedback or folder / FEEDBACK_FILE,
        log_questions=log_questions,
        rewriter=rewriter,
        page=page,
        engine=options.engine_address(engine, engine_uri, "--from"),
    )

    def announce(line: str) -> None:
        click.echo(line, err=line.startswith("Warning"))

    serve_run(folder, config, host=host, port=port, device=device, precision=precision, announce=announce)


def _check_extra() -> None:
    from importlib.util import find_spec

    missing = [package for package in _EXTRA if find_spec(package) is None]
    if missing:
        raise DependencyError(f"{missing[0]}: not installed; run: pip install 'statgraph[serve]'")
