"""A whole table: runs what is missing of it, and writes the result into a folder."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from statgraph import artifacts
from statgraph.corpus.records import Corpus
from statgraph.errors import StatgraphError
from statgraph.evaluation.metrics import left_out, left_out_note
from statgraph.progress import Progress
from statgraph.runs.folders import folder_name
from statgraph.runs.provenance import commit, published
from statgraph.search.evaluating import split_questions
from statgraph.studies.ablation import AblationRuns, with_signal_rows
from statgraph.studies.analyses import ANALYSES
from statgraph.studies.by_set import by_set_text, set_tables
from statgraph.studies.rendering import About, corpus_line, draw_rows, main_table, opening, table_text
from statgraph.studies.running import CorpusRuns, PlannedRun, machine, planned_runs, with_tuned_bm25
from statgraph.studies.spec import GRID, TableSpec, measurable_on, short_name, without_metrics
from statgraph.studies.store import RunBusyError, RunResult, RunStore
from statgraph.studies.summary import summaries
from statgraph.systems.ensemble import for_corpus
from statgraph.systems.job import TrainingOptions
from statgraph.systems.presets import resolve_config

MARKDOWN, VALUES, PICTURE = "table.md", "table.json", "figure.png"
RESULTS = Path("results")


@dataclass(frozen=True)
class Request:
    """Which table, of what: as the options of `statgraph reproduce`. `command` is how it was asked for."""

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
    display: Callable[[], AbstractContextManager[Progress]],
    on_line: Callable[[str], None] = lambda line: None,
) -> Reproduced:
    """Carry out the runs of a table that are not there yet, and write it.

    A run that fails or that another process works on is left out of the table and named in it; `only` names the rows
    that are run, the others are taken as far as they are there.

    Args:
        display: makes what shows the progress of one run.
        on_line: is told of each run, in a line.

    Raises:
        UsageError: for a split without questions, an unknown row, or a setting that cannot be.
        StatgraphError: why the last run failed, if no run succeeded.
    """
    split_questions(corpus, request.split)
    if request.spec.analysis:
        return _analysed(request, corpus, folder)
    store = RunStore(request.work)
    spec = with_tuned_bm25(measurable_on(request.spec, request.split), corpus, store)
    if spec.ablation:
        spec = with_signal_rows(spec, for_corpus(resolve_config(spec.rows[0].system, request.settings), corpus))
    request = replace(request, spec=spec)
    kind = AblationRuns if spec.ablation else CorpusRuns
    runs = kind(corpus, request.split, store, request.corpus_folder, request.keep_runs)
    plan = {"seeds": request.seeds, "backbone": request.backbone, "settings": request.settings}
    wanted = planned_runs(spec, only=request.only, **plan)
    problems: dict[tuple[str, int], StatgraphError] = {}
    for planned in wanted:
        try:
            on_line(f"{planned.row}, seed {planned.seed}: {_carried_out(planned, runs, display)}")
        except StatgraphError as error:
            problems[planned.row, planned.seed] = error
            kind = "skipped" if isinstance(error, RunBusyError) else "failed"
            on_line(f"{planned.row}, seed {planned.seed}: {kind}: {error}")
    if isinstance(runs, AblationRuns):
        runs.close(wanted)
    results: dict[str, dict[int, RunResult]] = {}
    asked = {(planned.row, planned.seed) for planned in wanted}
    missing, missing_asked = [], []
    for planned in planned_runs(spec, **plan):
        found = runs.result(planned)
        if found is not None:
            results.setdefault(planned.row, {})[planned.seed] = found
        else:
            reason = problems.get((planned.row, planned.seed), "not run yet")
            missing.append(f"{planned.row}, seed {planned.seed}: {reason}")
            if (planned.row, planned.seed) in asked:
                missing_asked.append(missing[-1])
    if not results:
        raise next(reversed(problems.values()))
    return Reproduced(folder, _written(request, corpus, results, tuple(missing), folder), tuple(missing_asked))


def default_folder(request: Request, corpus_name: str) -> Path:
    """Return where a table is written unless told otherwise: its name, the corpus's and the backbone's; the split's
    where it is not test."""
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


def _carried_out(planned: PlannedRun, runs: CorpusRuns, display: Callable[[], AbstractContextManager]) -> str:
    """Carry out a run and return in a few words how it ended."""
    if runs.result(planned) is not None:
        return "there already"
    start = time.perf_counter()
    with display() as progress:
        options = TrainingOptions(progress=progress)
        result = runs.finished(planned, options)
    return f"mAP {100 * result.mean('mAP'):.1f}, {time.perf_counter() - start:.0f} s"


def _written(
    request: Request, corpus: Corpus, results: Mapping[str, Mapping[int, RunResult]], missing, folder: Path
) -> list[str]:
    """Write the table without the metrics that the corpus is too small for; return its main part."""
    n_articles = len(corpus.articles)
    spec = without_metrics(request.spec, left_out(n_articles))
    rows = summaries(spec, results)
    runs = {}
    for row in rows:
        for result in row.results.values():
            runs.setdefault(f"{row.spec.name}, seed {result.about['seed']}", result)
    about = About(
        corpus=corpus_line(corpus),
        split=f"{request.split} ({len(corpus.split(request.split)):,} questions)",
        seeds=request.seeds,
        command=request.command,
        commits=_distinct(commit for result in runs.values() for commit in _commits(result)),
        machines=_distinct(result.about["machine"] for result in runs.values()),
        missing=missing,
        left_out=left_out_note(n_articles),
    )
    picture = PICTURE if spec.figure else ""
    if picture:
        draw_rows(spec, rows, folder / picture)
    asked, saved = _asked_once({name: {**result.to_dict(), **published(result.about)} for name, result in runs.items()})
    values = {
        "table": spec.name,
        **published({key: value for key, value in asdict(spec).items() if key not in ("name", "rows")}),
        "about": asdict(about),
        "rows": published([row.to_dict() for row in rows]),
        "questions": asked,
        "runs": saved,
    }
    if spec.by_set:
        _write(folder, by_set_text(spec, rows, about), values)
        return set_tables(spec, rows)
    _write(folder, table_text(spec, rows, about, picture=picture), values)
    return main_table(spec, rows)


def _asked_once(runs: Mapping[str, dict]) -> tuple[dict, dict[str, dict]]:
    """Return (the question ids and strata that all runs have, the runs without them): half of the file otherwise. Where
    runs differ in them, nothing is taken out."""

    def parts(run: Mapping) -> list[dict]:
        return [run["questions"], *run.get("signals", {}).values()]

    asked = {key: value for key, value in parts(next(iter(runs.values())))[0].items() if key != "metrics"}
    if any(part | asked != part for run in runs.values() for part in parts(run)):
        return {}, dict(runs)

    def measures(part: Mapping) -> dict:
        return {"metrics": part["metrics"]}

    saved = {}
    for name, run in runs.items():
        signals = {signal: measures(alone) for signal, alone in run.get("signals", {}).items()}
        saved[name] = run | {"questions": measures(run["questions"])} | ({"signals": signals} if signals else {})
    return asked, saved


def _analysed(request: Request, corpus: Corpus, folder: Path) -> Reproduced:
    spec = request.spec
    found = ANALYSES[spec.analysis](corpus, folder / PICTURE)
    about = About(
        corpus=corpus_line(corpus),
        split="dev" if spec.analysis == GRID else "none: articles alone",
        seeds=0,
        command=request.command,
        commits=(commit(),),
        machines=(machine("cpu"),),
    )
    lines = [*opening(spec, about), *found.lines, "", f"![{spec.title}]({PICTURE})"]
    values = {"table": spec.name, "title": spec.title, "source": spec.source, "about": asdict(about), **found.values}
    _write(folder, "\n".join(lines) + "\n", values)
    return Reproduced(folder, list(found.lines), ())


def _write(folder: Path, text: str, values: Mapping[str, object]) -> None:
    artifacts.write_text(folder / MARKDOWN, text)
    # A list of plain values stays on its line: one value a line would make tens of thousands of them.
    indented = json.dumps(values, indent=1, ensure_ascii=False)
    compact = re.sub(r"\[[^\[\]{}]*\]", lambda found: re.sub(r"\s*\n\s*", " ", found[0]), indented)
    artifacts.write_text(folder / VALUES, compact + "\n")


def _commits(result: RunResult) -> list[str]:
    """Return the commits that a run and the members which it took were trained at."""
    taken = [member["commit"] for member in result.about.get("taken", ())]
    return [result.about["commit"], *filter(None, taken)]


def _distinct(values) -> tuple[str, ...]:
    return tuple(dict.fromkeys(values))
