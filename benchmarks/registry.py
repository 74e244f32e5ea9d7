"""The measures of `make bench`, in the order of the table: name -> module with `measure(settings) -> list[Row]`."""

from __future__ import annotations

MEASURES = {
    "loading": "benchmarks.measures.loading",
    "cold_start": "benchmarks.measures.cold_start",
    "query": "benchmarks.measures.query",
}
