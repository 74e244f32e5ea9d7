"""The graph network: attention over typed edges and the encoder that stacks it."""
