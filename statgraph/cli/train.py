"""`statgraph train`: corpus -> run folder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from statgraph.cli import options
from statgraph.cli.terminal import TerminalProgress, print_steps
from statgraph.errors import UsageError
from statgraph.registry import LAYERS
from statgraph.runs.folders import is_finished, is_unfinished, new_run_folder, newest_unfinished_run
from statgraph.systems.presets import DEFAULT_SYSTEM, resolve_config, system_names, without_transformers

if TYPE_CHECKING:  # these take seconds to load, and --help needs none of them
    from statgraph.config import RunConfig
    from statgraph.runs.run import Run
    from statgraph.systems.job import TrainingOptions

_OF_THE_RUN = {"system": "--system", "fast": "--fast", "seed": "--seed", "settings": "--set"}
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
@options.path(
    "--final",
    metavar="RUN",
    help="Train on all questions, test and dev too, as the finished RUN was: its system, seed, settings and epochs.",
)
@click.option(
    "--keep-test", is_flag=True, help="With --final, leave the test questions out, so that they can measure the run."
)
@options.path(
    "--teacher",
    metavar="RUN",
    help="Distil RUN, an ensemble, into one query encoder and its index (system student).",
)
@options.path("--out", help="Run folder.  [default: a new one under runs/]")
@options.seed
@options.settings()
@options.help_settings
@click.option("--dry-run", is_flag=True, help="Predict the memory, take one step with a tiny model, and write nothing.")
@click.option("--resume", is_flag=True, help="Resume an interrupted run (--out, or the newest unfinished one).")
@options.device
def train(
    corpus: Path | None,
    system: str,
    fast: bool,
    final: Path | None,
    keep_test: bool,
    teacher: Path | None,
    out: Path | None,
    seed: int,
    settings: tuple[str, ...],
    dry_run: bool,
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

    if keep_test and final is None:
        raise UsageError("--keep-test: only for a final run; add --final RUN, or omit it")
    settings = (f"seed={seed}", f"device={device}", *settings)
    taught_by = None if teacher is None else _teacher(teacher)
    if taught_by is not None:
        system = "student"
    if fast:
        settings = (*settings, without_transformers(system, settings))
    with launched(report) as world:
        followed = None if final is None else _to_follow(final)
        config = resolve_config(system, settings) if followed is None else replace(followed.config, device=device)
        if dry_run:
            from statgraph.cli.dry_run import say_dry_run

            say_dry_run(options.chosen_corpus(corpus), config)
            return
        from statgraph.systems.job import TrainingOptions

        asked = TrainingOptions(resume=resume, world=world, final=followed, keep_test=keep_test, teacher=taught_by)
        _trained(corpus, config, out, asked)


def _teacher(folder: Path) -> Run:
    """Return the ensemble that a student is to learn from."""
    from statgraph.runs.run import Run
    from statgraph.systems.student import check_teacher

    context = click.get_current_context()
    for name in ("system", "fast", "final"):
        if context.get_parameter_source(name) is not ParameterSource.DEFAULT and context.params[name] != "student":
            raise UsageError(f"--{name}: cannot be given with --teacher, which trains a student; omit one of them")
    teacher = Run.read(folder)
    check_teacher(teacher)
    return teacher


def _to_follow(folder: Path) -> Run:
    """Return the run whose choices a final run takes over."""
    from statgraph.runs.run import Run

    context = click.get_current_context()
    for name, option in _OF_THE_RUN.items():
        if context.get_parameter_source(name) is not ParameterSource.DEFAULT:
            raise UsageError(f"{option}: a final run is trained as {folder} was; omit it, or train another run first")
    run = Run.read(folder)
    if run.final:
        raise UsageError(f"--final: {folder} is a final run itself; name {run.final}, which it went by")
    run.check_layer()
    return run


def _trained(corpus: Path | None, config: RunConfig, out: Path | None, asked: TrainingOptions) -> None:
    from statgraph.distributed import is_elastic
    from statgraph.graph.store import default_folder
    from statgraph.systems.pipeline import train_run

    system, world, final = config.system, asked.world, asked.final
    resume = asked.resume or world.json_from_first(lambda: is_elastic() and out is not None and is_unfinished(out))
    if resume:
        folder = Path(world.json_from_first(lambda: str(out if out is not None else newest_unfinished_run())))
        if world.json_from_first(lambda: is_finished(folder)):
            if world.is_first:
                click.echo(f'{folder} is already finished; search it with: statgraph search --run {folder} "..."')
            return
    records = options.chosen_corpus(corpus)
    if final is not None:
        final.check_corpus(records)
    if not resume:
        name = system if final is None else f"{system}-final"
        folder = Path(
            world.json_from_first(lambda: str(out if out is not None else new_run_folder(records.name, name)))
        )
    notes: list[str] = []

    def resumable() -> bool:
        return world.is_first and is_unfinished(folder)

    with (
        options.resume_hint(f"with: --out {folder} --resume", resumable),
        TerminalProgress(shown=world.is_first) as progress,
    ):
        training = replace(
            asked,
            resume=resume,
            progress=progress,
            graph_folder=default_folder(records.name) if final is None else None,  # it has no questions of dev and test
            announce=notes.append,
        )
        run = train_run(records, config, folder, training)
    if world.is_first:
        questions = (
            "" if final is None else f", all questions{' but those of test' * asked.keep_test}, as {final.folder}"
        )
        _show(run, f"Trained {system} on {records.name}{questions}", notes)


def _show(run: Run, what: str, notes: Sequence[str]) -> None:
    from statgraph.systems.model_card import read_run_report

    config = run.config
    backbone = f", {config.encoder.backbone} ({config.encoder.train})" if run.has_vectors else ""
    added = [layer for layer in config.graph_layers if layer not in LAYERS.built_in]
    layers = f", layer {', '.join(added)}" if added and (run.has_graph or config.is_ensemble) else ""
    together = f", {run.processes} processes" if run.processes > 1 else ""
    click.echo(f"{what}{backbone}{layers}, seed {config.seed}{together}")
    print_steps(run.steps)
    for note in notes:
        click.echo(f"  {note}")
    measured = read_run_report(run.folder)
    if measured is not None:
        metrics = measured.strata["all"].metrics
        shown = ", ".join(f"{name} {100 * metrics[name].mean:.1f}" for name in _SHOWN if name in metrics)
        click.echo(f"  dev   {shown}")
    click.echo(f"Run folder: {run.folder}")
