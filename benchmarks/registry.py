"""The measures of `make bench`, in the order of the table: name -> module of `benchmarks.measures`, and its function
that takes `Settings` and returns rows."""

from __future__ import annotations

import importlib
from collections.abc import Callable

MEASURES = {
    "importing": "importing:measure",
    "graph_building": "graph_building:measure",
    "attention": "attention:measure",
    "embedding": "embedding:measure",
    "on_gpu": "on_gpu:measure",
    "query": "query:measure",
    "query_static": "query:measure",
    "ensemble_query": "ensemble_query:measure",
    "callers": "callers:measure",
    "index_kinds": "indexes:measure_kinds",
    "index_largest": "indexes:measure_largest",
    "engines": "engines:measure",
    "engines_million": "engines:measure_million",
    "serving": "serving:measure",
    "updating": "updating:measure",
    "updating_static": "updating:measure",
    "step_memory": "step_memory:measure",
    "ensemble_training": "ensemble_training:measure",
    "ensemble_training_long": "ensemble_training:measure",
    "cold_start": "cold_start:measure",
    "known_tools": "known_tools:measure",
}

# These measure a trained run, which the present commit must have trained.
OF_A_RUN = (
    "query", "query_static", "ensemble_query", "callers", "serving", "updating", "updating_static", "cold_start"
)  # fmt: skip

# Run only when named: the first two take ten minutes or more and gigabytes of disk, the last an hour and other tools.
# The others want a run on the static encoder or of an ensemble, or train one, of short questions and of long ones.
WHEN_NAMED = (
    "index_largest", "engines_million", "query_static", "ensemble_query", "updating_static", "ensemble_training",
    "ensemble_training_long", "known_tools"
)  # fmt: skip


def measure_named(name: str) -> Callable:
    """Return the function of a measure."""
    module, _, function = MEASURES[name].partition(":")
    return getattr(importlib.import_module(f"benchmarks.measures.{module}"), function)
