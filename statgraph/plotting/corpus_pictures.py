"""Pictures of a corpus: the size of its codes, the depth and length of its articles, its labels."""

from __future__ import annotations

from collections import Counter

import numpy as np

from statgraph.corpus.records import SPLITS, Corpus
from statgraph.plotting.bars import doubling_counts, lying_bars, upright_bars
from statgraph.plotting.drawing import HUES, REST, Drawing

_MOST_BARS = 30
_SINGLE = 10  # each number up to this has a bar of its own
_WIDER = ((11, 20), (21, 50), (51, 100))


def corpus_drawings(corpus: Corpus) -> list[Drawing]:
    """Return what a corpus is like: codes, depths, lengths, and labels where it has questions."""
    drawings = [codes_drawing(corpus), depths_drawing(corpus), lengths_drawing(corpus)]
    return [*drawings, labels_drawing(corpus)] if any(map(corpus.split, SPLITS)) else drawings


def codes_drawing(corpus: Corpus) -> Drawing:
    """Return the number of articles of each code, the largest first; those past the thirtieth in one bar."""
    counts = Counter(article.code for article in corpus.articles).most_common()
    shown, rest = (counts, []) if len(counts) <= _MOST_BARS else (counts[: _MOST_BARS - 1], counts[_MOST_BARS - 1 :])
    rows = [*shown]
    if rest:
        rows.append((f"{len(rest):,} other codes", sum(count for _, count in rest)))
    kinds = [*["a code"] * len(shown), "several codes"] if rest else ()
    colours = {"a code": HUES[0], "several codes": REST}
    figure, hovers = lying_bars(*zip(*rows, strict=True), x_name="articles", kinds=kinds, colours=colours)
    return Drawing(
        name="codes",
        title="Articles by code",
        description=(
            f"Articles of each code: {len(corpus.articles):,} in {len(counts):,} code{'s' * (len(counts) > 1)}, "
            f"{100 * counts[0][1] / len(corpus.articles):.0f} % of them in {counts[0][0]}."
        ),
        figure=figure,
        columns=("code", "articles"),
        rows=tuple(rows),
        hovers=hovers,
    )


def depths_drawing(corpus: Corpus) -> Drawing:
    """Return the number of articles by the number of headings above them, the code counted."""
    counts = Counter(len(article.path) for article in corpus.articles)
    depths = list(range(min(counts), max(counts) + 1))
    figure, hovers = upright_bars(
        [str(depth) for depth in depths],
        {"articles": [counts[depth] for depth in depths]},
        x_name="headings above the article",
        y_name="articles",
    )
    commonest = max(depths, key=lambda depth: counts[depth])
    return Drawing(
        name="depths",
        title="Articles by number of headings above them",
        description=(
            f"Articles by the number of headings above them, from the code down to their own section. "
            f"{commonest} is the commonest number, {depths[-1]} the greatest."
        ),
        figure=figure,
        columns=("headings above", "articles"),
        rows=tuple((depth, counts[depth]) for depth in depths),
        hovers=hovers,
    )


def lengths_drawing(corpus: Corpus) -> Drawing:
    """Return the number of articles by the number of words between spaces in their text."""
    words = np.array([len(article.text.split()) for article in corpus.articles])
    names, counts = doubling_counts(words)
    figure, hovers = upright_bars(names, {"articles": counts}, x_name="words", y_name="articles")
    return Drawing(
        name="lengths",
        title="Articles by number of words",
        description=(
            f"Articles by the number of words in their text, in intervals that double. Half have "
            f"{np.median(words):,.0f} words or fewer, one in twenty more than {np.quantile(words, 0.95):,.0f}, "
            f"the longest {words.max():,}."
        ),
        figure=figure,
        columns=("words", "articles"),
        rows=tuple(zip(names, counts, strict=True)),
        hovers=hovers,
    )


def labels_drawing(corpus: Corpus) -> Drawing:
    """Return the number of questions of the main set by the number of articles that answer them, by split."""
    intervals = [(number, number) for number in range(1, _SINGLE + 1)] + [*_WIDER]
    questions = [question for split in SPLITS for question in corpus.split(split)]
    labels = Counter((question.split, len(question.article_ids)) for question in questions)
    most = max(number for _, number in labels)
    if most > _WIDER[-1][1]:
        intervals.append((_WIDER[-1][1] + 1, most))
    intervals = [interval for interval in intervals if interval[0] <= most]
    splits = [split for split in SPLITS if corpus.split(split)]
    series = {
        split: [sum(labels[split, number] for number in range(low, high + 1)) for low, high in intervals]
        for split in splits
    }
    names = [str(low) if low == high else f"{low}–{high}" for low, high in intervals]
    figure, hovers = upright_bars(names, series, x_name="articles that answer the question", y_name="questions")
    per_question = [len(question.article_ids) for question in questions]
    return Drawing(
        name="labels",
        title="Questions by number of articles that answer them",
        description=(
            f"Questions by the number of articles that answer them, by split. Half have {np.median(per_question):g} or "
            f"fewer, the mean is {np.mean(per_question):.1f}, the most {most:,}."
        ),
        figure=figure,
        columns=("articles", *splits),
        rows=tuple((name, *(series[split][place] for split in splits)) for place, name in enumerate(names)),
        hovers=hovers,
    )
