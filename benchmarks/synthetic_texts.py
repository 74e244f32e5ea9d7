"""A corpus of any size: the tree of `synthetic_law` with texts of a Zipfian vocabulary that cite each other."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.synthetic_law import NEARBY, synthetic_law
from statgraph.corpus.records import Article, Corpus, Question

# Of French law: a word of rank r in 1 / (r + shift), texts of 83 words in the median, 1.7 citations an article.
_VOCABULARY, _SHIFT = 200_000, 2.7
_WORDS, _SPREAD, _FEWEST, _MOST = 83, 0.84, 8, 2_000
_CITATIONS = 1.7
_WORDS_OF_HEADING, _RARER_THAN = 4, 50
WORDS_OF_QUESTION = 9
_CITING = ", see article"
_BLOCK = 10_000
_SYLLABLES = [a + b for a in "bcdfghjklmnprstvwxyz" for b in "aeiou"]


def synthetic_corpus(n_articles: int, *, n_questions: int = 0, seed: int = 0) -> Corpus:
    """Return a corpus with headings, texts and citations, and training questions: nine words of the article that
    answers each.

    Raises:
        ValueError: if the number of articles is no power of ten from 100.
    """
    rng = np.random.default_rng(seed)
    vocabulary = np.array([_word(rank) for rank in range(_VOCABULARY)], dtype=object)
    paths = _paths(synthetic_law(n_articles).heading_parents, vocabulary, rng)
    articles = tuple(_articles(n_articles, paths, vocabulary, rng))
    answers = [articles[row] for row in rng.integers(n_articles, size=n_questions)]
    questions = tuple(
        Question(f"q{place}", _asked(article, rng), "train", (article.article_id,))
        for place, article in enumerate(answers)
    )
    return Corpus(f"synthetic-{n_articles}", "en", "none", "benchmarks", articles, questions)


def _articles(n_articles: int, paths: list[tuple[str, ...]], vocabulary: np.ndarray, rng) -> Iterator[Article]:
    """Yield the articles; `paths` are those of all headings, whose last hold ten articles each."""
    ranks = np.cumsum(1 / (np.arange(_VOCABULARY) + 1 + _SHIFT))
    of_code = n_articles // 10
    lowest = paths[-of_code:]
    for start in range(0, n_articles, _BLOCK):
        n_rows = min(_BLOCK, n_articles - start)
        lengths = np.clip(rng.lognormal(np.log(_WORDS), _SPREAD, n_rows), _FEWEST, _MOST).astype(np.int64)
        words = vocabulary[np.searchsorted(ranks, ranks[-1] * rng.random(lengths.sum()))].tolist()
        ends = np.cumsum(lengths)
        for place, (length, end, cited) in enumerate(
            zip(lengths.tolist(), ends.tolist(), rng.poisson(_CITATIONS, n_rows).tolist(), strict=True)
        ):
            row = start + place
            path, number = lowest[row // 10], row % of_code
            near = rng.integers(max(0, number - NEARBY), min(of_code, number + NEARBY), size=cited)
            text = " ".join(words[end - length : end]) + "".join(f"{_CITING} {1 + other}" for other in near)
            yield Article(f"a{row}", f"Art. {1 + number}, {path[0]}", f"{text}.", path, number)


def _paths(parents: np.ndarray, vocabulary: np.ndarray, rng) -> list[tuple[str, ...]]:
    """Return the path of each heading, (headings,), from the row of the one above; -1 is none."""
    titles = vocabulary[rng.integers(_RARER_THAN, _VOCABULARY // 10, size=(len(parents), _WORDS_OF_HEADING))]
    paths: list[tuple[str, ...]] = []
    for row, (parent, words) in enumerate(zip(parents.tolist(), titles, strict=True)):
        title = f"{' '.join(words)} {row}"
        paths.append((*paths[parent], title) if parent >= 0 else (f"Code {title}",))
    return paths


def _asked(article: Article, rng) -> str:
    words = article.text.rstrip(".").partition(_CITING)[0].split()
    return " ".join(rng.choice(words, min(WORDS_OF_QUESTION, len(words)), replace=False)) + "?"


def _word(rank: int) -> str:
    """Return the word of a rank, another for each: its digits to the base of the number of syllables."""
    word = _SYLLABLES[rank % len(_SYLLABLES)]
    while rank >= len(_SYLLABLES):
        rank = rank // len(_SYLLABLES) - 1
        word = _SYLLABLES[rank % len(_SYLLABLES)] + word
    return word
