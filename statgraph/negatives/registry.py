"""Sources of hard negatives by name. A new one is a file of its own and a line here."""

from __future__ import annotations

from collections.abc import Callable

from statgraph.config import NegativesConfig
from statgraph.corpus.records import Corpus
from statgraph.errors import UsageError
from statgraph.lexical.bm25 import BM25
from statgraph.negatives.bm25_negatives import Bm25Negatives
from statgraph.negatives.cusines import CusinesNegatives
from statgraph.negatives.source import NegativeSource

NO_NEGATIVES = "none"
SOURCES: dict[str, Callable[..., NegativeSource]] = {"bm25": Bm25Negatives, "cusines": CusinesNegatives}


def negative_source(
    name: str, corpus: Corpus, config: NegativesConfig, *, bm25: Callable[[], BM25]
) -> NegativeSource | None:
    """Return the source of negatives for the training questions of a corpus, or None for "none".

    Args:
        bm25: returns BM25 over the corpus' articles; called only where it is needed.

    Raises:
        UsageError: if the name is not known, or a value of `config` is not understood.
        CorpusError: if a question has no article that could be drawn.
    """
    if name == NO_NEGATIVES:
        return None
    if name not in SOURCES:
        raise UsageError(f"negatives: '{name}' is not known; choose from {', '.join((NO_NEGATIVES, *SOURCES))}")
    return SOURCES[name](corpus, config, bm25=bm25)
