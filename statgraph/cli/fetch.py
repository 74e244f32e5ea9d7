"""`statgraph fetch`: from the catalogue to a corpus folder."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from statgraph import api
from statgraph.cli import options
from statgraph.cli.corpora import corpus_summary
from statgraph.formats.catalogue.catalogue import CATALOGUE, corpus_named, default_folder
from statgraph.law.catalogue import CORPORA
from statgraph.law.tree import tree_of

_FETCH_HELP = """Download a corpus from the catalogue, after its licence and terms are shown.

NAME is one of:

\b
{names}
"""


@click.command(
    help=_FETCH_HELP.format(names="\n".join(f"{name:<14} {entry.title}" for name, entry in CATALOGUE.items()))
)
@click.argument("name", metavar="[NAME]", required=False)
@click.option("--list", "listed", is_flag=True, help="List the corpora with their size and licence, and exit.")
@options.json
@options.path("--out", help=f"Corpus folder to write.  [default: {CORPORA}/NAME, or NAME-by-labels]")
@options.path(
    "--from", "from_folder", help="Folder with the archives or files, already downloaded; the network is then not used."
)
@click.option("--accept-terms", is_flag=True, help="Accept the terms of a corpus for research only.")
@options.splits
def fetch(
    name: str, listed: bool, as_json: bool, out: Path | None, from_folder: Path | None, accept_terms: bool, splits: str
) -> None:
    contradictions = {
        "--json: only with --list; add it, or omit --json": as_json and not listed,
        f"--list: shows every corpus; omit {name}": listed and name,
        "fetch: names no corpus; choose one of 'statgraph fetch --list'": not listed and name is None,
    }
    options.refuse(contradictions)
    if listed:
        facts = [{"name": name, **entry.facts} for name, entry in CATALOGUE.items()]
        click.echo(json.dumps(facts, ensure_ascii=False, indent=2) if as_json else _catalogue_table())
        return
    entry = corpus_named(name)
    click.echo(
        f"{name}: {entry.title}\n  licence    {entry.licence.name}: {entry.licence.terms}\n"
        f"  from       {entry.source.page}",
        err=True,
    )
    if entry.licence.research_only and from_folder is None and not accept_terms and sys.stdin.isatty():
        accept_terms = click.confirm("Do you accept these terms?", err=True)
    folder = out or default_folder(name, splits)
    corpus = api.fetch(name, folder, from_folder=from_folder, splits=splits, accept_terms=accept_terms, again=True)
    levels = tree_of(corpus.articles).depth
    click.echo(corpus_summary(corpus, folder, headings_note=f", up to {levels} levels"))


def _catalogue_table() -> str:
    columns = "{:<13}  {:>8}  {:>9}  {:<8}  {}"
    rows = [("name", "articles", "questions", "language", "licence")]
    for name, entry in CATALOGUE.items():
        rows.append((name, f"{entry.articles:,}", f"{entry.questions:,}", entry.language, entry.licence.name))
    return "\n".join(columns.format(*row) for row in rows)
