"""Readers of the files that office programs write, of Markdown and of web pages."""
