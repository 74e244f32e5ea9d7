"""Pictures of a corpus, of its graph and of a run's training: one file a picture."""
