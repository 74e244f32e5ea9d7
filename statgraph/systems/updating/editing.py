"""`edit_run`: single articles that are added to a run or removed from it, without a corpus folder."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from statgraph import artifacts
from statgraph.errors import UsageError, option
from statgraph.formats.importing import corpus_from_dicts, import_corpus
from statgraph.law.records import Article
from statgraph.runs.own_corpus import in_order, own_corpus
from statgraph.runs.run import RunFolder
from statgraph.systems.updating.update import TextVectors, UpdateSummary, update_run
from statgraph.systems.updating.vectors import kept_citing, kept_questions

EMBEDDED = TextVectors()


def edit_run(
    run: Path,
    *,
    add: Path | Sequence[Mapping[str, object]] = (),
    remove: Collection[str] = (),
    overwrite: bool = False,
    texts: TextVectors = EMBEDDED,
) -> UpdateSummary:
    """Return what it took to add articles to a run, or remove some, in place: whole or not at all, as `update_run`.

    A new article comes behind the last one under the same heading, or else under the nearest heading above it.

    Args:
        run: a finished run.
        add: articles as `statgraph import jsonl` reads them: a file, or rows with `id`, `text`, `path` and optionally
            `title`, `number`, `rubric`, `valid_from`, `valid_to`.
        remove: ids of articles.
        overwrite: whether an article replaces the one that has its id.
        texts: how new texts get their vectors.

    Raises:
        CorpusError: if an article is invalid; every problem is listed.
        UsageError: if an id to add exists already, one to remove does not, or no article would be left.
        RunError: as `update_run`, and if it is an ensemble that kept no training questions.
    """
    opened = RunFolder.read(run)
    artifacts.remove_abandoned(opened.folder.resolve())  # what a killed edit has left beside it
    language = opened.corpus.language
    if isinstance(add, Path):
        added = import_corpus(add, "jsonl", language=language).articles
    else:
        added = corpus_from_dicts(add, language=language).articles if add else ()
    corpus = own_corpus(opened)
    known = corpus.article_rows
    for article in added:
        if article.article_id in known and not overwrite:
            raise UsageError(
                f"article '{article.article_id}': {run} has one of this id; add {option('replace')}, or remove it"
            )
    for article_id in remove:
        if article_id not in known:
            raise UsageError(f"article '{article_id}': {run} has none of this id; take one from the hits of a search")
    articles = _edited(corpus.articles, added, frozenset(remove))
    if not articles:
        raise UsageError(f"{run}: no article would be left; remove the run with 'statgraph runs remove'")
    law = replace(corpus, articles=articles, questions=(), citing=())
    questions, citing = kept_questions(corpus.questions, law), kept_citing(corpus.usable_citing(), law)
    law = replace(
        law,
        questions=tuple(question for question in questions if question.article_ids),
        citing=tuple(text for text in citing if text.article_ids),
    )
    return update_run(run, law, texts=texts)


def _edited(articles: Sequence[Article], added: Sequence[Article], removed: Collection[str]) -> tuple[Article, ...]:
    """Return the articles without those removed and with those added, each in its place."""
    edited = [article for article in articles if article.article_id not in removed]
    for article in added:
        same = [row for row, known in enumerate(edited) if known.article_id == article.article_id]
        if same and edited[same[0]].path == article.path:
            edited[same[0]] = article
            continue
        for row in same:
            del edited[row]
        edited.insert(_row_for(article.path, edited), article)
    return in_order(edited)


def _row_for(path: tuple[str, ...], articles: Sequence[Article]) -> int:
    for depth in range(len(path), 0, -1):
        under = [row for row, article in enumerate(articles) if article.path[:depth] == path[:depth]]
        if under:
            return under[-1] + 1
    return len(articles)
