"""`statgraph fetch` and `statgraph import`: a corpus of the catalogue, or the user's own files, to a corpus folder."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from statgraph.cli import options
from statgraph.corpus.catalogue import CATALOGUE
from statgraph.corpus.feedback import FeedbackSummary, read_marks, with_feedback
from statgraph.corpus.fetching import fetch_corpus
from statgraph.corpus.importing import draft_source
from statgraph.corpus.records import SPLITS, Corpus, headings_of
from statgraph.corpus.store import read_corpus, refuse_foreign_folder, write_corpus
from statgraph.errors import UsageError
from statgraph.registry import FORMATS

FEEDBACK = "feedback"
_SOURCES = {
    **{name: FORMATS.load(name).summary for name in FORMATS.built_in},
    **{name: "from an installed package" for name in FORMATS if name not in FORMATS.built_in},
    FEEDBACK: "the feedback.jsonl of a service, with --corpus",
}

_FETCH_HELP = """Download a corpus from the catalogue.

NAME is one of:

\b
{names}
"""
_IMPORT_HELP = """Convert your own statutes and questions to a corpus folder.

SOURCE is a file or folder in one of these FORMATs:

\b
{formats}

`feedback` takes the marks that readers left in 'statgraph serve', and the --corpus that they searched: an article
marked as right becomes a training label of its question.

Nothing is written unless everything is valid; every problem is listed with its file and line.
"""


@click.command(
    help=_FETCH_HELP.format(names="\n".join(f"{name:<10} {entry.summary}" for name, entry in CATALOGUE.items()))
)
@click.argument("name", metavar="NAME")
@options.path("--out", help=f"Corpus folder to write.  [default: {options.CORPORA}/NAME]")
@options.path(
    "--from", "from_folder", help="Folder with the archives or files, already downloaded; the network is then not used."
)
def fetch(name: str, out: Path | None, from_folder: Path | None) -> None:
    folder = out or options.CORPORA / name
    corpus = fetch_corpus(name, folder, from_folder)
    levels = max(heading.depth for heading in headings_of(corpus.articles))
    click.echo(_summary(corpus, folder, headings_note=f", up to {levels} levels"))


@click.command(
    "import", help=_IMPORT_HELP.format(formats="\n".join(f"{name:<8} {summary}" for name, summary in _SOURCES.items()))
)
@click.argument("format_name", metavar="FORMAT")
@click.argument("source", metavar="SOURCE", type=click.Path(path_type=Path, readable=False))
@options.path("--out", required=True, help="Corpus folder to write.")
@options.path("--corpus", help="For feedback: the corpus folder to add the labels to.")
@click.option("--name", help="Name of the corpus.  [default: the source's]")
@click.option("--language", metavar="CODE", help="Language of the statutes, such as fr.  [default: the source's]")
@click.option("--licence", help="Licence of the statutes.  [default: the source's]")
def import_(
    format_name: str,
    source: Path,
    out: Path,
    corpus: Path | None,
    name: str | None,
    language: str | None,
    licence: str | None,
) -> None:
    refuse_foreign_folder(out)
    if format_name == FEEDBACK:
        if corpus is None:
            raise UsageError("feedback: needs the corpus that the marks are about; add --corpus DIR")
        if language or licence:
            raise UsageError("feedback: the language and the licence are the corpus's; omit --language and --licence")
        before = read_corpus(corpus)
        after, summary = with_feedback(before, read_marks(source, before.article_rows))
        after = replace(after, name=name or after.name)
        write_corpus(after, out)
        click.echo(_feedback_summary(summary, after.name, out))
        return
    if corpus is not None:
        raise UsageError(f"--corpus: only for the format feedback, not {format_name}; omit it")
    if format_name not in FORMATS:
        raise UsageError(f"unknown format '{format_name}'; choose from {', '.join(_SOURCES)}")
    draft = draft_source(format_name, source, name=name, language=language, licence=licence)
    imported = draft.corpus()
    write_corpus(imported, out)
    click.echo(_summary(imported, out, left_out=len(draft.unlabelled_questions)))


def _feedback_summary(summary: FeedbackSummary, name: str, folder: Path) -> str:
    left_out = {
        "overruled by a later one": summary.overruled,
        "wrong": summary.wrong,
        "already labels": summary.known,
        "on questions of dev or test": summary.held_out,
    }
    lines = [
        f"{folder}: corpus '{name}' with readers' marks",
        f"  marks      {summary.marks:,}",
        *(f"  left out   {count:,} {reason}" for reason, count in left_out.items() if count),
        f"  labels     {summary.labels:,} new",
        f"  questions  {summary.questions:,} new in train",
        f"Next: statgraph train --corpus {folder}",
    ]
    return "\n".join(lines)


def _summary(corpus: Corpus, folder: Path, *, headings_note: str = "", left_out: int = 0) -> str:
    lines = [
        f"{folder}: corpus '{corpus.name}' ({corpus.language})",
        f"  articles   {len(corpus.articles):,}",
        f"  headings   {sum(1 for _ in headings_of(corpus.articles)):,}{headings_note}",
        f"  questions  {', '.join(f'{split} {len(corpus.split(split)):,}' for split in SPLITS)}",
        f"  labels     {sum(len(question.article_ids) for question in corpus.questions):,}",
    ]
    if left_out:
        lines.append(f"  left out   {left_out:,} question{'s' if left_out > 1 else ''} that no article answers")
    lines.append(f"Next: statgraph build-graph {folder}")
    return "\n".join(lines)
