"""A whole table: the runs that it lacks are carried out, and the result is written into a folder."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from statgraph import artifacts
from statgraph.contrib.plots.figures import save_png
from statgraph.errors import StatgraphError, on_command_line
from statgraph.evaluation.metrics import left_out, left_out_note
from statgraph.law.records import SPLITS, Corpus
from statgraph.progress import Progress
from statgraph.retrieval.search.evaluating import split_questions
from statgraph.runs.folders import folder_name
from statgraph.runs.kind import kind_of
from statgraph.runs.provenance import commit
from statgraph.studies.ablation import AblationRuns, with_signal_rows
from statgraph.studies.analyses import ANALYSES, LINES
from statgraph.studies.baselines import BaselineRuns
from statgraph.studies.folds import folded, pooled, question_groups
from statgraph.studies.rendering import About, corpus_line, main_tables, rows_figure, table_text
from statgraph.studies.running import PlannedRun, machine, planned_runs, with_tuned_bm25
from statgraph.studies.spec import GRID, TableSpec, measurable_on, short_name
from statgraph.studies.store import RunBusyError, RunResult, RunStore
from statgraph.studies.summary import summaries
from statgraph.studies.table_files import MARKDOWN, VALUES, analysis_text, runs_of, table_values, write_values
from statgraph.systems.job import TrainingOptions
from statgraph.systems.presets import resolve_config

PICTURE = "figure.png"
RESULTS = Path("results")

Display = Callable[[], AbstractContextManager[Progress]]


@dataclass(frozen=True)
class Request:
    """Which table, on what: the options of `statgraph reproduce`. `command` is the command line that asked for it."""

    spec: TableSpec
    seeds: int
    split: str
    work: Path
    command: str
    corpus_folder: str = ""
    backbone: str = ""
    settings: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    keep_runs: bool = False


@dataclass(frozen=True)
class Reproduced:
    """A table that was written: its folder, its main part as Markdown lines, and a line for each run that is missing
    although it was asked for."""

    folder: Path
    main: list[str]
    missing: tuple[str, ...]


def reproduce(
    request: Request,
    corpus: Corpus,
    folder: Path,
    *,
    display: Display,
    on_line: Callable[[str], None] = lambda line: None,
) -> Reproduced:
    """Carry out the runs of a table that are missing, and write it.

    A run that fails or that another process works on is left out of the table and named in it; `only` names the rows
    to run, the others are included as far as they have run before.

    Args:
        display: makes what shows the progress of one run.
        on_line: gets a line on each run.

    Raises:
        UsageError: for a split without questions, an unknown row, or an invalid setting.
        StatgraphError: why the last run failed, if no run succeeded.
    """
    split_questions(corpus, request.split)
    if request.spec.analysis:
        return _analysed(request, corpus, folder)
    found = (_cross_validated if request.spec.folds else _found)(request, corpus, display, on_line)
    if not found.results:
        raise next(reversed(found.problems.values()))
    missing = [f"{name}: {on_command_line(found.problems.get(name, 'not run yet'))}" for name in found.missing]
    main = _write_table(replace(request, spec=found.spec), corpus, found.results, tuple(missing), folder)
    named = zip(found.missing.items(), missing, strict=True)
    return Reproduced(folder, main, tuple(line for (_, row), line in named if row in (request.only or (row,))))


def default_folder(request: Request, corpus_name: str) -> Path:
    """Return where a table is written by default: its name, the corpus's and the backbone's, and the split's if that is
    not test."""
    spec = request.spec
    parts = [spec.name, folder_name(corpus_name)]
    if spec.backbones:
        parts.append("backbones")
    elif not spec.analysis and not spec.by_set:
        auto = resolve_config("qabisar", request.settings).encoder.backbone
        parts.append(folder_name(short_name(request.backbone or auto)))
    if request.split != "test" and not spec.analysis:
        parts.append(request.split)
    return RESULTS / "-".join(parts)


@dataclass(frozen=True)
class _Found:
    """The table with what was tuned, its results by row and seed, the row of each run without a result by the run's
    name, and why runs failed."""

    spec: TableSpec
    results: dict[str, dict[int, RunResult]]
    missing: dict[str, str]
    problems: dict[str, StatgraphError]


def _found(request: Request, corpus: Corpus, display: Display, on_line: Callable[[str], None]) -> _Found:
    """Carry out the runs of a table that are missing; return all that there are."""
    store = RunStore(request.work)
    spec = with_tuned_bm25(measurable_on(request.spec, request.split), corpus, store)
    if spec.ablation:
        config = resolve_config(spec.rows[0].system, request.settings)
        spec = with_signal_rows(spec, kind_of(config).for_corpus(config, corpus))
    kind = AblationRuns if spec.ablation else BaselineRuns
    runs = kind(corpus, request.split, store, request.corpus_folder, request.keep_runs)
    plan: dict[str, Any] = {"seeds": request.seeds, "backbone": request.backbone, "settings": request.settings}
    problems = _carry_out(planned_runs(spec, only=request.only, **plan), runs, display, on_line)
    results: dict[str, dict[int, RunResult]] = {}
    missing = {}
    for planned in planned_runs(spec, **plan):
        result = runs.result(planned)
        if result is None:
            missing[planned.name] = planned.row.name
        else:
            results.setdefault(planned.row.name, {})[planned.seed] = result
    return _Found(spec, results, missing, problems)


def _cross_validated(request: Request, corpus: Corpus, display: Display, on_line: Callable[[str], None]) -> _Found:
    """Carry out the runs of all folds that are missing; return those that every fold has, each pooled over the folds.
    What is tuned is tuned for each fold, so that the rows' settings are those of the table."""
    groups, folds = question_groups(corpus), []
    for number, part in enumerate(folded(corpus, groups, request.spec.folds), start=1):
        named = replace(request, corpus_folder=f"{request.corpus_folder or 'sample'}-fold-{number}")
        folds.append(_found(named, part, display, partial(_on_line_of_fold, on_line, number)))
    results = {
        row: {
            seed: pooled([fold.results[row][seed] for fold in folds], groups)
            for seed in by_seed
            if all(seed in fold.results.get(row, {}) for fold in folds)
        }
        for row, by_seed in folds[0].results.items()
    }
    missing = {name: row for fold in folds for name, row in fold.missing.items()}
    problems = {name: problem for fold in folds for name, problem in fold.problems.items()}
    return _Found(request.spec, {row: by_seed for row, by_seed in results.items() if by_seed}, missing, problems)


