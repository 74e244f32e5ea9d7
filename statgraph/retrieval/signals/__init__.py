"""Signals: each proposes candidates from its own index and scores any articles that it is asked about."""
