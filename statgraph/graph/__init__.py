"""The legislative graph: hierarchy, relations, the DGL heterograph, its folder on disk, blocks sampled from it."""
