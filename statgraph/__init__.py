"""Find the articles of law that answer a question.

    from statgraph import fetch, train

    run = train(fetch("sample"), fast=True)
    print(run.evaluate("test").metrics)

docs/python.md is the guide. Names are loaded when they are first used, so that importing the package stays quick.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from statgraph.api import Evaluation, Run, build_graph, evaluate, fetch, train, update
    from statgraph.corpus.draft import Reading
    from statgraph.corpus.importing import import_corpus
    from statgraph.corpus.query import Query
    from statgraph.corpus.records import Corpus
    from statgraph.corpus.store import read_corpus, write_corpus
    from statgraph.errors import StatgraphError
    from statgraph.search.hits import Hit
    from statgraph.search.retriever import Retriever

__version__ = "0.1.0"
__all__ = [
    "Corpus",
    "Evaluation",
    "Hit",
    "Query",
    "Reading",
    "Retriever",
    "Run",
    "StatgraphError",
    "__version__",
    "build_graph",
    "evaluate",
    "fetch",
    "import_corpus",
    "read_corpus",
    "train",
    "update",
    "write_corpus",
]
_HOMES = {
    "Corpus": "corpus.records",
    "Hit": "search.hits",
    "Query": "corpus.query",
    "Reading": "corpus.draft",
    "Retriever": "search.retriever",
    "StatgraphError": "errors",
    "import_corpus": "corpus.importing",
    "read_corpus": "corpus.store",
    "write_corpus": "corpus.store",
}  # the others are in api


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'statgraph' has no attribute '{name}'")
    return getattr(importlib.import_module(f"statgraph.{_HOMES.get(name, 'api')}"), name)


def __dir__() -> list[str]:
    return __all__
