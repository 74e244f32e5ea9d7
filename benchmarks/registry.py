"""The measures of `make bench`, in the order of the table: name -> module with `measure(settings) -> list[Row]`."""

from __future__ import annotations

MEASURES = {
    "loading": "benchmarks.measures.loading",
    "graph_building": "benchmarks.measures.graph_building",
    "attention": "benchmarks.measures.attention",
    "sampling": "benchmarks.measures.sampling",
    "negative_ranking": "benchmarks.measures.negative_ranking",
    "embedding": "benchmarks.measures.embedding",
    "query": "benchmarks.measures.query",
    "callers": "benchmarks.measures.callers",
    "index_kinds": "benchmarks.measures.index_kinds",
    "cold_start": "benchmarks.measures.cold_start",
}
