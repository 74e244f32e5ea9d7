"""`statgraph train`: corpus -> run folder."""

from __future__ import annotations

from pathlib import Path

import click

from statgraph.cli.options import corpus_option, device_option, seed_option
from statgraph.config import RunConfig
from statgraph.systems.presets import system_names


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

    Without options it trains QABISAR on the embedded sample.
    """
    from statgraph import artifacts
    from statgraph.cli.options import chosen_corpus
    from statgraph.cli.progress import TerminalProgress
    from statgraph.search.runs import new_run_folder, newest_unfinished_run
    from statgraph.systems.pipeline import is_finished, train_run
    from statgraph.systems.presets import resolve_config

    config = resolve_config(system, (f"seed={seed}", f"device={device}", *settings))
    if resume:
        folder = out if out is not None else newest_unfinished_run()
        if is_finished(folder):
            click.echo(f'{folder} is already finished; search it with: statgraph search --run {folder} "..."')
            return
    records = chosen_corpus(corpus)
    if not resume:
        folder = out if out is not None else new_run_folder(records.name, system)
    try:
        with TerminalProgress() as progress:
            run = train_run(
                records, config, folder, resume=resume, on_step=progress.on_step, on_training=progress.on_training
            )
    except KeyboardInterrupt:
        if (folder / artifacts.RUN_CONFIG).is_file() and not is_finished(folder):
            click.echo(f"To go on with it, run the same command with: --out {folder} --resume", err=True)
        raise
    backbone = f", {config.encoder.backbone} ({config.encoder.train})" if config.retriever == "dense" else ""
    click.echo(f"Trained {system} on {records.name}{backbone}, seed {config.seed}")
    for step in run.manifest["steps"]:
        click.echo(f"  {step['name']:<28}{step['seconds']:>8.1f} s{step['peak_mib']:>8,} MiB")
    if run.report is not None:
        metrics = run.report.strata["all"].metrics
        shown = ", ".join(f"{name} {100 * metrics[name].mean:.1f}" for name in ("R@100", "R@200", "mAP"))
        click.echo(f"  dev   {shown}")
    click.echo(f"Run folder: {run.folder}")
