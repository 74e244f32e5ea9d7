"""Concurrency: threads, forks and callers of one retriever at once get the answers that one after the other gets."""

from __future__ import annotations

import asyncio
import itertools
import json
import random
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict

from tests.town import town
from tests.trials.campaign import Outcome, tried
from tests.trials.child import forked
from tests.trials.material import Material

THREADS = 32
_AT_ONCE = 64  # questions of a case
_SYSTEMS = ("bm25", "dsr", "qabisar", "ensemble")
_WAYS = ("threads", "fork", "async")


def concurrency(material: Material, *, cases: range, seed: int, only: tuple[str, ...] = ()) -> Outcome:
    """Return the outcome of so many cases: a system, a way of asking at once, and questions in random order."""
    from statgraph import Retriever

    law = town()
    texts = [*(question.text for question in law.questions), *(article.title for article in law.articles), "", "???"]
    kinds = list(itertools.product(only or _SYSTEMS, _WAYS))
    loaded: dict[str, tuple[Retriever, dict[str, str]]] = {}

    def case(rng: random.Random, number: int) -> Iterator[str]:
        system, way = kinds[number % len(kinds)]
        if system not in loaded:
            retriever = Retriever.load(material.run(system), device="cpu")
            loaded[system] = retriever, {text: _answer(retriever, text) for text in texts}
        retriever, expected = loaded[system]
        asked = rng.choices(texts, k=_AT_ONCE)
        if way == "fork":
            child = forked(lambda: _differing(asked, [_answer(retriever, text) for text in asked], expected))
            different = child.code
        else:
            answered = (_by_threads if way == "threads" else _by_callers)(retriever, asked)
            different = _differing(asked, answered, expected)
        if different != 0:
            yield f"{system}, {way}: {different} of {_AT_ONCE} answers differ from those one after the other"

    return tried("concurrency", case, cases=cases, seed=seed, figures={"answers": len(cases) * _AT_ONCE})


def _answer(retriever, text: str) -> str:
    hits = retriever.search(text, 5) if text.strip() else []
    return json.dumps([asdict(hit) for hit in hits], default=str)


def _by_threads(retriever, asked: Sequence[str]) -> list[str]:
    with ThreadPoolExecutor(THREADS) as threads:
        return list(threads.map(lambda text: _answer(retriever, text), asked))


def _by_callers(retriever, asked: Sequence[str]) -> list[str]:
    async def ask() -> list[str]:
        return await asyncio.gather(*(asyncio.to_thread(_answer, retriever, text) for text in asked))

    return asyncio.run(ask())


def _differing(asked: Sequence[str], answered: Sequence[str], expected: dict[str, str]) -> int:
    return sum(answer != expected[text] for text, answer in zip(asked, answered, strict=True))
