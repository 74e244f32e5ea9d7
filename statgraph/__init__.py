"""Find the articles of law that answer a question.

    from statgraph import fetch, train

    run = train(fetch("sample"), fast=True)
    print(run.evaluate("test").metrics)

docs/python.md is the guide. Names are loaded when they are first used, so that importing the package stays quick.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from statgraph._version import __version__
from statgraph.registry import load

if TYPE_CHECKING:
    from statgraph.api import (
        Evaluation,
        Run,
        augment,
        build_graph,
        evaluate,
        fetch,
        rehearse,
        serve,
        train,
        update,
    )
    from statgraph.config import AugmentConfig, IndexConfig, RunConfig
    from statgraph.contrib.exports.targets import export
    from statgraph.contrib.tuning.bm25_grid import tuned_bm25
    from statgraph.contrib.tuning.study import tune_system
    from statgraph.errors import StatgraphError
    from statgraph.formats.importing import About, import_corpus, import_to_folder
    from statgraph.law.draft import Reading
    from statgraph.law.feedback import add_feedback
    from statgraph.law.query import Query
    from statgraph.law.records import Corpus
    from statgraph.law.store import read_corpus, write_corpus
    from statgraph.retrieval.index.engines.contract import EngineAddress
    from statgraph.retrieval.search.engine_index import write_to_engine
    from statgraph.retrieval.search.explanation_lines import explanation_lines
    from statgraph.retrieval.search.hits import Hit
    from statgraph.retrieval.search.reindexing import quicken, reindex
    from statgraph.retrieval.search.retriever import Retriever
    from statgraph.retrieval.search.rewriting import Rewriter
    from statgraph.service.config import PageConfig, ServiceConfig
    from statgraph.settings import with_settings
    from statgraph.training.pretraining import pretrain

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
    "corpus_from_dicts",
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
    "contrib.exports.targets": "export",
    "contrib.tuning.bm25_grid": "tuned_bm25",
    "contrib.tuning.study": "tune_system",
    "errors": "StatgraphError",
    "formats.importing": "About corpus_from_dicts import_corpus import_to_folder",
    "law.draft": "Reading",
    "law.feedback": "add_feedback",
    "law.query": "Query",
    "law.records": "Corpus",
    "law.store": "read_corpus write_corpus",
    "retrieval.index.engines.contract": "EngineAddress",
    "retrieval.search.engine_index": "write_to_engine",
    "retrieval.search.explanation_lines": "explanation_lines",
    "retrieval.search.hits": "Hit",
    "retrieval.search.reindexing": "quicken reindex",
    "retrieval.search.retriever": "Retriever",
    "retrieval.search.rewriting": "Rewriter",
    "service.config": "PageConfig ServiceConfig",
    "settings": "with_settings",
    "training.pretraining": "pretrain",
}  # by module; the others are in api
_HOMES = {name: module for module, names in _NAMES.items() for name in names.split()}


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'statgraph' has no attribute '{name}'")
    return load(f"statgraph.{_HOMES.get(name, 'api')}:{name}")


def __dir__() -> list[str]:
    return __all__
