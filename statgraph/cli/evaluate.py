"""`statgraph evaluate`: a run and a split -> metrics with intervals, and the difference from another run."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from statgraph.cli import options

if TYPE_CHECKING:
    from statgraph.corpus.records import Corpus
    from statgraph.evaluation.report import Report
    from statgraph.evaluation.significance import MetricComparison
    from statgraph.search.retriever import Retriever


@click.command()
@options.run_or_hub
@options.corpus
@click.option("--split", metavar="NAME", default="test", help="train, dev or test.")
@click.option("--set", "question_set", metavar="NAME", help="Question set.  [default: each that the split has]")
@options.path(
    "--against",
    metavar="RUN",
    help="Run folder to compare with, question by question: intervals and p-values of the differences.",
)
@options.json
@options.device
def evaluate(
    run: str | None,
    corpus: Path | None,
    split: str,
    question_set: str | None,
    against: Path | None,
    as_json: bool,
    device: str,
) -> None:
    """Measure a run on a split of the corpus that it was trained on.

    --corpus is required unless that is the embedded sample. Several question sets are measured apart; with --json, the
    first comes as if alone, the others under question_sets.
    """
    from rich.console import Console

    from statgraph.corpus.records import MAIN_SET
    from statgraph.evaluation.report import comparison_table, report_table, strata_table
    from statgraph.runs.run import Run
    from statgraph.search.evaluating import sets_of_split
    from statgraph.search.retriever import Retriever

    folder = options.chosen_run(run)
    records = options.chosen_corpus(corpus)
    for compared in (folder, against) if against is not None else (folder,):
        measured_run = Run.read(compared)
        measured_run.check_measurable(split)
        measured_run.check_corpus(records)
        if measured_run.kind.learnt_from(measured_run) == split:
            click.echo(f"Warning: {compared} has learnt to rank from {split}: its figures are too good there", err=True)
    names = (question_set,) if question_set else sets_of_split(records, split)
    retriever = Retriever.load(folder, device=device)
    baseline = Retriever.load(against, device=device) if against is not None else None
    measured = {name: _measured(retriever, baseline, records, split, name) for name in names}
    if as_json:
        printed = [report.to_dict() for report, _ in measured.values()]
        for values, (_, comparisons) in zip(printed, measured.values(), strict=True):
            if against is not None:
                metrics = {name: asdict(compared) for name, compared in comparisons.items()}
                values["against"] = {"run": str(against), "metrics": metrics}
        first, *others = printed
        apart = {"question_sets": dict(zip(names[1:], others, strict=True))} if others else {}
        click.echo(json.dumps({**first, **apart}, indent=2))
        return
    for name, (report, comparisons) in measured.items():
        click.echo(f"{folder} on {records.name}, {split}" + (f", {name}" if name != MAIN_SET else ""))
        tables = [report_table(report), strata_table(report)]
        if against is not None:
            tables.append(comparison_table(comparisons, str(against)))
        for table in filter(None, tables):
            Console(highlight=False).print(table)
    for note in report.notes():  # the same for every question set
        click.echo(note)


def _measured(
    retriever: Retriever, baseline: Retriever | None, records: Corpus, split: str, question_set: str
) -> tuple[Report, Mapping[str, MetricComparison]]:
    """Return the report on a question set, and the differences of its metrics from a baseline's; empty without one."""
    import numpy as np

    from statgraph.evaluation.report import evaluation_report
    from statgraph.evaluation.significance import compare_metrics
    from statgraph.search.evaluating import split_metrics

    measured = split_metrics(retriever, records, split, question_set)
    report = evaluation_report(
        measured.metrics, measured.masks, split=split, n_articles=len(records.articles), rng=np.random.default_rng(0)
    )
    if baseline is None:
        return report, {}
    known = split_metrics(baseline, records, split, question_set)
    return report, compare_metrics([known.metrics], [measured.metrics], np.random.default_rng(0))
