"""Plots of a corpus, of a code's tree and of a run's training, and the page that shows them."""
