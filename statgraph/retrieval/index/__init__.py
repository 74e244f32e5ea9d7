"""Article vectors and ids: saved, loaded and searched."""
