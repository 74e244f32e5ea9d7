"""Index engines beside faiss: `statgraph index --engine lance` or `milvus`."""
