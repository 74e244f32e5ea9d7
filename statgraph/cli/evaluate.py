"""`statgraph evaluate`: a run and a split -> metrics with intervals, and the difference from another run."""

from __future__ import annotations

import json
from pathlib import Path

import click

from statgraph.cli import options


@click.command()
@options.run
@options.corpus
@click.option("--split", metavar="NAME", default="test", help="train, dev or test.")
@options.path(
    "--against",
    metavar="RUN",
    help="Run folder to compare with, question by question: intervals and p-values of the differences.",
)
@options.json
@options.device
def evaluate(
    run: Path | None, corpus: Path | None, split: str, against: Path | None, as_json: bool, device: str
) -> None:
    """Measure a run on a split of the corpus that it was trained on.

    --corpus is required unless that is the embedded sample.
    """
    from dataclasses import asdict

    import numpy as np

    from statgraph.evaluation.comparison import compare_metrics
    from statgraph.evaluation.report import comparison_table, evaluation_report, report_table, strata_table
    from statgraph.runs.run import Run
    from statgraph.search.evaluating import split_metrics
    from statgraph.search.retriever import Retriever

    folder = options.chosen_run(run)
    records = options.chosen_corpus(corpus)
    for compared in (folder, against) if against is not None else (folder,):
        Run.read(compared).check_corpus(records)
    measured = split_metrics(Retriever.load(folder, device=device), records, split)
    report = evaluation_report(measured.metrics, measured.masks, split=split, rng=np.random.default_rng(0))
    comparisons = {}
    if against is not None:
        baseline = split_metrics(Retriever.load(against, device=device), records, split)
        comparisons = compare_metrics([baseline.metrics], [measured.metrics], np.random.default_rng(0))
    if as_json:
        printed = report.to_dict()
        if against is not None:
            metrics = {name: asdict(compared) for name, compared in comparisons.items()}
            printed["against"] = {"run": str(against), "metrics": metrics}
        click.echo(json.dumps(printed, indent=2))
        return
    from rich.console import Console

    click.echo(f"{folder} on {records.name}, {split}")
    tables = [report_table(report), strata_table(report)]
    if against is not None:
        tables.append(comparison_table(comparisons, str(against)))
    for table in filter(None, tables):
        Console(highlight=False).print(table)
