"""`statgraph import` and `build-graph`: from the user's own files to a corpus and its graph."""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from statgraph.cli import options
from statgraph.config import GraphConfig
from statgraph.errors import UsageError, on_command_line, unknown_name
from statgraph.formats.download import is_address
from statgraph.formats.importing import About, explained, import_to_folder
from statgraph.formats.recognising import recognised
from statgraph.graph.relations import CITING, RELATION_GROUPS
from statgraph.law.draft import COLUMNS, Reading
from statgraph.law.feedback import FeedbackSummary, add_feedback
from statgraph.law.lines import in_a_file
from statgraph.law.records import MAIN_SET, SPLITS, Corpus
from statgraph.law.splitting import HASH
from statgraph.law.store import read_corpus
from statgraph.law.tree import tree_of
from statgraph.registry import FORMATS

FEEDBACK = "feedback"
_NODES = {CITING: "citing texts"}  # elsewhere the type with an s
_SOURCES = {
    **{name: FORMATS.load(name).summary for name in FORMATS.built_in},
    **{name: "from an installed package" for name in FORMATS if name not in FORMATS.built_in},
    FEEDBACK: "the feedback.jsonl of a service, with --corpus",
}

_IMPORT_HELP = """Convert your own statutes and questions to a corpus folder.

SOURCE is a file or folder in one of these FORMATs, which is recognised if left out; of xml also a zip or tar archive,
or an https address:

\b
{formats}

`feedback` takes the marks that readers left in 'statgraph serve', and the --corpus that they searched: an article
marked as right becomes a training label of its question.

Nothing is written unless everything is valid; every problem is listed with its file and line.
"""


@click.command(
    "import", help=_IMPORT_HELP.format(formats="\n".join(f"{name:<8} {summary}" for name, summary in _SOURCES.items()))
)
@click.argument("format_and_source", metavar="[FORMAT] SOURCE", nargs=-1, required=True)
@options.path("--out", help="Corpus folder to write.")
@click.option("--force", is_flag=True, help="Replace the corpus in --out.")
@options.path("--corpus", help="For feedback: the corpus folder to add the labels to.")
@click.option("--name", help="Name of the corpus.  [default: that in the source's manifest, or else --out's]")
@click.option("--language", metavar="CODE", help="Language of the statutes, such as fr.  [default: the source's]")
@click.option("--encoding", metavar="NAME", default="utf-8", help="Encoding of text files, such as cp1252.")
@click.option(
    "--column",
    "columns",
    metavar="OURS=YOURS",
    multiple=True,
    help="In tables, read a column under another name, such as text=Wortlaut; repeatable, one column under several.",
)
@click.option(
    "--code",
    metavar="TITLE",
    default="",
    show_default=False,
    help="The code of articles without a heading, or of a document.",
)
@click.option(
    "--article-pattern",
    metavar="REGEX",
    default="",
    show_default=False,
    help=r"In docx, md, html and txt, what begins an article: number and rubric in groups, such as '(\d+)\. (.*)'.",
)
@click.option(
    "--heading-pattern",
    "heading_patterns",
    metavar="REGEX",
    multiple=True,
    help="In docx, md, html and txt, what begins a heading; repeatable, the highest level first.",
)
@click.option(
    "--profile", metavar="NAME|FILE", default="", show_default=False, help="Of xml, the profile.  [default: recognised]"
)
@options.path(
    "--questions",
    metavar="FILE",
    help="Questions and the articles that answer them: CSV, Excel, JSON lines; questions.* beside a file is taken too.",
)
@click.option("--explain", is_flag=True, help="Print what is recognised in SOURCE and where, and write nothing.")
@click.option(
    "--allow-lost",
    is_flag=True,
    help="Import also if more than 5 % of the words are in no article, no heading and left out by no rule.",
)
@click.option("--strip-html", is_flag=True, help="Reduce texts that hold HTML to plain text.")
@click.option("--licence", help="Licence of the statutes.  [default: the source's]")
@options.splits
def import_(
    format_and_source: tuple[str, ...],
    out: Path | None,
    force: bool,
    corpus: Path | None,
    splits: str,
    explain: bool,
    columns: tuple[str, ...],
    code: str,
    **given: Any,
) -> None:
    about = {name: given.pop(name) for name in ("name", "language", "licence")}
    reading = Reading(columns=_mapping(columns), code=code.strip(), **given)
    format_name, source = _format_and_source(format_and_source, FEEDBACK if corpus is not None else "")
    marks = format_name == FEEDBACK
    contradictions = {
        f"--corpus: only for the format feedback, not {format_name}; omit it": not marks and corpus,
        "feedback: needs the corpus that the marks are about; add --corpus DIR": marks and corpus is None,
        "feedback: the language and the licence are the corpus's; omit --language and --licence": (
            marks and (about["language"] or about["licence"])
        ),
        "feedback: marks have no columns; omit --encoding, --column, --code, --strip-html and patterns": (
            marks and reading != Reading()
        ),
        "feedback: questions keep their splits, and new ones are in train; omit --splits": marks and splits != HASH,
    }
    options.refuse(contradictions)
    if not marks and format_name not in FORMATS:
        raise unknown_name("format", format_name, _SOURCES)
    if explain:
        for line in explained(format_name, source, About(**about), reading=reading):
            click.echo(line)
        return
    options.refuse({"--out: is missing; name the corpus folder to write": out is None})
    assert out is not None
    if corpus is not None:
        labelled, summary = add_feedback(read_corpus(corpus), Path(source), out, name=about["name"], force=force)
        click.echo(_feedback_summary(summary, labelled.name, out))
        return
    said = About(**about, otherwise=out.resolve().name)
    imported = import_to_folder(source, format_name, out, said, splits=splits, reading=reading, force=force)
    for caveat in imported.caveats:
        click.echo(f"Warning: {on_command_line(caveat)}", err=True)
    resolved = imported.resolved_citing
    note = f", of which {resolved:,} by the articles that the text names" if resolved else ""
    click.echo(corpus_summary(imported.corpus, out, citing_note=note, left_out=imported.left_out, words=imported.words))


