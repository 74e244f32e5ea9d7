"""Find the articles of law that answer a question.

    from statgraph import fetch, train

    run = train(fetch("sample"), fast=True)
    print(run.evaluate("test").metrics)

docs/python.md is the guide. Names are loaded when they are first used, so that importing the package stays quick.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from statgraph.registry import load

if TYPE_CHECKING:
    from statgraph.api import (
        Evaluation,
        Run,
        augment,
        build_graph,
        evaluate,
        export,
        fetch,
        rehearse,
        serve,
        train,
        update,
    )
    from statgraph.config import AugmentConfig, IndexConfig, RunConfig
    from statgraph.corpus.draft import Reading
    from statgraph.corpus.feedback import add_feedback
    from statgraph.corpus.importing import About, import_corpus, import_to_folder
    from statgraph.corpus.query import Query
    from statgraph.corpus.records import Corpus
    from statgraph.corpus.store import read_corpus, write_corpus
    from statgraph.errors import StatgraphError
    from statgraph.index.engines.contract import EngineAddress
    from statgraph.search.engine_index import write_to_engine
    from statgraph.search.explanation_lines import explanation_lines
    from statgraph.search.hits import Hit
    from statgraph.search.reindexing import quicken, reindex
    from statgraph.search.retriever import Retriever
    from statgraph.search.rewriting import Rewriter
    from statgraph.service.config import PageConfig, ServiceConfig
    from statgraph.settings import with_settings
    from statgraph.training.pretraining import pretrain
    from statgraph_tuning.bm25_grid import tuned_bm25
    from statgraph_tuning.study import tune_system

__version__ = "0.1.0"
__all__ = [
    "About",
    "AugmentConfig",
    "Corpus",
    "EngineAddress",
    "Evaluation",
    "Hit",
    "IndexConfig",
    "PageConfig",
    "Query",
    "Reading",
    "Retriever",
    "Rewriter",
    "Run",
    "RunConfig",
    "ServiceConfig",
    "StatgraphError",
    "__version__",
    "add_feedback",
    "augment",
    "build_graph",
    "evaluate",
    "explanation_lines",
    "export",
    "fetch",
    "import_corpus",
    "import_to_folder",
    "pretrain",
    "quicken",
    "read_corpus",
    "rehearse",
    "reindex",
    "serve",
    "train",
    "tune_system",
    "tuned_bm25",
    "update",
    "with_settings",
    "write_corpus",
    "write_to_engine",
]
_NAMES = {
    "config": "AugmentConfig IndexConfig RunConfig",
    "corpus.draft": "Reading",
    "corpus.feedback": "add_feedback",
    "corpus.importing": "About import_corpus import_to_folder",
    "corpus.query": "Query",
    "corpus.records": "Corpus",
    "corpus.store": "read_corpus write_corpus",
    "errors": "StatgraphError",
    "index.engines.contract": "EngineAddress",
    "search.engine_index": "write_to_engine",
    "search.explanation_lines": "explanation_lines",
    "search.hits": "Hit",
    "search.reindexing": "quicken reindex",
    "search.retriever": "Retriever",
    "search.rewriting": "Rewriter",
    "service.config": "PageConfig ServiceConfig",
    "settings": "with_settings",
    "training.pretraining": "pretrain",
}  # by module; the others are in api
_IN_EXTENSIONS = {"tune_system": "statgraph_tuning.study", "tuned_bm25": "statgraph_tuning.bm25_grid"}
_HOMES = {name: module for module, names in _NAMES.items() for name in names.split()}


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'statgraph' has no attribute '{name}'")
    place = _IN_EXTENSIONS.get(name) or f"statgraph.{_HOMES.get(name, 'api')}"
    return load(name, f"{place}:{name}")


def __dir__() -> list[str]:
    return __all__
