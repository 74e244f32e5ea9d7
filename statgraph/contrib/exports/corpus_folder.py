"""A corpus as a folder that other tools read: in the layout of BEIR, as Parquet tables, or as tables to label in."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

from statgraph.evaluation.metrics import DEPTH
from statgraph.evaluation.report import write_trec_qrels, write_trec_run
from statgraph.formats.parquet import write_parquet
from statgraph.law.records import MAIN_SET, PATH_SEPARATOR, SET_KEY, SPLITS, Corpus
from statgraph.law.store import write_corpus_files
from statgraph.retrieval.search.evaluating import split_questions
from statgraph.retrieval.search.retriever import Retriever
from statgraph.runs.run import RunFolder

RUNS = "runs"


def write_beir(
    corpus: Corpus, folder: Path, *, run: RunFolder | None = None, split: str | None = None, device: str = "auto"
) -> str:
    """Write `corpus.jsonl`, `queries.jsonl` and `qrels/*.tsv`; with a run and a split also `runs/SPLIT.trec`, the best
    500 articles for each question of the split, and `runs/SPLIT.qrels`, its labels in the same spelling. Questions are
    those of the main set, as BEIR has no other: its tools would measure several as one. Citing texts stay behind, since
    nothing there keeps those of test questions apart.

    Raises:
        UsageError: if the split is unknown or has no questions.
        RunError: if the run is damaged, final, or of another corpus.
    """
    main = tuple(question for question in corpus.questions if question.question_set == MAIN_SET)
    ranked = ""
    if run is not None:
        assert split is not None
        run.check_measurable(split)
        run.check_corpus(corpus)
        questions = split_questions(corpus, split)
        rankings = Retriever.load(run.folder, device=device).rank([question.text for question in questions], DEPTH)
        (folder / RUNS).mkdir()
        with (folder / RUNS / f"{split}.trec").open("w", encoding="utf-8") as file:
            ids = [question.question_id for question in questions]
            write_trec_run(file, ids, rankings, [article.article_id for article in corpus.articles])
        with (folder / RUNS / f"{split}.qrels").open("w", encoding="utf-8") as file:
            write_trec_qrels(file, {question.question_id: question.article_ids for question in questions})
        ranked = f", and the rankings of {run.folder} for {split}"
    write_corpus_files(replace(corpus, questions=main, citing=()), folder)
    n_questions = sum(len(corpus.split(name)) for name in SPLITS)
    return f"{len(corpus.articles):,} articles and {n_questions:,} questions of {corpus.name}{ranked}"


def write_csv_tables(corpus: Corpus, folder: Path) -> str:
    """Write the articles and the questions as tables for a spreadsheet, to label in: `articles.csv`, and
    `questions.csv`, which `statgraph import --questions` takes once questions are added to it. A mark at their
    beginning tells spreadsheet programs that they are UTF-8."""
    articles = (
        (one.article_id, one.number, one.rubric, PATH_SEPARATOR.join(one.path), one.text) for one in corpus.articles
    )
    questions = (
        (one.question_id, one.text, "; ".join(one.article_ids), one.split, one.question_set) for one in corpus.questions
    )
    tables = {
        "articles.csv": (("id", "number", "rubric", "path", "text"), articles),
        "questions.csv": (("id", "question", "articles", "split", SET_KEY), questions),
    }
    for name, (columns, rows) in tables.items():
        with (folder / name).open("w", encoding="utf-8-sig", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(columns)
            writer.writerows(rows)
    return f"{len(corpus.articles):,} articles and {len(corpus.questions):,} questions of {corpus.name}"


def write_parquet_tables(corpus: Corpus, folder: Path) -> str:
    """Write a whole corpus as `write_parquet` does, citing texts and every set of questions included."""
    write_parquet(corpus, folder)
    return f"{len(corpus.articles):,} articles and {len(corpus.questions):,} questions of {corpus.name}"
