"""The town: a law that trains within a second."""

from __future__ import annotations

from statgraph.law.records import Article, Corpus, Question
from statgraph.law.titles import with_title_parts


def town() -> Corpus:
    """Return a corpus that trains within a second: 16 articles under two books, 8 training questions, 4 dev, 4 test."""
    things = ("lamps", "wells", "dogs", "carts", "markets", "bridges", "gardens", "fences")
    articles = tuple(
        Article(
            f"{thing}{number}", f"Art. {number} on {thing}", f"{thing.title()} are {rule}.", ("Town Code", book), order
        )
        for order, (thing, number, rule, book) in enumerate(
            (
                (thing, number, rule, book)
                for thing in things
                for number, rule, book in ((1, "allowed by day", "Book I. Rights"), (2, "taxed", "Book II. Duties"))
            ),
            start=1,
        )
    )
    questions = tuple(
        Question(f"{split}-{thing}", f"{verb} my {thing}?", split, (f"{thing}{number}",))
        for split, verb, number, things in (
            ("train", "May I keep", 1, things),
            ("dev", "What do I pay for", 2, things[:4]),
            ("test", "Who taxes", 2, things[4:]),
        )
        for thing in things
    )
    return Corpus("town", "en", "CC0", "written for the tests", tuple(with_title_parts(articles)), questions)
