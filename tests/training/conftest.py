"""A village of twelve articles in two codes, and encoders small enough to train in a blink."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from statgraph.encoders.static import StaticBiEncoder, StaticEncoder
from statgraph.law.records import Article, Corpus, Question
from statgraph.training.checkpoints import MetricsLog
from statgraph.training.loop import Schedule, Stage, TrainingContext, train_stage
from statgraph.training.text_model import TextModel

LAMPS, WELLS = "Lamp Code", "Well Code"
ARTICLES = (
    ((LAMPS, "General rules"), "this code governs street lamps"),
    ((LAMPS, "General rules"), "a lamp is any fixed light"),
    ((LAMPS, "Duties", "Lighting"), "lamps burn from dusk until dawn"),
    ((LAMPS, "Duties", "Lighting"), "the keeper trims each wick weekly"),
    ((LAMPS, "Duties", "Breakage"), "whoever breaks glass pays its price"),
    ((LAMPS, "Duties"), "neighbours report damage within three days"),
    ((WELLS, "General rules"), "this code governs wells and springs"),
    ((WELLS, "General rules"), "water belongs to all"),
    ((WELLS, "Covers"), "every well has a lid of oak"),
    ((WELLS, "Covers"), "an open shaft is fenced"),
    ((WELLS, "Covers", "Duties"), "the owner inspects lids each spring"),
    ((WELLS,), "the mayor may close a foul well"),
)
QUESTIONS = (
    ("q0", "who pays for a broken lamp", "train", (4, 5)),
    ("d0", "when is the street lit", "dev", (2,)),
    ("q1", "must i put a lid on my well", "train", (8,)),
    ("q2", "which things does the law cover", "train", (0, 6)),
    ("t0", "who owns the water", "test", (7,)),
    ("q3", "my child fell down an open shaft", "train", (9, 8)),
    ("d1", "the water smells bad", "dev", (11, 7)),
)


@pytest.fixture(autouse=True)
def _two_threads() -> Iterator[None]:
    """Run each test on two threads, where sums and draws could depend on which comes first."""
    threads = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(threads)


@pytest.fixture
def village() -> Corpus:
    """Twelve articles, four training questions, two for dev, one for test."""
    articles = tuple(
        Article(f"A{row}", f"Art. {row}, {path[0]}", text, path, row) for row, (path, text) in enumerate(ARTICLES)
    )
    questions = tuple(
        Question(question_id, text, split, tuple(f"A{row}" for row in rows))
        for question_id, text, split, rows in QUESTIONS
    )
    return Corpus("village", "en", "CC0", "written for the tests", articles, questions)


@pytest.fixture
def relabelled(village: Corpus) -> Callable[..., Corpus]:
    """Return a function that gives some questions other labels: `relabelled(q0=("A1",))`."""

    def changed(**labels: tuple[str, ...]) -> Corpus:
        return replace(
            village,
            questions=tuple(
                replace(question, article_ids=labels.get(question.question_id, question.article_ids))
                for question in village.questions
            ),
        )

    return changed


@pytest.fixture
def vocabulary() -> dict[str, int]:
    """Return the number of each word of the village, 0 for the unknown one."""
    headings = {title for path, _ in ARTICLES for title in path}
    words = {
        word
        for text in (*headings, *(text for _, text in ARTICLES), *(question[1] for question in QUESTIONS))
        for word in text.lower().split()
    }
    return {"?": 0} | {word: number for number, word in enumerate(sorted(words), start=1)}


@pytest.fixture
def static_encoders(vocabulary: dict[str, int], word_level) -> Callable[..., StaticBiEncoder]:
    """Return a function that builds the static pair over a random table of 8-wide word vectors."""

    def build(*, token_dropout: float = 0.0, trained: bool = True) -> StaticBiEncoder:
        generator = torch.Generator().manual_seed(7)
        vectors = torch.randn(len(vocabulary), 8, generator=generator)
        encoder = StaticEncoder(vectors, torch.ones(len(vocabulary)), token_dropout=token_dropout)
        return StaticBiEncoder(word_level(list(vocabulary), lower=True), encoder, trained=trained, max_tokens=64)

    return build


@pytest.fixture
def text_model() -> Callable[..., TextModel]:
    """Return a function that prepares a corpus's articles and dev questions (none where `dev` is false)."""

    def prepare(encoders: StaticBiEncoder, corpus: Corpus, *, dev: bool = True) -> TextModel:
        questions: Sequence[Question] = corpus.split("dev") if dev else ()
        return TextModel(
            encoders,
            articles=encoders.article_inputs([article.text for article in corpus.articles]),
            dev_questions=encoders.question_inputs([question.text for question in questions]),
            dev_labels=corpus.label_rows(questions),
            device=torch.device("cpu"),
        )

    return prepare


@pytest.fixture
def dev_mrr() -> Callable[..., float]:
    """Return a function that works out MRR@10 of the two dev questions from (2, 8) question and article vectors."""

    def work_out(questions: torch.Tensor, articles: torch.Tensor) -> float:
        ranking = torch.argsort(questions @ articles.T, dim=1, descending=True).tolist()
        places = [ranking[0].index(2), min(ranking[1].index(row) for row in (7, 11))]
        return sum(1 / (place + 1) for place in places if place < 10) / 2

    return work_out


@pytest.fixture
def trained() -> Callable[..., tuple[dict, dict[str, torch.Tensor], list]]:
    """Return a function that trains a stage in a folder and returns (best record, weights, log)."""

    def train(stage: Stage, folder: Path, *, seed: int = 0, epochs: int = 3, **options):
        context = TrainingContext(seed, torch.device("cpu"), folder, MetricsLog(folder / "metrics.jsonl"), **options)
        best = train_stage(stage, Schedule(epochs, warmup=0.0, weight_decay=0.0, patience=0), context)
        return best, {name: tensor.clone() for name, tensor in stage.weights().items()}, context.log.records()

    return train
