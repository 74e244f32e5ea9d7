"""How long the articles are."""

from __future__ import annotations

import numpy as np

from statgraph.corpus.records import Corpus
from statgraph.plotting.bars import upright_bars
from statgraph.plotting.drawing import Drawing
from statgraph.plotting.intervals import doubling_counts


def lengths_drawing(corpus: Corpus) -> Drawing:
    """Return the number of articles by the number of words between spaces in their text."""
    words = np.array([len(article.text.split()) for article in corpus.articles])
    names, counts = doubling_counts(words)
    figure, hovers = upright_bars(names, {"articles": counts}, x_name="words", y_name="articles")
    return Drawing(
        name="lengths",
        title="How long the articles are",
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
