"""The HTTP service: `statgraph serve`."""
