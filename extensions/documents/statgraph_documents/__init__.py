"""Readers of the files that office programs write, and of web pages."""
