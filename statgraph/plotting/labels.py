"""How many articles answer a question."""

from __future__ import annotations

from collections import Counter

import numpy as np

from statgraph.corpus.records import SPLITS, Corpus
from statgraph.plotting.bars import upright_bars
from statgraph.plotting.drawing import Drawing

_SINGLE = 10  # each number up to this has a bar of its own
_WIDER = ((11, 20), (21, 50), (51, 100))


def labels_drawing(corpus: Corpus) -> Drawing:
    """Return the number of questions by the number of articles that answer them, by split."""
    intervals = [(number, number) for number in range(1, _SINGLE + 1)] + [*_WIDER]
    labels = Counter((question.split, len(question.article_ids)) for question in corpus.questions)
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
    per_question = [len(question.article_ids) for question in corpus.questions]
    return Drawing(
        name="labels",
        title="How many articles answer a question",
        description=(
            f"Questions by the number of articles that answer them, by split. Half have {np.median(per_question):g} or "
            f"fewer, the mean is {np.mean(per_question):.1f}, the most {most:,}."
        ),
        figure=figure,
        columns=("articles", *splits),
        rows=tuple((name, *(series[split][place] for split in splits)) for place, name in enumerate(names)),
        hovers=hovers,
    )
