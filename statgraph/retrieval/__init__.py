"""From a question to articles: BM25, the vector index, signals, their ranking, and the retriever over a run."""
