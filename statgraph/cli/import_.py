"""`statgraph import`: the user's own files to a corpus folder."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from statgraph.corpus.draft import Draft
from statgraph.corpus.feedback import FeedbackSummary, read_marks, with_feedback
from statgraph.corpus.importing import draft_source
from statgraph.corpus.records import SPLITS, Corpus, headings_of
from statgraph.corpus.store import read_corpus, refuse_foreign_folder, write_corpus
from statgraph.errors import UsageError
from statgraph.registry import FORMATS

FEEDBACK = "feedback"

_HELP = """Convert your own statutes and questions to a corpus folder.

SOURCE is a file or folder in one of these FORMATs:

\b
{formats}

`feedback` takes the marks that readers of 'statgraph serve' left, and the --corpus that they were left on: an article
that is marked right becomes a training label of its question.

Nothing is written unless all of it is valid; every problem is listed with its file and line.
"""


@click.command(
    "import",
    help=_HELP.format(
        formats="\n".join(
            f"{name:<8} {summary}"
            for name, summary in [
                *((name, FORMATS.load(name).summary) for name in FORMATS.built_in),
                *((name, "from an installed package") for name in FORMATS if name not in FORMATS.built_in),
                (FEEDBACK, "the feedback.jsonl of a service, with --corpus"),
            ]
        )
    ),
)
@click.argument("format_name", metavar="FORMAT")
@click.argument("source", metavar="SOURCE", type=click.Path(path_type=Path, readable=False))
@click.option("--out", metavar="DIR", type=click.Path(path_type=Path), required=True, help="Corpus folder to write.")
@click.option(
    "--corpus",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="For feedback: the corpus folder that the labels are added to.",
)
@click.option("--name", help="Name of the corpus.  [default: the source's]")
@click.option("--language", metavar="CODE", help="Language of the statutes, such as fr.  [default: what SOURCE says]")
@click.option("--licence", help="Licence of the statutes.  [default: what SOURCE says]")
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
            raise UsageError("feedback: nothing says which corpus it is on; add --corpus DIR")
        if language or licence:
            raise UsageError("feedback: the language and the licence are those of the corpus; leave them out")
        click.echo(_import_feedback(source, corpus, out, name))
        return
    if corpus is not None:
        raise UsageError(f"--corpus goes with feedback, not with {format_name}; leave it out")
    if format_name not in FORMATS:
        raise UsageError(f"unknown format '{format_name}'; choose from {', '.join((*FORMATS, FEEDBACK))}")
    draft = draft_source(format_name, source, name=name, language=language, licence=licence)
    imported = draft.corpus()
    write_corpus(imported, out)
    click.echo(_summary(imported, draft, out))


def _import_feedback(marks_file: Path, corpus_folder: Path, out: Path, name: str | None) -> str:
    """Write the corpus with the marks as labels, and return what to tell of it."""
    before = read_corpus(corpus_folder)
    after, summary = with_feedback(before, read_marks(marks_file, before.article_rows))
    write_corpus(replace(after, name=name or after.name), out)
    return _feedback_summary(summary, name or after.name, out)


def _feedback_summary(summary: FeedbackSummary, name: str, folder: Path) -> str:
    left_out = {
        "overruled by a later one": summary.overruled,
        "wrong": summary.wrong,
        "labels already": summary.known,
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
