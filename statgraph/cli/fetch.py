"""`statgraph fetch`: a catalogue corpus to a corpus folder."""

from __future__ import annotations

from pathlib import Path

import click

from statgraph.cli.options import CORPORA
from statgraph.corpus.catalogue import CATALOGUE
from statgraph.corpus.fetching import fetch_corpus
from statgraph.corpus.records import SPLITS, Corpus, headings_of

_HELP = """Bring a catalogue corpus to disk.

NAME is one of:

\b
{names}
"""


@click.command(
    "fetch", help=_HELP.format(names="\n".join(f"{name:<10} {entry.summary}" for name, entry in CATALOGUE.items()))
)
@click.argument("name", metavar="NAME")
@click.option(
    "--out",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help=f"Corpus folder to write.  [default: {CORPORA}/NAME]",
)
@click.option(
    "--from",
    "from_folder",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Folder with the archives or files, downloaded before: nothing is then read from the network.",
)
def fetch(name: str, out: Path | None, from_folder: Path | None) -> None:
    folder = out or CORPORA / name
    click.echo(_summary(fetch_corpus(name, folder, from_folder), folder))


def _summary(corpus: Corpus, folder: Path) -> str:
    headings = list(headings_of(corpus.articles))
    return "\n".join(
        [
            f"{folder}: corpus '{corpus.name}' ({corpus.language})",
            f"  articles   {len(corpus.articles):,}",
            f"  headings   {len(headings):,}, up to {max(heading.depth for heading in headings)} levels",
            f"  questions  {', '.join(f'{split} {len(corpus.split(split)):,}' for split in SPLITS)}",
            f"  labels     {sum(len(question.article_ids) for question in corpus.questions):,}",
            f"Next: statgraph build-graph {folder}",
        ]
    )
