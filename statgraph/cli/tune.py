"""`statgraph tune`: a grid for BM25, or a search over a system's settings, on dev."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from statgraph.cli import options
from statgraph.cli.terminal import print_table
from statgraph.config import Bm25Config, RunConfig
from statgraph.contrib.tuning.bm25_grid import GRID, HEAT_MAP, tuned_bm25
from statgraph.errors import UsageError
from statgraph.extras import require
from statgraph.law.records import Corpus
from statgraph.systems.presets import resolve_config

if TYPE_CHECKING:  # it loads Optuna
    from statgraph.contrib.tuning.study import TrialRecord

_SHOWN_POINTS = 10
_SHOWN_TRIALS = 5


@click.command()
@click.argument("system", metavar="SYSTEM")
@options.corpus
@options.path("--out", help="Folder for the results.  [default: one under runs/]")
@click.option("--k1", "k1s", metavar="LIST", help="For bm25: comma-separated values of k1.  [default: 0 to 8 by 0.5]")
@click.option("--b", "bs", metavar="LIST", help="For bm25: comma-separated values of b.  [default: 0 to 1 by 0.1]")
@options.number("--trials", help="Total number of trials of the study.  [default: 20]")
@options.path(
    "--space", metavar="FILE", help="YAML file of setting -> {low, high, log} or {choices}.  [default: the regime's]"
)
@options.seed
@options.settings("Fix one setting; repeatable.")
@options.device
def tune(
    system: str, corpus: Path | None, out: Path | None, seed: int, settings: tuple[str, ...], device: str, **given: Any
) -> None:
    """Find the settings of SYSTEM that score best on dev.

    For bm25, try k1 and b over a grid; for any other system, search its settings by trials. Running the same command
    again resumes an interrupted search. What scores best is measured by quality, the mean of mAP and recall at 1 % of
    the articles; --set select_by=NAME names another metric.
    """
    require("tuning")
    from statgraph.contrib.tuning.study import tuning_folder

    settings = (f"seed={seed}", f"device={device}", *settings)
    config = resolve_config(system, settings)
    is_grid = system == "bm25"
    others = {"--trials": "trials", "--space": "space"} if is_grid else {"--k1": "k1s", "--b": "bs"}
    message = "{}: does not apply to 'statgraph tune {}'; omit it"
    options.refuse({message.format(option, system): given[name] is not None for option, name in others.items()})
    records = options.chosen_corpus(corpus)
    folder = out or tuning_folder(records.name, system)
    given = {name: value for name, value in given.items() if value is not None}
    if is_grid:
        _tune_grid(records, config, folder, given)
    else:
        _tune_by_trials(records, system, settings, folder, given)


def _tune_grid(records: Corpus, config: RunConfig, folder: Path, lists: dict[str, str]) -> None:
    if replace(config.bm25, stop_words=True) != Bm25Config():
        raise UsageError("--set bm25.*: the grid tries k1 and b on plain article texts; omit all but bm25.stop_words")
    result = tuned_bm25(
        records,
        **{name: _numbers(f"--{name[:-1]}", text) for name, text in lists.items()},
        select_by=config.select_by,
        heading_path=config.encoder.heading_path,
        stop_words=config.bm25.stop_words,
        out=folder,
    )
    rows = [(f"{point.k1:g}", f"{point.b:g}", f"{100 * point.value:.1f}") for point in result.points[:_SHOWN_POINTS]]
    click.echo(f"BM25 on {records.name}, dev, best {len(rows)} of {len(result.points)}")
    print_table(("k1", "b", f"{result.metric}, %"), rows)
    click.echo(f"Best: --set bm25.k1={result.best.k1:g} --set bm25.b={result.best.b:g}")
    _echo_written(folder, GRID, HEAT_MAP)


def _tune_by_trials(
    records: Corpus, system: str, settings: tuple[str, ...], folder: Path, given: dict[str, Any]
) -> None:
    from statgraph.contrib.tuning.study import BEST, TRIALS, tune_system

    tuning = tune_system(records, system, settings, out=folder, on_trial=_echo_trial, **given)
    best = tuning.ranked[:_SHOWN_TRIALS]
    click.echo(f"{system} on {records.name}: the best of {len(tuning.trials)} trials")
    rows = [
        (f"dev {tuning.metric}, %", *(f"{100 * trial.value:.1f}" for trial in best if trial.value is not None)),
        *((name, *(trial.settings[name] for trial in best)) for name in best[0].settings),
    ]
    print_table(("", *(f"trial {trial.number}" for trial in best)), rows)
    click.echo("Best: " + " ".join(f"--set {shlex.quote(setting)}" for setting in tuning.best_settings))
    _echo_written(folder, BEST, TRIALS)


def _echo_written(folder: Path, *names: str) -> None:
    click.echo(f"Written: {', '.join(str(folder / name) for name in names if (folder / name).exists())}")


def _echo_trial(trial: TrialRecord, n_trials: int) -> None:
    if trial.value is not None:
        outcome = f"dev {100 * trial.value:.1f} %"
    elif trial.state == "pruned":
        outcome = f"pruned after {len(trial.epoch_values)} epochs"
    else:
        outcome = f"failed: {trial.error}"
    click.echo(f"trial {trial.number}/{n_trials}: {outcome} ({trial.seconds:.1f} s)", err=True)


def _numbers(option: str, text: str) -> tuple[float, ...]:
    """Return the numbers of a comma-separated list."""
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise UsageError(f"{option}: '{text}' is not a list of numbers; write it like 0.9,1.2,2.5") from None
