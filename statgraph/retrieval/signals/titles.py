"""BM25 over the titles of articles."""

from __future__ import annotations

from statgraph.retrieval.signals.lexical import LexicalSignal
from statgraph.retrieval.signals.signal import SignalInfo, SignalSource


class TitlesSignal(LexicalSignal):
    """BM25 over an article's title alone."""

    kind = name = "titles"
    info = SignalInfo(
        weight=0.1,
        words={
            "de": "Wörter seines Titels",
            "en": "Words of its title",
            "es": "Las palabras de su título",
            "fr": "Les mots de son titre",
            "it": "Le parole del suo titolo",
            "nl": "Woorden uit de titel",
        },
    )

    @staticmethod
    def texts(source: SignalSource) -> list[str]:
        """Return each article's title."""
        return [article.title for article in source.articles]
