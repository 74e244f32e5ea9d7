"""The graph of a synthetic law of one size, in a process of its own: its peak memory is that of this size.

python -m benchmarks.graph_growth ARTICLES ROUNDS [nearby]
"""

from __future__ import annotations

import json
import subprocess
import sys
import time

from benchmarks.synthetic_law import SyntheticLaw, synthetic_law
from statgraph.graph.build import heterograph_of
from statgraph.memory import peak_memory_mib


def growth_of(n_articles: int, *, rounds: int, nearby: bool = False) -> dict:
    """Return what `measured` does, from a process of its own."""
    command = [sys.executable, "-m", "benchmarks.graph_growth", str(n_articles), str(rounds), *["nearby"] * nearby]
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)


def measured(n_articles: int, *, rounds: int, nearby: bool) -> dict:
    """Return the number of articles, nodes and edges (both directions), the seconds of each round from arrays to a
    graph that can be sampled from, of these the seconds of `heterograph_of`, and the peak memory before (the arrays are
    there, the libraries loaded) and after. For `nearby` see `synthetic_law`.
    """
    timed_graph(synthetic_law(100))  # loads the libraries
    law = synthetic_law(n_articles, nearby=nearby)
    before_mib = peak_memory_mib()
    times = []
    for _ in range(rounds):
        made = None  # two at once would count twice
        made, *of_round = timed_graph(law)
        times.append(of_round)
    building_s, indexing_s = zip(*times, strict=True)
    return {
        "articles": n_articles,
        "nodes": made.num_nodes(),
        "edges": made.num_edges(),
        "seconds": [building + indexing for building, indexing in times],
        "building_s": building_s,
        "indexing_s": indexing_s,
        "before_mib": before_mib,
        "peak_mib": peak_memory_mib(),
    }


def timed_graph(law: SyntheticLaw) -> tuple[object, float, float]:
    """Return the heterograph with the index that samplers need, and the seconds of the one and of the other."""
    start = time.perf_counter()
    graph = heterograph_of(law.edges, law.node_counts)
    built = time.perf_counter()
    graph = graph.formats("csc")
    return graph, built - start, time.perf_counter() - built


if __name__ == "__main__":
    result = measured(int(sys.argv[1]), rounds=int(sys.argv[2]), nearby=sys.argv[3:] == ["nearby"])
    print(json.dumps(result))
