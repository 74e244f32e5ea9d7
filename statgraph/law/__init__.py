"""Statutes and questions as typed records, their folder on disk, and the formats they come from."""

from statgraph.law.records import SPLITS, Article, CitingText, Corpus, Heading, Question
from statgraph.law.store import read_corpus, write_corpus

__all__ = [
    "SPLITS",
    "Article",
    "CitingText",
    "Corpus",
    "Heading",
    "Question",
    "read_corpus",
    "write_corpus",
]
