"""The measures of `make bench`, in the order of the table: name -> module with `measure(settings) -> list[Row]`."""

from __future__ import annotations

MEASURES = {
    "importing": "benchmarks.measures.importing",
    "loading": "benchmarks.measures.loading",
    "graph_building": "benchmarks.measures.graph_building",
    "attention": "benchmarks.measures.attention",
    "sampling": "benchmarks.measures.sampling",
    "stage2_epoch": "benchmarks.measures.stage2_epoch",
    "embedding": "benchmarks.measures.embedding",
    "on_gpu": "benchmarks.measures.on_gpu",
    "query": "benchmarks.measures.query",
    "query_static": "benchmarks.measures.query",
    "ensemble_query": "benchmarks.measures.ensemble_query",
    "callers": "benchmarks.measures.callers",
    "index_kinds": "benchmarks.measures.index_kinds",
    "index_largest": "benchmarks.measures.index_largest",
    "engines": "benchmarks.measures.engines",
    "engines_million": "benchmarks.measures.engines_million",
    "serving": "benchmarks.measures.serving",
    "updating": "benchmarks.measures.updating",
    "updating_static": "benchmarks.measures.updating",
    "step_memory": "benchmarks.measures.step_memory",
    "ensemble_training": "benchmarks.measures.ensemble_training",
    "ensemble_training_long": "benchmarks.measures.ensemble_training",
    "cold_start": "benchmarks.measures.cold_start",
    "known_tools": "benchmarks.measures.known_tools",
}

# These measure a trained run, which the present commit must have trained.
OF_A_RUN = ("loading", "query", "ensemble_query", "callers", "serving", "updating", "updating_static", "cold_start")

# Run only when named: the first two take ten minutes or more and gigabytes of disk, the last an hour and other tools.
# The others want a run on the static encoder or of an ensemble, or train one, of short questions and of long ones.
WHEN_NAMED = (
    "index_largest", "engines_million", "query_static", "ensemble_query", "updating_static", "ensemble_training",
    "ensemble_training_long", "known_tools"
)  # fmt: skip
