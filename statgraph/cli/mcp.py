"""`statgraph mcp`: a run as tools for assistants."""

from __future__ import annotations

import click

from statgraph.cli import options


@click.command()
@options.run_or_hub
@options.device
@options.precision
def mcp(run: str | None, device: str, precision: str) -> None:
    """Serve a run to an assistant as tools of the Model Context Protocol, on standard input and output.

    The tools search the law, show an article and what stands around it, and what was in force on a day. The assistant's
    program starts this command itself, and ends it by closing its input.
    """
    from statgraph.integrations.mcp_server import create_mcp_server
    from statgraph.service.loaded_run import LoadedRun

    folder = options.chosen_run(run)
    loaded_run = LoadedRun(folder, device=device, precision=precision)
    server = create_mcp_server(loaded_run)
    click.echo(f"Serving {folder} to an assistant on standard input and output", err=True)
    server.run("stdio")
