"""The graph of a synthetic law of one size, in a process of its own: its peak memory is that of this size.

python -m benchmarks.graph_growth ARTICLES ROUNDS
"""

from __future__ import annotations

import json
import sys
import time

import numpy as np

from statgraph.graph.build import heterograph_of
from statgraph.graph.relations import (
    ARTICLE,
    CITES,
    CONTAINS_ARTICLE,
    CONTAINS_HEADING,
    HEADING,
    QUESTION,
    Edges,
    Relation,
)
from statgraph.memory import peak_memory_mib

CHILDREN = 10  # of each heading: headings, or articles under the lowest ones
ARTICLES_A_QUESTION = 10  # cited by each; 12 in legi-fr


def synthetic_law(n_articles: int, *, seed: int = 0) -> tuple[dict[Relation, Edges], dict[str, int]]:
    """Return the edges and the numbers of nodes of a law of ten codes (20, 30, ...), as `heterograph_of` takes them,
    with a question for each ten articles, which cites ten of them at random.

    10**7 articles are under six levels of headings, and each power of ten below has one level fewer; 3 * 10**7 are
    three such laws.

    Raises:
        ValueError: if the number of articles is not 1 to 9 times a power of ten from 100.
    """
    levels, laws = len(str(n_articles)) - 2, int(str(n_articles)[0])
    if levels < 1 or n_articles != laws * CHILDREN ** (levels + 1):
        raise ValueError(f"{n_articles} articles: not 1 to 9 times a power of ten; give 100, 200, 1000, 30000, ...")
    sizes = [laws * CHILDREN**level for level in range(1, levels + 1)]
    starts = np.cumsum([0, *sizes])  # first heading of each level
    below = np.arange(sizes[0], starts[-1])
    parents = [start + np.arange(size) // CHILDREN for start, size in zip(starts, sizes[1:], strict=False)]
    n_questions = n_articles // CHILDREN
    citing = np.repeat(np.arange(n_questions), ARTICLES_A_QUESTION)
    edges = {
        CONTAINS_ARTICLE: (starts[-2] + np.arange(n_articles) // CHILDREN, np.arange(n_articles)),
        CONTAINS_HEADING: (np.concatenate([np.empty(0, dtype=np.int64), *parents]), below),
        CITES: (citing, np.random.default_rng(seed).integers(n_articles, size=len(citing))),
    }
    return edges, {ARTICLE: n_articles, HEADING: int(starts[-1]), QUESTION: n_questions}


def measured(n_articles: int, *, rounds: int) -> dict:
    """Return the numbers of articles, nodes and edges (both directions), the seconds of each round from arrays to a
    graph with the index that samplers need, and the peak memory before (the arrays are there, the libraries loaded) and
    after."""
    heterograph_of(*synthetic_law(100)).formats("csc")  # loads the libraries
    law = synthetic_law(n_articles)
    before_mib, seconds = peak_memory_mib(), []
    for _ in range(rounds):
        graph = None  # two at once would count twice
        start = time.perf_counter()
        graph = heterograph_of(*law).formats("csc")
        seconds.append(time.perf_counter() - start)
    return {
        "articles": n_articles,
        "nodes": graph.num_nodes(),
        "edges": graph.num_edges(),
        "seconds": seconds,
        "before_mib": before_mib,
        "peak_mib": peak_memory_mib(),
    }


if __name__ == "__main__":
    print(json.dumps(measured(int(sys.argv[1]), rounds=int(sys.argv[2]))))
