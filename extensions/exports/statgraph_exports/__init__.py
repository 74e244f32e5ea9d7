"""Runs and corpora in the formats of other tools: `statgraph export`."""
