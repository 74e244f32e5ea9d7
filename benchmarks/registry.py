"""The measures of `make bench`, in the order of the table: name -> module with `measure(settings) -> list[Row]`."""

from __future__ import annotations

MEASURES = {
    "attention": "benchmarks.measures.attention",
    "sampling": "benchmarks.measures.sampling",
    "loading": "benchmarks.measures.loading",
}
