"""`statgraph evaluate`: a run and a split -> metrics with intervals, and the difference from another run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from statgraph.cli import options


@click.command()
@options.run_or_hub
@options.corpus
@click.option("--split", metavar="NAME", default="test", help="train, dev or test.")
@click.option("--set", "question_set", metavar="NAME", help="Question set.  [default: each that the split has]")
@options.path(
    "--against",
    metavar="RUN",
    help="Run folder to compare with, question by question, of this state of the law or another.",
)
@options.reader
@options.json
@options.device
def evaluate(run: str | None, corpus: Path | None, as_json: bool, **what: Any) -> None:
    """Measure a run on a split of the corpus that it was trained on.

    --corpus is required unless that is the embedded sample. Several question sets are measured apart; with --json, the
    first comes as if alone, the others under question_sets.
    """
    from rich.console import Console

    from statgraph import api
    from statgraph.evaluation.report import comparison_table, report_table, strata_comparison_table, strata_table
    from statgraph.law.records import MAIN_SET

    folder, records = options.chosen_run(run), options.chosen_corpus(corpus)
    measured = api.evaluate(folder, records, reader=options.reader_of(what), **what)
    for caveat in measured.caveats:
        click.echo(f"Warning: {caveat}", err=True)
    if as_json:
        click.echo(json.dumps(measured.to_dict(), indent=2))
        return
    for each in (measured, *measured.others.values()):
        name = f", {each.question_set}" if each.question_set != MAIN_SET else ""
        click.echo(f"{folder} on {records.name}, {each.report.split}{name}")
        tables = [report_table(each.report), strata_table(each.report)]
        if each.comparison is not None:
            tables.append(comparison_table(each.comparison.metrics, each.baseline))
            tables.append(strata_comparison_table(each.comparison.strata))
        for table in filter(None, tables):
            Console(highlight=False).print(table)
        for reason in () if each.comparison is None else each.comparison.left_out:
            click.echo(f"not compared: {reason}")
    for note in measured.report.notes():  # the same for every question set
        click.echo(note)
