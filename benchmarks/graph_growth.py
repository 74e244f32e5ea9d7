"""The graph of a synthetic law of one size, in a process of its own: its peak memory is that of this size.

python -m benchmarks.graph_growth ARTICLES ROUNDS
"""

from __future__ import annotations

import json
import subprocess
import sys
import time

from benchmarks.synthetic_law import SyntheticLaw, synthetic_law
from statgraph.graph.heterograph import heterograph_of
from statgraph.systems.timing import peak_memory_mib


def growth_of(n_articles: int, *, rounds: int) -> dict:
    """Return what `measured` does, from a process of its own."""
    command = [sys.executable, "-m", "benchmarks.graph_growth", str(n_articles), str(rounds)]
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)


def measured(n_articles: int, *, rounds: int) -> dict:
    """Return the number of articles, nodes and edges (both directions), the seconds of each round from arrays to a
    graph that can be sampled from, and the peak memory before (the arrays are there, the libraries loaded) and after.
    """
    ready_graph(synthetic_law(100))  # loads the libraries
    law = synthetic_law(n_articles)
    before_mib = peak_memory_mib()
    seconds = []
    for _ in range(rounds):
        graph = None  # two at once would count twice
        start = time.perf_counter()
        graph = ready_graph(law)
        seconds.append(time.perf_counter() - start)
    return {
        "articles": n_articles,
        "nodes": graph.num_nodes(),
        "edges": graph.num_edges(),
        "seconds": seconds,
        "before_mib": before_mib,
        "peak_mib": peak_memory_mib(),
    }


def ready_graph(law: SyntheticLaw) -> object:
    """Return the heterograph with the indices that DGL would make when it samples for the first time."""
    graph = heterograph_of(law.edges, law.node_counts)
    graph.create_formats_()
    return graph


if __name__ == "__main__":
    print(json.dumps(measured(int(sys.argv[1]), rounds=int(sys.argv[2]))))
