"""The words of references in each language: a YAML file each, read by `statgraph.law.citations.tables`."""
