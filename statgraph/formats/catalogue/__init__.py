"""The catalogue of `statgraph fetch`: public corpora, where they come from, and the readers of their files."""
