"""Citations: which articles and which other texts an article or a question names."""
