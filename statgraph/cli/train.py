"""`statgraph train`: corpus -> run folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from statgraph.cli.options import corpus_option, device_option, seed_option
from statgraph.config import RunConfig
from statgraph.systems.presets import system_names

if TYPE_CHECKING:  # what these load takes seconds, and --help needs none of it
    from statgraph.distributed import World
    from statgraph.runs.run import Run


@click.command()
@corpus_option
@click.option(
    "--system",
    metavar="NAME",
    default=RunConfig.system,
    show_default=True,
    help=f"A published system: {', '.join(system_names())}.",
)
@click.option(
    "--out", metavar="DIR", type=click.Path(path_type=Path), help="Run folder.  [default: a new one under runs/]"
)
@seed_option
@click.option(
    "--set", "settings", multiple=True, metavar="A.B=C", help="Set one value of the configuration; repeatable."
)
@click.option("--resume", is_flag=True, help="Go on with an interrupted run (--out, or the newest unfinished one).")
@device_option
def train(
    corpus: Path | None,
    system: str,
    out: Path | None,
    seed: int,
    settings: tuple[str, ...],
    resume: bool,
    device: str,
) -> None:
    """Train a retriever.

    Without options it trains QABISAR on the embedded sample. Under torchrun several processes train together:

    \b
        torchrun --nproc-per-node 2 -m statgraph.cli train
    """
    from statgraph.cli.main import report
    from statgraph.distributed import launched

    with launched(report) as world:
        _trained(world, corpus, system, out, (f"seed={seed}", f"device={device}", *settings), resume=resume)


def _trained(
    world: World, corpus: Path | None, system: str, out: Path | None, settings: tuple[str, ...], *, resume: bool
) -> None:
    from statgraph import artifacts
    from statgraph.cli.options import chosen_corpus
    from statgraph.cli.progress import TerminalProgress
    from statgraph.graph.store import default_folder
    from statgraph.runs.folders import new_run_folder, newest_unfinished_run
    from statgraph.systems.job import TrainingOptions
    from statgraph.systems.pipeline import is_finished, train_run
    from statgraph.systems.presets import resolve_config

    config = resolve_config(system, settings)
    if resume:
        folder = Path(world.json_from_first(lambda: str(out if out is not None else newest_unfinished_run())))
        if world.json_from_first(lambda: is_finished(folder)):
            if world.is_first:
                click.echo(f'{folder} is already finished; search it with: statgraph search --run {folder} "..."')
            return
    records = chosen_corpus(corpus)
    if not resume:
        folder = Path(
            world.json_from_first(lambda: str(out if out is not None else new_run_folder(records.name, system)))
        )
    notes: list[str] = []
    try:
        with TerminalProgress(shown=world.is_first) as progress:
            options = TrainingOptions(
                resume=resume,
                on_step=progress.on_step,
                on_training=progress.on_training,
                world=world,
                graph_folder=default_folder(records.name),
                announce=notes.append,
            )
            run = train_run(records, config, folder, options)
    except KeyboardInterrupt:
        if world.is_first and (folder / artifacts.RUN_CONFIG).is_file() and not is_finished(folder):
            click.echo(f"To go on with it, run the same command with: --out {folder} --resume", err=True)
        raise
    if world.is_first:
        _show(run, f"Trained {system} on {records.name}", notes)


def _show(run: Run, what: str, notes: Sequence[str]) -> None:
    from statgraph.systems.model_card import read_run_report

    config = run.config
    backbone = f", {config.encoder.backbone} ({config.encoder.train})" if run.has_vectors else ""
    together = f", {run.processes} processes" if run.processes > 1 else ""
    click.echo(f"{what}{backbone}, seed {config.seed}{together}")
    for step in run.steps:
        click.echo(f"  {step['name']:<28}{step['seconds']:>8.1f} s{step['peak_mib']:>8,} MiB")
    for note in notes:
        click.echo(f"  {note}")
    measured = read_run_report(run.folder)
    if measured is not None:
        metrics = measured.strata["all"].metrics
        shown = ", ".join(f"{name} {100 * metrics[name].mean:.1f}" for name in ("R@100", "R@200", "mAP"))
        click.echo(f"  dev   {shown}")
    click.echo(f"Run folder: {run.folder}")
