"""Tuning: BM25's grid, and the search for a system's settings."""
