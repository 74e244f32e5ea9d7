"""Readers of statutes in documents: what office programs write, Markdown, web pages and plain text."""
