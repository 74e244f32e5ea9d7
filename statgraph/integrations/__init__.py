"""The retriever as other frameworks take it; each module needs the extra of its name."""
