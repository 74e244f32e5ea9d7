"""Citations that an article's text holds: which articles and which other texts it names."""
