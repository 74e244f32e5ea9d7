"""`statgraph train`: corpus -> run folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from statgraph.cli import options
from statgraph.cli.terminal import TerminalProgress, print_steps
from statgraph.runs.folders import is_finished, is_unfinished, new_run_folder, newest_unfinished_run
from statgraph.systems.presets import DEFAULT_SYSTEM, system_names, without_transformers

if TYPE_CHECKING:  # these take seconds to load, and --help needs none of them
    from statgraph.distributed import World
    from statgraph.runs.run import Run

_SHOWN = ("S@3", "R@10", "R@100", "mAP")


@click.command()
@options.corpus
@click.option(
    "--system",
    metavar="NAME",
    default=DEFAULT_SYSTEM,
    help=f"What to train: {', '.join(system_names())}.",
)
@click.option("--fast", is_flag=True, help="Leave transformers out of the ensemble.")
@options.path("--out", help="Run folder.  [default: a new one under runs/]")
@options.seed
@options.settings()
@click.option("--resume", is_flag=True, help="Resume an interrupted run (--out, or the newest unfinished one).")
@options.device
def train(
    corpus: Path | None,
    system: str,
    fast: bool,
    out: Path | None,
    seed: int,
    settings: tuple[str, ...],
    resume: bool,
    device: str,
) -> None:
    """Train a retriever.

    Without options, train the ensemble on the embedded sample: several signals, from BM25 to a transformer's vectors,
    and a ranker over them. The other systems are those of the papers. To train with several processes, use torchrun:

    \b
        torchrun --nproc-per-node 2 -m statgraph.cli train
    """
    from statgraph.cli.main import report
    from statgraph.distributed import launched

    settings = (f"seed={seed}", f"device={device}", *settings)
    if fast:
        settings = (*settings, without_transformers(system, settings))
    with launched(report) as world:
        _trained(world, corpus, system, out, settings, resume=resume)


def _trained(
    world: World, corpus: Path | None, system: str, out: Path | None, settings: tuple[str, ...], *, resume: bool
) -> None:
    from statgraph.graph.store import default_folder
    from statgraph.systems.job import TrainingOptions
    from statgraph.systems.pipeline import train_run
    from statgraph.systems.presets import resolve_config

    config = resolve_config(system, settings)
    if resume:
        folder = Path(world.json_from_first(lambda: str(out if out is not None else newest_unfinished_run())))
        if world.json_from_first(lambda: is_finished(folder)):
            if world.is_first:
                click.echo(f'{folder} is already finished; search it with: statgraph search --run {folder} "..."')
            return
    records = options.chosen_corpus(corpus)
    if not resume:
        folder = Path(
            world.json_from_first(lambda: str(out if out is not None else new_run_folder(records.name, system)))
        )
    notes: list[str] = []

    def resumable() -> bool:
        return world.is_first and is_unfinished(folder)

    with (
        options.resume_hint(f"with: --out {folder} --resume", resumable),
        TerminalProgress(shown=world.is_first) as progress,
    ):
        training = TrainingOptions(
            resume=resume,
            on_step=progress.on_step,
            on_training=progress.on_training,
            world=world,
            graph_folder=default_folder(records.name),
            announce=notes.append,
        )
        run = train_run(records, config, folder, training)
    if world.is_first:
        _show(run, f"Trained {system} on {records.name}", notes)


def _show(run: Run, what: str, notes: Sequence[str]) -> None:
    from statgraph.systems.model_card import read_run_report

    config = run.config
    backbone = f", {config.encoder.backbone} ({config.encoder.train})" if run.has_vectors else ""
    together = f", {run.processes} processes" if run.processes > 1 else ""
    click.echo(f"{what}{backbone}, seed {config.seed}{together}")
    print_steps(run.steps)
    for note in notes:
        click.echo(f"  {note}")
    measured = read_run_report(run.folder)
    if measured is not None:
        metrics = measured.strata["all"].metrics
        shown = ", ".join(f"{name} {100 * metrics[name].mean:.1f}" for name in _SHOWN if name in metrics)
        click.echo(f"  dev   {shown}")
    click.echo(f"Run folder: {run.folder}")
