"""Training: pairs, losses, the one loop, checkpoints, and its two stages."""
