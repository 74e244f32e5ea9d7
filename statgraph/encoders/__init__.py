"""Text encoders: backbones, chunking, the query and article encoders, cached embedding."""
