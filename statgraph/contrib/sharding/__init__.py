"""Embedding more articles than one machine takes: parts of a corpus and their vectors, on a Ray cluster."""
