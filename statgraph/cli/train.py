"""`statgraph train`: corpus -> run folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from statgraph.cli import options
from statgraph.cli.terminal import TerminalProgress, print_steps
from statgraph.registry import LAYERS
from statgraph.systems.presets import DEFAULT_SYSTEM, system_names

if TYPE_CHECKING:  # these take seconds to load, and --help needs none of them
    from statgraph.api import Rehearsal, Run

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
    corpus: Path | None, *, dry_run: bool, keep_test: bool, out: Path | None, resume: bool, **request: Any
) -> None:
    """Train a retriever.

    Without options, train the ensemble on the embedded sample: several signals, from BM25 to a transformer's vectors,
    and a ranker over them. The other systems are those of the papers. To train with several processes, use torchrun:

    \b
        torchrun --nproc-per-node 2 -m statgraph.cli train
    """
    from statgraph import api
    from statgraph.cli.failures import report
    from statgraph.distributed import launched

    with launched(report) as world:
        records = options.chosen_corpus(corpus)
        if dry_run:
            _show_steps(api.rehearse(records, **request), records.name)
            return
        with TerminalProgress(shown=world.is_first) as progress:
            run = api.train(records, **request, keep_test=keep_test, out=out, resume=resume, progress=progress)
        if world.is_first:
            _show(run, records.name)


def _show_steps(rehearsal: Rehearsal, corpus_name: str) -> None:
    config = rehearsal.config
    click.echo(f"{config.system} on {corpus_name}, {config.encoder.backbone} ({config.encoder.train})")
    for step in rehearsal.steps:
        losses = f"loss {step.first_loss:.4f}, then {step.second_loss:.4f}"
        click.echo(f"A step of {step.stage} with a tiny model: {losses} ({step.seconds:.1f} s)")
    click.echo("Nothing was written.")


def _show(run: Run, corpus_name: str) -> None:
    from statgraph.evaluation.strata import ALL, LIKE, UNLIKE
    from statgraph.systems.model_card import read_run_report

    if run.was_finished:
        click.echo(f'{run.folder} is already finished; search it with: statgraph search --run {run.folder} "..."')
        return
    config, about = run.config, run.about
    questions = f", all questions{' but those of test' * about.keeps_test}, as {about.final}" if about.final else ""
    backbone = f", {config.encoder.backbone} ({config.encoder.train})" if about.kind.has_encoder else ""
    added = [layer for layer in config.graph_layers if layer not in LAYERS.built_in]
    layers = f", layer {', '.join(added)}" if added and (about.has_graph or about.kind.has_members) else ""
    together = f", {about.processes} processes" if (about.processes or 1) > 1 else ""
    click.echo(f"Trained {config.system} on {corpus_name}{questions}{backbone}{layers}, seed {config.seed}{together}")
    print_steps(about.steps)
    for note in run.notes:
        click.echo(f"  {note}")
    measured = read_run_report(run.folder)
    for name, of in {ALL: "", LIKE: ", like a training question", UNLIKE: ", unlike any"}.items():
        stratum = measured.strata.get(name) if measured is not None else None
        if stratum is not None and stratum.n_questions:
            figures = (f"{each} {100 * stratum.metrics[each].mean:.1f}" for each in _SHOWN if each in stratum.metrics)
            click.echo(f"  dev   {', '.join(figures)}{of}")
    click.echo(f"Run folder: {run.folder}")
