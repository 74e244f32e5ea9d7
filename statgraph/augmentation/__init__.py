"""Synthetic questions: made from headings or by a doc2query model, filtered, and kept on disk."""
