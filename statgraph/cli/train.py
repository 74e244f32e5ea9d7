"""`statgraph train`: corpus -> run folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from statgraph.cli import options
from statgraph.cli.terminal import TerminalProgress, print_steps
from statgraph.errors import UsageError
from statgraph.registry import LAYERS
from statgraph.runs.folders import is_finished, is_unfinished, new_run_folder, newest_unfinished_run
from statgraph.systems.presets import DEFAULT_SYSTEM, TrainingRequest, system_names, training_request

if TYPE_CHECKING:  # these take seconds to load, and --help needs none of them
    from statgraph.config import RunConfig
    from statgraph.corpus.records import Corpus
    from statgraph.runs.run import Run

_SHOWN = ("S@3", "R@10", "R@100", "mAP")


@click.command()
@options.corpus
@click.option(
    "--system",
    metavar="NAME",
    help=f"What to train: {', '.join(system_names())}.  [default: {DEFAULT_SYSTEM}]",
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
@options.open_seed
@options.settings()
@options.help_settings
@click.option("--dry-run", is_flag=True, help="Take one step of each stage with a tiny model, and write nothing.")
@click.option("--resume", is_flag=True, help="Resume an interrupted run (--out, or the newest unfinished one).")
@options.device
def train(
    corpus: Path | None,
    system: str | None,
    fast: bool,
    final: Path | None,
    keep_test: bool,
    teacher: Path | None,
    out: Path | None,
    seed: int | None,
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
    with launched(report):
        request = training_request(system, settings, seed=seed, device=device, fast=fast, final=final, teacher=teacher)
        if dry_run:
            _rehearse(options.chosen_corpus(corpus), request.config)
        else:
            _train(corpus, request, out, resume=resume, keep_test=keep_test)


def _rehearse(corpus: Corpus, config: RunConfig) -> None:
    from statgraph.runs.kind import kind_of

    steps = kind_of(config).rehearsed(corpus, config)
    click.echo(f"{config.system} on {corpus.name}, {config.encoder.backbone} ({config.encoder.train})")
    for step in steps:
        losses = f"loss {step.first_loss:.4f}, then {step.second_loss:.4f}"
        click.echo(f"A step of {step.stage} with a tiny model: {losses} ({step.seconds:.1f} s)")
    click.echo("Nothing was written.")


def _train(corpus: Path | None, request: TrainingRequest, out: Path | None, *, resume: bool, keep_test: bool) -> None:
    from statgraph.distributed import current_world, is_elastic
    from statgraph.graph.store import default_folder
    from statgraph.systems.job import TrainingOptions
    from statgraph.systems.pipeline import train_run

    world, config, final = current_world(), request.config, request.final
    records = options.chosen_corpus(corpus)
    if final is not None:
        final.check_corpus(records)

    def place() -> list:
        """Return whether the training resumes a run, the run's folder, and whether it is finished already."""
        resumes = resume or (is_elastic() and out is not None and is_unfinished(out))
        name = config.system if final is None else f"{config.system}-final"
        folder = out or (newest_unfinished_run() if resumes else new_run_folder(records.name, name))
        return [resumes, str(folder), resumes and is_finished(folder)]

    resumes, folder, finished = world.json_from_first(place)
    if finished:
        if world.is_first:
            click.echo(f'{folder} is already finished; search it with: statgraph search --run {folder} "..."')
        return
    folder = Path(folder)
    notes: list[str] = []
    with (
        options.resume_hint(f"with: --out {folder} --resume", lambda: world.is_first and is_unfinished(folder)),
        TerminalProgress(shown=world.is_first) as progress,
    ):
        training = TrainingOptions(
            resume=resumes,
            final=final,
            keep_test=keep_test,
            teacher=request.teacher,
            progress=progress,
            graph_folder=default_folder(records.name) if final is None else None,  # it has no questions of dev and test
            announce=notes.append,
        )
        run = train_run(records, config, folder, training)
    if world.is_first:
        questions = "" if final is None else f", all questions{' but those of test' * keep_test}, as {final.folder}"
        _show(run, f"Trained {config.system} on {records.name}{questions}", notes)


def _show(run: Run, what: str, notes: Sequence[str]) -> None:
    from statgraph.systems.model_card import read_run_report

    config = run.config
    backbone = f", {config.encoder.backbone} ({config.encoder.train})" if run.kind.has_encoder else ""
    added = [layer for layer in config.graph_layers if layer not in LAYERS.built_in]
    layers = f", layer {', '.join(added)}" if added and (run.has_graph or run.kind.has_members) else ""
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
