"""`statgraph search`: a question, or a file of questions -> hits."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from statgraph.cli import options
from statgraph.cli.terminal import TerminalProgress, visible
from statgraph.errors import UsageError, on_command_line
from statgraph.law.query import LIMITS, Query

if TYPE_CHECKING:  # they load NumPy
    from statgraph.retrieval.search.hits import Hit
    from statgraph.retrieval.search.retriever import Retriever
    from statgraph.retrieval.search.rewriting import Rewriter

SNIPPET_CHARACTERS = 160
LONGEST_SHOWN_TITLE = 300


@click.command()
@click.argument("question", required=False)
@options.run_or_hub
@options.path(
    "--corpus",
    help="Corpus folder, or the name of a fetched corpus, to search without a run and without training.",
)
@options.limits("k")
@options.json
@options.path(
    "--questions",
    metavar="FILE",
    help="File with a question a line, or JSONL or CSV (id, text); prints one JSON line per question.",
)
@options.limits(*(name for name in LIMITS if name != "k"))
@click.option("--explain", is_flag=True, help="Explain each hit: what made its score, and the matching words.")
@click.option("--trec", is_flag=True, help="With --questions: print a TREC run (qid Q0 docid rank score tag).")
@options.reader
@click.option(
    "--min-probability",
    metavar="P",
    type=float,
    default=0.0,
    help="Leave out hits whose probability that they answer, 0 to 1, is lower.",
)
@options.searching
def search(question: str | None, run: str | None, corpus: Path | None, questions: Path | None, **given: Any) -> None:
    """Find the articles that answer QUESTION.

    If the corpus says when its articles are in force, only those in force on --as-of are searched.
    """
    from statgraph.formats.importing import read_question_file
    from statgraph.retrieval.search.retriever import Retriever

    rewrite, explain, trec = given["rewrite"], given["explain"], given["trec"]
    contradictions = {
        "--run and --corpus: give only one of them; a run has its own articles": run and corpus,
        "--corpus and --from: a corpus without a run has no vectors; name a run with --run": (
            corpus and given["engine_uri"] is not None
        ),
        'give either a question in quotes or --questions FILE: statgraph search "..."': (
            (question is None) == (questions is None)
        ),
        "--trec: needs a file of questions; add --questions FILE": trec and not questions,
        "--explain: works on a single question; give it in quotes": explain and questions,
        "--rewrite: works on a single question, without --explain; leave one of them out": (
            rewrite is not None and (explain or questions)
        ),
        f"--min-probability: must be from 0 to 1 (got {given['min_probability']:g})": (
            not 0 <= given["min_probability"] <= 1
        ),
        "--trec: its rankings are complete; leave out --min-probability": trec and given["min_probability"],
        "--trec and --json are two formats; give only one of them": trec and given["as_json"],
    }
    options.refuse(contradictions)
    rewriter, how = options.searching_of(given)
    limits = {name: given.pop(name) for name in LIMITS}
    query = None if question is None else Query(question, **limits)
    folder = _folder_of_run(run, corpus)
    ids, texts = ([], []) if questions is None else read_question_file(questions)
    retriever = Retriever.load(folder, **how)
    if query is not None:
        _answer(retriever, rewriter, query, corpus, **given)
        return
    _announce_untrained(retriever, corpus)
    queries = [Query(text, **limits) for text in texts]
    _print_batch(retriever, ids, queries, given["min_probability"], trec=given["trec"])


def _answer(
    retriever: Retriever,
    rewriter: Rewriter | None,
    query: Query,
    corpus: Path | None,
    *,
    min_probability: float,
    explain: bool,
    as_json: bool,
    **batch: Any,
) -> None:
    """Search for one query and print its hits, and before them what a reader should know."""
    from statgraph.retrieval.search.explanation_lines import explanation_lines
    from statgraph.retrieval.search.hits import nothing_fits

    if rewriter is None:
        found = retriever.search(query, passages=True)
    else:
        found, rewritten, warning = retriever.search_rewritten(query, rewriter, passages=True)
        _announce(f"Warning: {warning}" if rewritten is None else f"Also searched: {rewritten}")
    hits = [hit for hit in found if _is_probable(hit.probability, min_probability)]
    explanations = retriever.explain(query, hits) if explain else []
    _announce_untrained(retriever, corpus)
    notices = _notices(retriever, query)
    if nothing_fits(found):
        notices.append("Probably nothing here answers this")
    if left_out := len(found) - len(hits):
        notices.append(
            f"{left_out} of {len(found)} hits left out: each answers with a probability below {min_probability:g}"
        )
    for line in notices:
        click.echo(line, err=as_json)
    if as_json:
        printed = [asdict(hit) for hit in hits]
        for hit, explanation in zip(printed, explanations, strict=False):
            hit["explanation"] = asdict(explanation)
        click.echo(json.dumps(printed, ensure_ascii=False, indent=2))
        return
    if query.as_of not in ("today", "always") and not retriever.has_dates:
        _announce(f"Note: this corpus has no dates, so every article counts as in force on {query.as_of}")
    if hits:
        labels = {name: info.label(name) for name, info in retriever.signals.items()}
        reasons = [explanation_lines(why, labels) for why in explanations]
        _print_hits(hits, reasons, dated=query.as_of == "always" and retriever.has_dates)
    elif not found:
        click.echo(on_command_line(retriever.nothing_found(query)))


def _announce_untrained(retriever: Retriever, corpus: Path | None) -> None:
    if corpus is not None:
        if retriever.by_words:
            by, more = "words, headings and citations alone", "vectors, which find other words of the same meaning"
        else:
            by, more = "words, headings, citations and a pretrained encoder", "what its questions teach"
        _announce(f"Nothing was trained: articles are found by {by}; 'statgraph train --corpus {corpus}' adds {more}")


def _folder_of_run(run: str | None, corpus: Path | None) -> Path:
    """Return the folder of the run to search: the newest where none is named, an untrained one of a corpus."""
    if corpus is None:
        folder = options.chosen_run(
            run, "train one with 'statgraph train', name one with --run, or search a corpus without a run with --corpus"
        )
        if run is None:
            _announce(f"The newest run answers: {folder}; 'statgraph runs' lists the others")
        return folder
    from statgraph import api  # with a run, a search loads nothing that trains

    records = options.chosen_corpus(corpus)
    with TerminalProgress() as progress:
        return api.Run.untrained(records, progress=progress, announce=_announce).folder


def _announce(line: str) -> None:
    click.echo(line, err=True)


def _is_probable(probability: float | None, least: float) -> bool:
    if least and probability is None:
        raise UsageError(
            "--min-probability: the hits of this run have no probabilities; leave it out, or train an ensemble again"
        )
    return not least or (probability is not None and probability >= least)


def _print_batch(
    retriever: Retriever, ids: list[str], queries: Sequence[Query], min_probability: float, *, trec: bool
) -> None:
    """Print the hits of every query: a TREC run, or one JSON line per query. Articles that a query names and that are
    not there, and corrected words, are in its line, or, as a TREC run has no place for them, on standard error."""
    from statgraph.evaluation.report import write_trec_run
    from statgraph.law.query import known_probabilities

    # A TREC run is for evaluation: its rankings are complete.
    rankings = (retriever.rank if trec else retriever.found)(queries)
    article_ids = retriever.article_ids()
    if trec:
        for question_id, query in zip(ids, queries, strict=True):
            for line in _notices(retriever, query):
                click.echo(f"{visible(question_id)}: {line}", err=True)
        write_trec_run(sys.stdout, ids, rankings, article_ids)
        sys.stdout.flush()  # here click still handles a reader that has left, such as head
        return
    for question_id, query, ranked in zip(ids, queries, rankings, strict=True):
        facts = {
            "unknown_articles": retriever.unknown_articles(query.text),
            "corrected": retriever.corrected_words(query.text),
        }
        hits = [{"article_id": article_ids[row], "score": float(score)} for row, score in zip(*ranked, strict=True)]
        hits = [
            hit if probability is None else {**hit, "probability": probability}
            for hit, probability in zip(hits, known_probabilities(ranked), strict=True)
            if _is_probable(probability, min_probability)
        ]
        row = {"_id": question_id, "hits": hits, **{name: fact for name, fact in facts.items() if fact}}
        click.echo(json.dumps(row, ensure_ascii=False))


def _notices(retriever: Retriever, query: Query) -> list[str]:
    """Return what a reader should know before the hits: articles that are not there, and words read as others."""
    lines = [f"No article is numbered {visible(unknown)}" for unknown in retriever.unknown_articles(query.text)]
    if corrected := retriever.corrected_words(query.text):
        read, typed = (visible(", ".join(words)) for words in (corrected.values(), corrected))
        lines.append(f"Searched for: {read} (not in the law: {typed})")
    return lines


def _print_hits(hits: Sequence[Hit], reasons: Sequence[Sequence[str]], *, dated: bool) -> None:
    """Print rank, score, probability if it is known, citation, path, when it is in force if that is wanted, snippet and
    the lines of its explanation, if any, of each hit: a table on a terminal, unfolded lines elsewhere."""
    bodies = [
        [visible(line) for line in (_title(hit), _place(hit, dated=dated), _snippet(hit), *why)]
        for hit, why in zip(hits, reasons or [()] * len(hits), strict=True)
    ]
    if not sys.stdout.isatty():
        for hit, lines in zip(hits, bodies, strict=True):
            start = f"{hit.rank:>3} {hit.score:>7.3f} {_percent(hit)} "
            click.echo(start + f"\n{'':{len(start)}}".join(lines))
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False)
    table = Table(box=None, padding=(0, 1, 1, 0), header_style="dim")
    table.add_column("rank", justify="right")
    table.add_column("score", justify="right")
    shows_probability = any(hit.probability is not None for hit in hits)
    if shows_probability:
        table.add_column("answers", justify="right", style="dim")
    table.add_column("article", overflow="fold")
    for hit, (title, path, snippet, *why) in zip(hits, bodies, strict=True):
        body = Text.assemble(
            (title, "bold"), (f"\n{path}", "dim"), f"\n{snippet}", *((f"\n{line}", "dim") for line in why)
        )
        table.add_row(str(hit.rank), f"{hit.score:.3f}", *[_percent(hit)] * shows_probability, body)
    console.print(table)


def _percent(hit: Hit) -> str:
    return "" if hit.probability is None else f"{hit.probability:>4.0%}"


def _title(hit: Hit) -> str:
    from statgraph.law.titles import full_title

    title = full_title(hit)
    return title if len(title) <= LONGEST_SHOWN_TITLE else f"{title[: LONGEST_SHOWN_TITLE - 1]}…"


def _place(hit: Hit, *, dated: bool) -> str:
    """Return the headings of a hit and, if that is wanted, when it is in force."""
    from statgraph.encoders.article_text import PATH_SEPARATOR

    dates = {"in force from": hit.valid_from, "no longer from": hit.valid_to}
    in_force = ", ".join(f"{words} {day}" for words, day in dates.items() if day and dated)
    return PATH_SEPARATOR.join(hit.path) + (in_force and f" ({in_force})")


def _snippet(hit: Hit) -> str:
    """Return the passage of a hit, or else the start of its text, and what follows, on one line cut at a word."""
    start, end = hit.passage or (0, 0)
    before, passage = hit.text[:start].strip(), " ".join(hit.text[start:end].split())
    line = " ".join(hit.text[start:].split())
    room = max(SNIPPET_CHARACTERS, len(passage))
    if len(line) > room:
        whole_word = room if line[room] == " " else line.rfind(" ", 0, room)
        line = line[: whole_word if whole_word > 0 else room] + " ..."
    return f"... {line}" if before else line
