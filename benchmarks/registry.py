"""The measures of `make bench`, in the order of the table: name -> module with `measure(settings) -> list[Row]`."""

from __future__ import annotations

MEASURES = {
    "loading": "benchmarks.measures.loading",
    "embedding": "benchmarks.measures.embedding",
    "index_kinds": "benchmarks.measures.index_kinds",
}
