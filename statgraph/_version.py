"""The version of statgraph."""

__version__ = "0.1.0"
