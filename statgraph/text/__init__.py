"""Text to vectors: backbones, chunking, query and article encoders, embedding with a cache on disk."""
