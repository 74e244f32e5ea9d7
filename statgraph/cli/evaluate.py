"""`statgraph evaluate`: a run and a split -> metrics with intervals, and the difference to another run."""

from __future__ import annotations

import json
from pathlib import Path

import click

from statgraph.cli.options import corpus_option, device_option, json_option, run_option


@click.command()
@run_option
@corpus_option
@click.option("--split", metavar="NAME", default="test", show_default=True, help="train, dev or test.")
@click.option(
    "--against",
    metavar="RUN",
    type=click.Path(path_type=Path),
    help="Run folder to compare with, question by question: differences with intervals and p-values.",
)
@json_option
@device_option
def evaluate(
    run: Path | None, corpus: Path | None, split: str, against: Path | None, as_json: bool, device: str
) -> None:
    """Measure a run on a split of the corpus it was trained on.

    --corpus may be left out for the embedded sample only.
    """
    from dataclasses import asdict

    import numpy as np

    from statgraph.cli.options import chosen_corpus, chosen_run
    from statgraph.evaluation.comparison import compare_metrics
    from statgraph.evaluation.report import evaluation_report
    from statgraph.evaluation.report_table import comparison_table, report_table, strata_table
    from statgraph.runs.run import Run
    from statgraph.search.evaluating import split_metrics
    from statgraph.search.retriever import Retriever

    folder = chosen_run(run)
    records = chosen_corpus(corpus)
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
