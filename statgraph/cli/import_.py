"""`statgraph import`: the user's own files to a corpus folder."""

from __future__ import annotations

from pathlib import Path

import click

from statgraph.corpus.draft import Draft
from statgraph.corpus.formats.registry import FORMATS
from statgraph.corpus.importing import draft_source
from statgraph.corpus.records import SPLITS, Corpus, headings_of
from statgraph.corpus.store import refuse_foreign_folder, write_corpus

_HELP = """Convert your own statutes and questions to a corpus folder.

SOURCE is a file or folder in one of these FORMATs:

\b
{formats}

Nothing is written unless all of it is valid; every problem is listed with its file and line.
"""


@click.command(
    "import",
    help=_HELP.format(formats="\n".join(f"{name:<6} {layout.summary}" for name, layout in FORMATS.items())),
)
@click.argument("format_name", metavar="FORMAT")
@click.argument("source", metavar="SOURCE", type=click.Path(path_type=Path, readable=False))
@click.option("--out", metavar="DIR", type=click.Path(path_type=Path), required=True, help="Corpus folder to write.")
@click.option("--name", help="Name of the corpus.  [default: the source's]")
@click.option("--language", metavar="CODE", help="Language of the statutes, such as fr.  [default: what SOURCE says]")
@click.option("--licence", help="Licence of the statutes.  [default: what SOURCE says]")
def import_(
    format_name: str, source: Path, out: Path, name: str | None, language: str | None, licence: str | None
) -> None:
    refuse_foreign_folder(out)
    draft = draft_source(format_name, source, name=name, language=language, licence=licence)
    corpus = draft.corpus()
    write_corpus(corpus, out)
    click.echo(_summary(corpus, draft, out))


def _summary(corpus: Corpus, draft: Draft, folder: Path) -> str:
    labels = sum(len(question.article_ids) for question in corpus.questions)
    lines = [
        f"{folder}: corpus '{corpus.name}' ({corpus.language})",
        f"  articles   {len(corpus.articles):,}",
        f"  headings   {sum(1 for _ in headings_of(corpus.articles)):,}",
        f"  questions  {', '.join(f'{split} {len(corpus.split(split)):,}' for split in SPLITS)}",
        f"  labels     {labels:,}",
    ]
    left_out = len(draft.unlabelled_questions)
    if left_out:
        lines.append(f"  left out   {left_out:,} question{'s' if left_out > 1 else ''} that no article answers")
    lines.append(f"Next: statgraph build-graph {folder}")
    return "\n".join(lines)
