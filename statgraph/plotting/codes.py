"""How large the codes are."""

from __future__ import annotations

from collections import Counter

from statgraph.corpus.records import Corpus
from statgraph.plotting.bars import lying_bars
from statgraph.plotting.drawing import HUES, REST, Drawing

_MOST_BARS = 30


def codes_drawing(corpus: Corpus) -> Drawing:
    """Return the number of articles of each code, the largest first; those past the thirtieth in one bar."""
    counts = Counter(article.code for article in corpus.articles).most_common()
    shown, rest = (counts, []) if len(counts) <= _MOST_BARS else (counts[: _MOST_BARS - 1], counts[_MOST_BARS - 1 :])
    rows = [*shown]
    if rest:
        rows.append((f"{len(rest):,} other codes", sum(count for _, count in rest)))
    colours = [HUES[0]] * len(shown) + [REST] * bool(rest)
    figure, hovers = lying_bars(*zip(*rows, strict=True), x_name="articles", colours=colours)
    return Drawing(
        name="codes",
        title="How large the codes are",
        description=(
            f"Articles of each code: {len(corpus.articles):,} in {len(counts):,} code{'s' * (len(counts) > 1)}, "
            f"{100 * counts[0][1] / len(corpus.articles):.0f} % of them in {counts[0][0]}."
        ),
        figure=figure,
        columns=("code", "articles"),
        rows=tuple(rows),
        hovers=hovers,
    )