def _format_and_source(arguments: tuple[str, ...], implied: str) -> tuple[str, str]:
    """Return the format, given, implied or recognised, and the source."""
    *formats, source = arguments
    if len(formats) > 1:
        raise UsageError(f"import: takes [FORMAT] SOURCE (got {' '.join(arguments)}); put a name with blanks in quotes")
    named = source
    if source in _SOURCES and not formats and not implied and not Path(source).exists():
        raise UsageError(f"import {source}: names no source; write 'statgraph import {source} SOURCE --out DIR'")
    if not is_address(source):  # a pipe is read once, for its format and for its text
        source = str(click.get_current_context().with_resource(in_a_file(source)))
    if formats or implied:
        return (formats or [implied])[0], source
    found = recognised(source)
    click.echo(
        f"Format: {found.format} ({found.why}); if it is another, name it: statgraph import FORMAT {named}", err=True
    )
    return found.format, source


def _mapping(columns: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Return our names of each column by the user's."""
    mapping: dict[str, tuple[str, ...]] = {}
    for column in columns:
        ours, _, yours = column.partition("=")
        if not yours or ours not in COLUMNS:
            raise UsageError(f"--column {column}: write OURS=YOURS, where OURS is one of {', '.join(COLUMNS)}")
        mapping[yours] = (*mapping.get(yours, ()), ours)
    return mapping


def _feedback_summary(summary: FeedbackSummary, name: str, folder: Path) -> str:
    lines = [
        f"{folder}: corpus '{name}' with readers' marks",
        f"  marks      {summary.marks:,}",
        *(f"  left out   {count:,} {reason}" for reason, count in summary.left_out.items() if count),
        f"  labels     {summary.labels:,} new",
        f"  questions  {summary.questions:,} new in train",
        f"Next: statgraph train --corpus {folder}",
    ]
    return "\n".join(lines)


def corpus_summary(
    corpus: Corpus,
    folder: Path,
    *,
    headings_note: str = "",
    citing_note: str = "",
    left_out: Iterable[str] = (),
    words: Iterable[str] = (),
) -> str:
    """Return what a command says of the corpus that it wrote."""
    questions = {name: [corpus.split(split, name) for split in SPLITS] for name in (MAIN_SET, *corpus.question_sets)}
    lines = [
        f"{folder}: corpus '{corpus.name}' ({corpus.language})",
        f"  articles   {len(corpus.articles):,}",
        f"  headings   {len(tree_of(corpus.articles).headings):,}{headings_note}",
    ]
    if n_rubrics := sum(bool(article.rubric) for article in corpus.articles):
        lines.append(f"  rubrics    {n_rubrics:,}")
    if not any(article.number or any(map(str.isdecimal, article.title)) for article in corpus.articles):
        lines.append("  numbers    none: a question cannot name an article by its number")
    for name, splits in questions.items():
        counts = ", ".join(f"{split} {len(held):,}" for split, held in zip(SPLITS, splits, strict=True))
        lines.append(f"  {name:<9}  {counts}")
    n_labels = sum(len(question.article_ids) for split in questions[MAIN_SET] for question in split)
    lines.append(f"  labels     {n_labels:,}")
    if corpus.citing:
        lines.append(f"  citing     {len(corpus.citing):,}{citing_note}")
    lines += [f"  left out   {what}" for what in left_out]
    lines += [f"  words      {what}" for what in words]
    lines.append(f"Next: statgraph train --corpus {folder}")
    return "\n".join(lines)


@click.command("build-graph")
@click.argument("corpus", type=click.Path(path_type=Path), required=False)
@options.path("--out", help="Graph folder.  [default: graphs/CORPUS]")
@click.option(
    "--relations",
    metavar="A,B,...",
    default=",".join(GraphConfig().relations),
    help=f"Relation groups: {', '.join(RELATION_GROUPS)}; or none.",
)
def build_graph(corpus: Path | None, out: Path | None, relations: str) -> None:
    """Build the graph of CORPUS: its tree of headings, and the questions that cite its articles.

    CORPUS defaults to the embedded sample.
    """
    from statgraph import api
    from statgraph.graph.build import summary_of
    from statgraph.graph.store import default_folder

    groups = [group.strip() for group in relations.split(",") if group.strip() not in ("", "none")]
    records = options.chosen_corpus(corpus)
    folder = out or default_folder(records.name)
    start = time.perf_counter()
    graph = api.build_graph(records, groups, out=folder)
    seconds = time.perf_counter() - start
    summary = summary_of(graph)
    click.echo(f"Built the graph of {records.name} in {seconds:.2f} s: {folder}")
    click.echo(
        "  nodes   " + ", ".join(f"{count:,} {_NODES.get(name, f'{name}s')}" for name, count in summary.nodes.items())
    )
    for name, count in summary.edges.items():
        click.echo(f"  edges   {count:>9,}  {name}")
    click.echo("  depth   " + ", ".join(f"{depth}: {count:,}" for depth, count in summary.headings_by_depth.items()))
    click.echo(f"  cited   {summary.articles_cited:,} articles, by training questions")
    click.echo(f"  orphans {summary.orphan_articles:,} articles without edges")
