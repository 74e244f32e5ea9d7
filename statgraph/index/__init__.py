"""Vectors and ids to and from disk, and the search among them."""
