"""Find the articles of law that answer a question."""

__version__ = "0.1.0"
