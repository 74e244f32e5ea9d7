"""Plots of a corpus, of a code's tree and of a run's training, as matplotlib figures."""
