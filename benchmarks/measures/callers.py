"""Questions a second while many callers ask at once, the run loaded: one batcher beside each caller for itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from benchmarks.measures.query import PLAIN, K, overlap, plain_search, precisions
from benchmarks.rows import Row, Spread, ratio_text, taking_turns, times_faster
from benchmarks.settings import Settings
from statgraph.retrieval.search.batching import QuestionBatcher
from statgraph.retrieval.search.retriever import Retriever
from statgraph.runs.run import RunFolder

CALLERS, ASKED_TIMES = 16, 3.0


def measure(settings: Settings) -> list[Row]:
    """Return the row of a run in every precision that it has."""
    corpus, run = settings.corpus_and_run()
    questions = [question.text for question in corpus.split("dev")][: 3 if settings.quick else 96]
    plain = plain_search(run)
    sizes: dict[str, list[int]] = {}
    works, overlaps = {"plain": lambda: ask_all(plain, questions)}, {}
    for precision in precisions(run):
        retriever = Retriever.load(run, device="cpu", precision=precision)
        sizes[precision] = []
        batcher = QuestionBatcher(retriever, on_batch=sizes[precision].append)
        found = dict(zip(questions, ask_all(ids_of(batcher), questions), strict=True))
        overlaps[precision] = overlap(found.__getitem__, plain, questions)
        works[precision] = lambda batcher=batcher: ask_all(ids_of(batcher), questions)
    seconds = taking_turns(works, rounds=1 if settings.quick else 7)
    backbone = RunFolder.read(run).config.encoder.backbone
    what = f"{CALLERS} callers at once, run loaded: {corpus.name}, {len(corpus.articles):,} articles, {backbone}"
    return [
        row_of(
            what if precision == "float32" else f'{what}, `precision="{precision}"`',
            seconds[precision],
            seconds["plain"],
            n_questions=len(questions),
            overlapping=overlaps[precision],
            batch_sizes=batch_sizes,
        )
        for precision, batch_sizes in sizes.items()
    ]


def row_of(
    what: str,
    ours: Sequence[float],
    plain: Sequence[float],
    *,
    n_questions: int,
    overlapping: float,
    batch_sizes: Sequence[int],
) -> Row:
    """Return the row of the seconds by round that all questions took."""
    ratio = times_faster(ours, plain)
    note = (
        f"Questions a second: ours {rate_text(n_questions, ours)}, the rival's {rate_text(n_questions, plain)}; "
        f"{n_questions} dev questions a round, each caller asks the next when it has been answered. "
        f"{sum(batch_sizes) / len(batch_sizes):.1f} questions a batch on average. The {K} hits are the same to "
        f"{overlapping:.1%}."
    )
    figures = {
        "seconds": list(ours),
        "plain_seconds": list(plain),
        "questions": n_questions,
        "top_10_overlap": overlapping,
        "batch_sizes": list(batch_sizes),
    }
    asked, holds = f"{ASKED_TIMES:g} times the questions a second", ratio.median >= ASKED_TIMES
    return Row(what, f"{PLAIN}, by the same {CALLERS} threads", asked, ratio_text(ratio), holds, figures, note)


def rate_text(n_questions: int, seconds: Sequence[float]) -> str:
    """Return "120 [90 to 130]"."""
    rates = Spread.of([n_questions / value for value in seconds])
    return f"{rates.median:.0f} [{rates.low:.0f} to {rates.high:.0f}]"


def ids_of(batcher: QuestionBatcher) -> Callable[[str], list[str]]:
    """Return the function question -> ids of its hits."""
    return lambda question: [hit.article_id for hit in batcher.search(question, K)]


def ask_all(search: Callable[[str], list[str]], questions: Sequence[str]) -> list[list[str]]:
    """Return what each question finds, asked by `CALLERS` threads."""
    with ThreadPoolExecutor(CALLERS) as callers:
        return list(callers.map(search, questions))
