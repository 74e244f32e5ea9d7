"""How deep in the table of contents the articles stand."""

from __future__ import annotations

from collections import Counter

from statgraph.corpus.records import Corpus
from statgraph.plotting.bars import upright_bars
from statgraph.plotting.drawing import Drawing


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
        title="How deep the articles stand",
        description=(
            f"Articles by the number of headings above them, from the code down to their own section. "
            f"{commonest} is the commonest number, {depths[-1]} the greatest."
        ),
        figure=figure,
        columns=("headings above", "articles"),
        rows=tuple((depth, counts[depth]) for depth in depths),
        hovers=hovers,
    )
