"""Signals: each proposes candidates from its own index and scores any article."""
