"""Lexical retrieval: BM25 and the analysis of text that it needs."""
