"""Options that several commands share, with one meaning."""

from __future__ import annotations

from pathlib import Path

import click

from statgraph.config import RunConfig
from statgraph.device import DEVICES, PRECISIONS

CORPORA = Path("corpora")  # where `statgraph fetch` puts what it brings

corpus_option = click.option(
    "--corpus",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Corpus folder, or the name of a fetched one.  [default: the embedded sample]",
)
run_option = click.option(
    "--run", metavar="DIR", type=click.Path(path_type=Path), help="Run folder.  [default: the newest under runs/]"
)
device_option = click.option(
    "--device", type=click.Choice(DEVICES), default="auto", show_default=True, help="Where to compute."
)
precision_option = click.option(
    "--precision",
    type=click.Choice(PRECISIONS),
    default="float32",
    show_default=True,
    metavar="NAME",
    help="float32, bfloat16 or int8: what a BERT multiplies in on a CPU; int8 needs `quicken --precision int8`.",
)
seed_option = click.option(
    "--seed",
    metavar="N",
    type=click.IntRange(min=0),
    default=RunConfig.seed,
    show_default=True,
    help="Fixes every random choice.",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON in place of a table.")


def chosen_corpus(folder: Path | None):
    """Return the corpus in a folder, or of that name under corpora/ where `fetch` puts it, or the embedded sample."""
    from statgraph.corpus.sample import sample_folder
    from statgraph.corpus.store import read_corpus

    if folder is None:
        return read_corpus(sample_folder())
    fetched = CORPORA / folder
    return read_corpus(fetched if not folder.exists() and fetched.is_dir() else folder)


def chosen_run(folder: Path | None) -> Path:
    """Return the run folder named, or the newest."""
    from statgraph.runs.folders import newest_run

    return folder if folder is not None else newest_run()