def _on_line_of_fold(on_line: Callable[[str], None], number: int, line: str) -> None:
    on_line(f"fold {number}: {line}")


def _carry_out(
    wanted: Sequence[PlannedRun], runs: BaselineRuns | AblationRuns, display: Display, on_line: Callable[[str], None]
) -> dict[str, StatgraphError]:
    """Carry out the runs that are missing; return why those failed that did, by run."""
    problems: dict[str, StatgraphError] = {}
    for planned in wanted:
        try:
            outcome = "already finished"
            if runs.result(planned) is None:
                start = time.perf_counter()
                with display() as progress:
                    result = runs.finished(planned, TrainingOptions(progress=progress))
                outcome = f"mAP {100 * result.mean('mAP'):.1f}, {time.perf_counter() - start:.0f} s"
        except StatgraphError as error:
            problems[planned.name] = error
            outcome = f"{'skipped' if isinstance(error, RunBusyError) else 'failed'}: {on_command_line(error)}"
        on_line(f"{planned.name}: {outcome}")
    runs.close(wanted)
    return problems


def _write_table(
    request: Request,
    corpus: Corpus,
    results: Mapping[str, Mapping[int, RunResult]],
    missing: tuple[str, ...],
    folder: Path,
) -> list[str]:
    """Write the table without the metrics that the corpus is too small for; return its main part."""
    n_articles = len(corpus.articles)
    spec = request.spec
    shown, drawn = (tuple(n for n in names if n not in left_out(n_articles)) for names in (spec.metrics, spec.figure))
    spec = replace(spec, metrics=shown, figure=drawn)
    rows = summaries(spec, results)
    runs = runs_of(rows).values()
    about = About(
        corpus=corpus_line(corpus),
        split=_split_line(spec, corpus, request.split),
        seeds=request.seeds,
        command=request.command,
        commits=tuple(dict.fromkeys(commit for result in runs for commit in _commits(result))),
        machines=tuple(dict.fromkeys(result.about["machine"] for result in runs)),
        missing=missing,
        left_out=left_out_note(n_articles),
    )
    picture = PICTURE if spec.figure else ""
    if picture:
        save_png(rows_figure(spec, rows), folder / picture)
    artifacts.write_text(folder / MARKDOWN, table_text(spec, rows, about, picture=picture))
    write_values(folder / VALUES, table_values(spec, rows, about))
    return main_tables(spec, rows)


def _analysed(request: Request, corpus: Corpus, folder: Path) -> Reproduced:
    spec = request.spec
    about = About(
        corpus=corpus_line(corpus),
        split="dev" if spec.analysis == GRID else "none: articles alone",
        seeds=0,
        command=request.command,
        commits=(commit(),),
        machines=(machine("cpu"),),
    )
    found = ANALYSES[spec.analysis](corpus, folder / PICTURE)
    values = {"table": spec.name, "title": spec.title, "source": spec.source, "about": asdict(about), **found}
    artifacts.write_text(folder / MARKDOWN, analysis_text(values, PICTURE))
    write_values(folder / VALUES, values)
    return Reproduced(folder, LINES[spec.analysis](values), ())


def _split_line(spec: TableSpec, corpus: Corpus, split: str) -> str:
    """Return which questions are asked, and how many."""
    if not spec.folds:
        return f"{split} ({len(corpus.split(split)):,} questions)"
    n_questions = sum(len(corpus.split(name)) for name in SPLITS)
    return f"{split} of each of {spec.folds} folds ({n_questions:,} questions; resampled by groups that are alike)"


def _commits(result: RunResult) -> list[str]:
    """Return the commits that a run, in each fold, and the members which it reused were trained at."""
    taken = [member["commit"] for member in result.about.get("taken", ())]
    return [*(run["commit"] for run in result.about.get("folds", [result.about])), *filter(None, taken)]
