"""The search for a system's settings by trials: `statgraph tune`."""
