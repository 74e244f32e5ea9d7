"""The retriever as other frameworks take it: `statgraph.integrations.langchain` and its like, of an extension."""

from statgraph.registry import load

__path__ = load("statgraph.integrations", "statgraph_integrations:__path__")
