"""`statgraph evaluate`: a run and a split -> metrics with intervals."""

from __future__ import annotations

import json
from pathlib import Path

import click

from statgraph.cli.options import corpus_option, device_option, json_option, run_option


@click.command()
@run_option
@corpus_option
@click.option("--split", metavar="NAME", default="test", show_default=True, help="train, dev or test.")
@json_option
@device_option
def evaluate(run: Path | None, corpus: Path | None, split: str, as_json: bool, device: str) -> None:
    """Measure a run on a split of the corpus it was trained on.

    --corpus may be left out for the embedded sample only.
    """
    import numpy as np

    from statgraph.cli.options import chosen_corpus, chosen_run
    from statgraph.evaluation.report_table import report_table
    from statgraph.search.evaluating import evaluate_split
    from statgraph.search.retriever import Retriever, check_corpus

    folder = chosen_run(run)
    records = chosen_corpus(corpus)
    check_corpus(folder, records)
    report = evaluate_split(Retriever.load(folder, device=device), records, split, rng=np.random.default_rng(0))
    if as_json:
        click.echo(json.dumps(report.to_dict(), indent=2))
        return
    from rich.console import Console

    click.echo(f"{folder} on {records.name}, {split}")
    Console(highlight=False).print(report_table(report))
