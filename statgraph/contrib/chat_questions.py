"""Questions as people ask them: a chat endpoint reads an article and writes a short one and a letter; what the
untrained ensemble finds the article by is kept."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from http import HTTPStatus
from pathlib import Path
from typing import Any

import numpy as np

from statgraph._version import __version__
from statgraph.artifacts import key_of, partial_beside
from statgraph.augmentation.store import PartialFile, SyntheticQuestion, write_synthetic
from statgraph.augmentation.synthetic import kept_by_round_trip
from statgraph.chat import ChatEndpoint
from statgraph.encoders.article_text import article_text
from statgraph.errors import ChatError, CorpusError, option
from statgraph.law.normal_text import comparable_question
from statgraph.law.records import Article, Corpus, Question
from statgraph.progress import Progress, Step, resumable, silent
from statgraph.retrieval.search.retriever import Retriever
from statgraph.systems.pipeline import untrained_run

STEP = "questions by chat"
BATCH, AT_ONCE = 8, 4  # articles between two writes to disk, and requests at the same time
TRIES, LONGEST_WAIT_S = 6, 60
EXAMPLES, EXAMPLE_CHARACTERS, ARTICLE_CHARACTERS = 4, 700, 4000
KINDS = ("short", "long")
_ANSWER_TOKENS = 300  # a sentence and 120 words, in a language of many tokens
_CHARACTERS_PER_TOKEN = 3.5
_TASK = """You write questions that people without legal training put to a search engine over statutes. You are given
an article. Imagine a person whose problem it settles, and answer with one JSON object and nothing else:
{"short": "...", "long": "..."}
"short" is that person's question in one everyday sentence. "long" is an e-mail of about 120 words: what happened, with
details of no importance to the law, and what the person wants to know. Write both in the language of the article, as
people speak: no numbers of articles, no names of statutes, and everyday words in place of the article's legal terms.
The article must answer both. If nobody would ask what it answers (a repeal, a list of definitions), answer {}."""


@dataclass(frozen=True)
class ChatOptions:
    """What decides the questions beside the endpoint.

    Attributes:
        max_tokens: of questions and answers together, those of an interrupted generation included, after which to stop.
        round_trip: a question is kept if its article is among the best so many; 0 keeps all.
        seed: of the order of the articles and the choice of examples.
        limit: ask about the first so many articles only; None for all.
        device: of the retriever of the round trip.
    """

    max_tokens: int = 1_000_000
    round_trip: int = 20
    seed: int = 0
    limit: int | None = None
    device: str = "auto"


@dataclass(frozen=True)
class ChatWritten:
    """What went into a file: `answers` of the endpoint, of which some `declined` or were `malformed`; their `tokens`;
    the questions `made` and `kept`, and the `articles` of these; whether the cap ended it (`is_capped`)."""

    answers: int
    declined: int
    malformed: int
    tokens: int
    made: int
    kept: int
    articles: int
    is_capped: bool


def write_chat_questions(
    corpus: Corpus,
    out: Path,
    endpoint: ChatEndpoint,
    options: ChatOptions = ChatOptions(),
    *,
    run: Path | None = None,
    progress: Progress = silent,
    announce: Callable[[str], None] = lambda line: None,
) -> ChatWritten:
    """Write a file of synthetic questions, for `augment.file`; called again after an interruption, it resumes.

    Articles are asked about in a random order, so that a generation that the cap ends speaks of all parts of the law;
    its partial file stays. The round trip is by `run`, or by the untrained ensemble.

    Raises:
        CorpusError: if the file exists.
        UsageError: if the partial file beside it is of other settings or damaged.
        ChatError: if the endpoint cannot be reached, refuses, is too busy, or answers with something else throughout.
    """
    if out.exists():
        raise CorpusError(f"{out}: already exists; choose another {option('out')}, or delete it first")
    rng = np.random.default_rng(options.seed)
    articles = [corpus.articles[row] for row in rng.permutation(len(corpus.articles[: options.limit]))]
    train = corpus.split("train")
    chosen = rng.permutation(len(train))[:EXAMPLES]
    examples = sorted((train[place].text[:EXAMPLE_CHARACTERS] for place in chosen), key=len)  # shortest first
    about: dict[str, Any] = {
        "corpus": {"name": corpus.name, "content_hash": corpus.content_hash},
        "generator": f"chat:{endpoint.model}",
        "seed": options.seed,
        "limit": options.limit,
        "prompt": key_of([_TASK, examples]),
    }
    partial = partial_beside(out)
    with resumable("again", partial.is_file):
        answers, is_capped = _answers(
            articles, examples, endpoint, options, PartialFile(partial, about), progress, announce
        )
        questions = _questions(answers, about["generator"])
        kept = questions
        if options.round_trip:
            announce(f"Keeping the questions whose article is among the best {options.round_trip}")
            folder = run or untrained_run(corpus, progress, announce)
            retriever, rows = Retriever.load(folder, device=options.device), corpus.article_rows
            rank = lambda texts, k: [ranked.rows for ranked in retriever.rank(texts, k)]  # noqa: E731
            kept = kept_by_round_trip(questions, rank, k=options.round_trip, article_rows=rows, progress=progress)
        write_synthetic(out, kept, {**about, "round_trip": options.round_trip, "statgraph": __version__})
    if not is_capped:
        partial.unlink(missing_ok=True)
    statuses = [answer["status"] for answer in answers]
    return ChatWritten(
        len(answers),
        statuses.count("declined"),
        statuses.count("malformed"),
        sum(answer["tokens"] for answer in answers),
        len(questions),
        len(kept),
        len({article_id for question in kept for article_id in question.article_ids}),
        is_capped,
    )


def with_training_questions(corpus: Corpus, questions: Sequence[SyntheticQuestion]) -> Corpus:
    """Return the corpus with these as further training questions, `chat-1` and so on; one that it has already, in
    whatever split, is left out."""
    known = {comparable_question(question.text) for question in corpus.questions}
    new = [question for question in questions if comparable_question(question.text) not in known]
    added = (
        Question(f"chat-{number}", question.text, "train", question.article_ids, {"generator": question.generator})
        for number, question in enumerate(new, start=1)
    )
    return replace(corpus, questions=(*corpus.questions, *added))


def _prompt(article: Article, examples: Sequence[str]) -> str:
    shown = "\n".join(f"- {example}" for example in examples)
    text = article_text(article, heading_path=True)[:ARTICLE_CHARACTERS]
    return (f"People have asked these questions here; ask in their manner:\n{shown}\n\n" if shown else "") + text


def _answers(
    articles: Sequence[Article],
    examples: Sequence[str],
    endpoint: ChatEndpoint,
    options: ChatOptions,
    partial: PartialFile,
    progress: Progress,
    announce: Callable[[str], None],
) -> tuple[list[dict[str, Any]], bool]:
    """Return the answers about the articles, those on disk first, and whether the cap has left some out."""
    answers = [answer for batch in partial.batches for answer in batch["answers"]]
    asked = {answer["article_id"] for answer in answers}
    left = [(article, _prompt(article, examples)) for article in articles if article.article_id not in asked]
    expected = [round((len(_TASK) + len(prompt)) / _CHARACTERS_PER_TOKEN) + _ANSWER_TOKENS for _, prompt in left]
    spent = sum(answer["tokens"] for answer in answers)
    before = f"; {len(answers):,} answers are there, of {spent:,} tokens" if answers else ""
    announce(
        f"{len(left):,} calls to {endpoint.url}, about {sum(expected):,} tokens; "
        f"stops at {options.max_tokens:,} (--max-tokens){before}"
    )
    for start in range(0, len(left), BATCH):
        batch = left[start : start + BATCH]
        if spent + sum(expected[start : start + BATCH]) > options.max_tokens:
            return answers, True
        progress(Step(STEP, len(answers), len(articles)))
        with ThreadPoolExecutor(AT_ONCE) as pool:
            batch_answers = list(pool.map(lambda each: _answer_about(endpoint, *each), batch))
        partial.append({"answers": batch_answers})
        answers += batch_answers
        spent += sum(answer["tokens"] for answer in batch_answers)
        if len(answers) >= 2 * BATCH and all(answer["status"] == "malformed" for answer in answers):
            raise ChatError(
                f"{endpoint.url}: none of {len(answers)} answers was the JSON that was asked for; "
                f"name another {option('model')}"
            )
    progress(Step(STEP, len(articles), len(articles)))
    return answers, False


def _answer_about(endpoint: ChatEndpoint, article: Article, prompt: str) -> dict[str, Any]:
    """Return the answer about an article, its status (`ok`, `declined`, `malformed`) and its tokens.

    An endpoint that is busy (status 408, 429, 500 and above) is asked again, after the time that it names or twice as
    long each time.
    """
    for attempt in range(1, TRIES + 1):
        try:
            answer = endpoint.answer(_TASK, prompt)
            break
        except ChatError as error:
            is_busy = error.status is not None and (error.status in (408, 429) or error.status >= 500)
            if is_busy and attempt < TRIES:
                time.sleep(min(error.retry_after_s or 2 ** (attempt - 1), LONGEST_WAIT_S))
            elif error.status == HTTPStatus.OK:
                return {"article_id": article.article_id, "status": "malformed", "tokens": _tokens(prompt)}
            else:
                raise ChatError(f"{endpoint.url}: {_reason(error, endpoint)}", error.status) from None
    said = _parsed(answer.text)
    status = "malformed" if said is None else "ok" if said else "declined"
    tokens = answer.tokens if answer.tokens is not None else _tokens(prompt + answer.text)
    return {"article_id": article.article_id, "status": status, "tokens": tokens, **(said or {})}


def _tokens(text: str) -> int:
    return round((len(_TASK) + len(text)) / _CHARACTERS_PER_TOKEN)


def _reason(error: ChatError, endpoint: ChatEndpoint) -> str:
    if error.status in (401, 403):
        return f"refuses the key ({error}); put one into {endpoint.key_variables[0]}"
    if error.status == 404:
        return (
            f"knows no such address or model ({error}); check {option('url')}, without /chat/completions, "
            f"and {option('model')}"
        )
    if error.status is not None:
        return f"did not answer in {TRIES} attempts ({error})" if error.status >= 429 else f"refuses ({error})"
    return f"cannot be reached ({error}); start it, or name another {option('url')}"


def _parsed(text: str) -> Mapping[str, str] | None:
    """Return both questions in an answer, {} if it declines, None if it is something else."""
    text = text.rpartition("</think>")[2]
    try:
        said = json.loads(text[text.index("{") : text.rindex("}") + 1])
        questions = {kind: " ".join(said[kind].split()) for kind in KINDS if said}
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
    return questions if all(questions.values()) else None


def _questions(answers: Sequence[Mapping[str, Any]], generator: str) -> list[SyntheticQuestion]:
    """Return the questions of the answers; equal ones of several articles are one."""
    ids: dict[str, dict[str, None]] = {}
    for answer in answers:
        for kind in KINDS:
            if kind in answer:
                ids.setdefault(answer[kind], {})[answer["article_id"]] = None
    return [SyntheticQuestion(text, tuple(article_ids), generator) for text, article_ids in ids.items()]
