"""`statgraph tune`: BM25's grid, or a search for a system's settings, on dev."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

import click

from statgraph.cli.options import corpus_option, device_option, seed_option
from statgraph.config import RunConfig

GRID_SYSTEM = "bm25"
_SHOWN_POINTS = 10
_SHOWN_TRIALS = 5


@click.command()
@click.argument("system", metavar="SYSTEM")
@corpus_option
@click.option(
    "--out", metavar="DIR", type=click.Path(path_type=Path), help="Folder of the results.  [default: one under runs/]"
)
@click.option("--k1", "k1s", metavar="LIST", help="bm25: values of k1, separated by commas.  [default: 0 to 8 by 0.5]")
@click.option("--b", "bs", metavar="LIST", help="bm25: values of b, separated by commas.  [default: 0 to 1 by 0.1]")
@click.option("--metric", metavar="NAME", help="bm25: what counts as best.  [default: R@200]")
@click.option(
    "--trials",
    "n_trials",
    metavar="N",
    type=click.IntRange(min=1),
    help="How many trials the study shall have.  [default: 20]",
)
@click.option(
    "--space",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="YAML: setting -> {low, high, log} or {choices}.  [default: the regime's]",
)
@seed_option
@click.option(
    "--set", "settings", multiple=True, metavar="A.B=C", help="Fix one value of the configuration; repeatable."
)
@device_option
def tune(
    system: str,
    corpus: Path | None,
    out: Path | None,
    k1s: str | None,
    bs: str | None,
    metric: str | None,
    n_trials: int | None,
    space: Path | None,
    seed: int,
    settings: tuple[str, ...],
    device: str,
) -> None:
    """Find the settings of SYSTEM that score best on dev.

    SYSTEM is bm25, whose k1 and b are tried over a grid, or another system, whose settings are searched by trial; the
    same command goes on with a search that was interrupted.
    """
    from statgraph.cli.options import chosen_corpus
    from statgraph.errors import UsageError
    from statgraph.runs.folders import RUNS, folder_name
    from statgraph.systems.presets import resolve_config

    of_grid = {"--k1": k1s, "--b": bs, "--metric": metric}
    of_trials = {"--trials": n_trials, "--space": space}
    config = resolve_config(system, (f"seed={seed}", f"device={device}", *settings))
    for option, value in (of_trials if system == GRID_SYSTEM else of_grid).items():
        if value is not None:
            raise UsageError(f"{option}: not an option of 'statgraph tune {system}'; leave it out")
    records = chosen_corpus(corpus)
    folder = out if out is not None else RUNS / f"tuning-{folder_name(records.name)}-{system}"
    if system == GRID_SYSTEM:
        _tune_grid(records, config, folder, k1s, bs, metric)
    else:
        fixed = (f"seed={seed}", f"device={device}", *settings)
        _tune_by_trials(records, system, config, fixed, folder, space, n_trials)


def _tune_grid(records, config: RunConfig, folder: Path, k1s: str | None, bs: str | None, metric: str | None) -> None:
    from statgraph.config import Bm25Config
    from statgraph.errors import UsageError
    from statgraph.systems.tuning import bm25_grid

    if config.bm25 != Bm25Config():
        raise UsageError("--set bm25.*: the grid tries k1 and b on plain article texts; leave it out")
    result = bm25_grid.tuned_bm25(
        records,
        bm25_grid.DEFAULT_K1S if k1s is None else _numbers("--k1", k1s),
        bm25_grid.DEFAULT_BS if bs is None else _numbers("--b", bs),
        metric=metric or bm25_grid.SELECTION_METRIC,
        heading_path=config.encoder.heading_path,
    )
    bm25_grid.write_grid(result, records, folder)
    rows = [(f"{point.k1:g}", f"{point.b:g}", f"{100 * point.value:.1f}") for point in result.points[:_SHOWN_POINTS]]
    click.echo(f"BM25 on {records.name}, dev, best {len(rows)} of {len(result.points)}")
    _print_table(("k1", "b", f"{result.metric}, %"), rows)
    click.echo(f"Best: --set bm25.k1={result.best.k1:g} --set bm25.b={result.best.b:g}")
    click.echo(f"Written: {folder / bm25_grid.GRID}, {folder / bm25_grid.HEAT_MAP}")


def _tune_by_trials(
    records,
    system: str,
    config: RunConfig,
    fixed: tuple[str, ...],
    folder: Path,
    space_file: Path | None,
    n_trials: int | None,
) -> None:
    from statgraph.systems.tuning.results import BEST, HISTORY, TRIALS
    from statgraph.systems.tuning.spaces import preset_space, read_space, without_fixed
    from statgraph.systems.tuning.study import DEFAULT_TRIALS, tune_system

    space = preset_space(config) if space_file is None else read_space(space_file, config)
    space = without_fixed(space, fixed)
    try:
        tuning = tune_system(
            records, system, fixed, space, folder, n_trials=n_trials or DEFAULT_TRIALS, on_trial=_echo_trial
        )
    except KeyboardInterrupt:
        click.echo("To go on with it, run the same command again", err=True)
        raise
    best = tuning.ranked[:_SHOWN_TRIALS]
    click.echo(f"{system} on {records.name}: the best of {len(tuning.trials)} trials")
    rows = [
        ("dev R@200, %", *(f"{100 * trial.value:.1f}" for trial in best)),
        *((name, *(trial.settings[name] for trial in best)) for name in space),
    ]
    _print_table(("", *(f"trial {trial.number}" for trial in best)), rows)
    click.echo("Best: " + " ".join(f"--set {shlex.quote(setting)}" for setting in tuning.best_settings))
    click.echo(f"Written: {', '.join(str(folder / name) for name in (BEST, TRIALS, HISTORY))}")


def _echo_trial(trial, n_trials: int) -> None:
    results = {
        "finished": lambda: f"dev R@200 {100 * trial.value:.1f} %",
        "pruned": lambda: f"pruned after {len(trial.epoch_values)} epochs",
        "failed": lambda: f"failed: {trial.error}",
    }
    click.echo(f"trial {trial.number}/{n_trials}: {results[trial.state]()} ({trial.seconds:.1f} s)", err=True)


def _numbers(option: str, text: str) -> tuple[float, ...]:
    """Return the numbers of a list separated by commas."""
    from statgraph.errors import UsageError

    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise UsageError(f"{option}: '{text}' is no list of numbers; give some like 0.9,1.2,2.5") from None


def _print_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table()
    for number, name in enumerate(columns):
        table.add_column(name, justify="right" if number else "left")
    for row in rows:
        table.add_row(*row)
    Console(highlight=False).print(table)
