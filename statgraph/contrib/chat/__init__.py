"""Questions as people ask them, written by a chat endpoint: `statgraph augment --generator chat`."""
