"""The measures of `make bench`, in the order of the table: name -> module with `measure(settings) -> list[Row]`."""

from __future__ import annotations

MEASURES = {
    "attention": "benchmarks.measures.attention",
    "loading": "benchmarks.measures.loading",
}
