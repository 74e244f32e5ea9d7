"""A corpus as a folder that other tools read: in the layout of BEIR, or as Parquet tables."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from statgraph import artifacts
from statgraph.contrib.exports.source_and_target import refuse_existing
from statgraph.evaluation.metrics import DEPTH
from statgraph.evaluation.trec import write_trec_run
from statgraph.formats.parquet import write_parquet
from statgraph.law.records import MAIN_SET, Corpus
from statgraph.law.store import write_corpus_files
from statgraph.retrieval.search.evaluating import split_questions
from statgraph.retrieval.search.retriever import Retriever
from statgraph.runs.run import Run

RUNS = "runs"


def export_beir(
    corpus: Corpus, out: Path, *, run: Path | None = None, split: str | None = None, device: str = "auto"
) -> None:
    """Write `corpus.jsonl`, `queries.jsonl` and `qrels/*.tsv`; with a run and a split also `runs/SPLIT.trec`, the best
    500 articles for each question of the split. Questions are those of the main set, as BEIR has no other: its tools
    would measure several as one. Citing texts stay behind, since nothing there keeps those of test questions apart.

    Raises:
        UsageError: if `out` exists, or the split is unknown or has no questions.
        RunError: if the run is not finished, damaged, final, or of another corpus.
    """
    refuse_existing(out)
    questions = ()
    if run is not None:
        ranked_by = Run.read(run)
        ranked_by.check_measurable(split)
        ranked_by.check_corpus(corpus)
        questions = split_questions(corpus, split)
    main = tuple(question for question in corpus.questions if question.question_set == MAIN_SET)
    with artifacts.replaced_folder(out) as folder:
        write_corpus_files(replace(corpus, questions=main, citing=()), folder)
        if run is None:
            return
        rankings = Retriever.load(run, device=device).rank([question.text for question in questions], DEPTH)
        (folder / RUNS).mkdir()
        with (folder / RUNS / f"{split}.trec").open("w", encoding="utf-8") as file:
            ids = [question.question_id for question in questions]
            write_trec_run(file, ids, rankings, [article.article_id for article in corpus.articles])


def export_parquet(corpus: Corpus, out: Path) -> None:
    """Write a whole corpus as `write_parquet` does, citing texts and every set of questions included.

    Raises:
        UsageError: if `out` exists.
        DependencyError: if pyarrow is missing.
    """
    refuse_existing(out)
    with artifacts.replaced_folder(out) as folder:
        write_parquet(corpus, folder)
