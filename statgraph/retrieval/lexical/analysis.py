"""From text to the terms that BM25 counts, in any language."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection
from functools import cache

from statgraph.law.normal_text import normal_text

# ISO 639-1 code -> Snowball algorithm. A language without one is matched by its unstemmed words.
STEMMERS = {
    "ar": "arabic", "ca": "catalan", "cs": "czech", "da": "danish", "de": "german", "el": "greek", "en": "english",
    "eo": "esperanto", "es": "spanish", "et": "estonian", "eu": "basque", "fa": "persian", "fi": "finnish",
    "fr": "french", "ga": "irish", "hi": "hindi", "hu": "hungarian", "hy": "armenian", "id": "indonesian",
    "it": "italian", "lt": "lithuanian", "nb": "norwegian", "ne": "nepali", "nl": "dutch", "nn": "norwegian",
    "no": "norwegian", "pl": "polish", "pt": "portuguese", "ro": "romanian", "ru": "russian", "sr": "serbian",
    "st": "sesotho", "sv": "swedish", "ta": "tamil", "tr": "turkish", "yi": "yiddish",
}  # fmt: skip

# ISO 639-1 code -> the list of bm25s, chosen on dev questions (docs/ranking.md); not used: those of Chinese and Korean.
STOP_WORDS = {
    "da": "DANISH", "de": "GERMAN", "en": "EN_PLUS", "es": "SPANISH", "fr": "FRENCH", "it": "ITALIAN",
    "nb": "NORWEGIAN", "nl": "DUTCH", "nn": "NORWEGIAN", "no": "NORWEGIAN", "pt": "PORTUGUESE", "ru": "RUSSIAN",
    "sv": "SWEDISH", "tr": "TURKISH",
}  # fmt: skip
_NOUNS = {"es": {"estado", "estados"}}  # of law, which those lists hold as forms of verbs

# Scripts written without spaces between words, or like Korean with none before particles: runs of them are cut into
# overlapping pairs of characters.
_HANGUL = r"\uac00-\ud7a3"
_UNSPACED = (
    r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U000323af"
    + _HANGUL
)
# A Korean noun of one syllable with particles, of which no pair is the noun's: 집을, 집에서는.
_NOUN_AND_PARTICLES = re.compile(
    rf"([{_HANGUL}])(?:은|는|이|가|을|를|의|에|도|만|와|과|나|란|이나|이란|(?:으?로|에서?|에게서?|까지|부터|보다|처럼|마다)[는도만의]?)"
)
# The capitals that these languages pair otherwise than Unicode's rules for all languages do; the joiner that is a blank
# within Persian words.
_DOTLESS_I = str.maketrans({"I": "ı", "İ": "i"})
_OWN_LETTERS = {"az": _DOTLESS_I, "fa": str.maketrans({"\u200c": " "}), "tr": _DOTLESS_I}

TERMS = "zxx"  # a text of terms that an analyser has found, separated by spaces; ISO 639's "no linguistic content"

Analyser = Callable[[str], list[str]]


def analyser(language: str, *, stemmed: bool = True, without: Collection[str] = ()) -> Analyser:
    """Return the function from a text to its terms: words lower-cased, stemmed where the language has a stemmer;
    characters in overlapping pairs where a script has no spaces, and in Korean, whose nouns of one syllable with a
    particle are terms too.

    Args:
        language: ISO 639-1 code, such as the corpus manifest's, or `TERMS`.
        stemmed: whether words are stemmed.
        without: lower-case words to leave out of a text that has others.
    """
    if language == TERMS:
        return str.split
    stem_all = stemmer(language) if stemmed else list
    spaced_words, runs, unspaced_run = _patterns()

    def stem(words: list[str]) -> list[str]:
        return stem_all([word for word in words if word not in without] or words if without else words)

    def terms(text: str) -> list[str]:
        plain = lower_case(text, language)
        if not unspaced_run.search(plain):  # as most law: twice as fast
            return stem(spaced_words.findall(plain))
        words: list[str] = []
        for run in runs.findall(plain):
            if unspaced_run.match(run):
                words.extend(run[i : i + 2] for i in range(max(1, len(run) - 1)))
                noun = _NOUN_AND_PARTICLES.fullmatch(run)
                words.extend(noun.groups() if noun else ())
            else:
                words.append(run)
        return stem(words)

    return terms


def lower_case(text: str, language: str) -> str:
    """Return a text as its terms are cut from it: normalised, in the small letters of its language."""
    own_letters = _OWN_LETTERS.get(language)
    text = unicodedata.normalize("NFC", text).translate(own_letters) if own_letters else text
    return unicodedata.normalize("NFKC", normal_text(text)).lower()


def question_analyser(language: str, *, stop_words: bool, stemmed: bool = True) -> Analyser:
    """Return the function from a question to its terms: those of `analyser`, less the stop words of the language unless
    these are wanted or the question has no other words."""
    return analyser(language, stemmed=stemmed, without=() if stop_words else stop_words_of(language))


def words_of_terms(text: str, language: str) -> dict[str, str]:
    """Return for each term of a text the word that it stands for there, the first of several."""
    words: dict[str, str] = {}
    for term, word in zip(analyser(language)(text), analyser(language, stemmed=False)(text), strict=True):
        words.setdefault(term, word)
    return words


@cache
def stop_words_of(language: str) -> frozenset[str]:
    """Return the lower-case stop words of a language, none where it has no list."""
    from bm25s import stopwords

    if language not in STOP_WORDS:
        return frozenset()
    return frozenset(getattr(stopwords, f"STOPWORDS_{STOP_WORDS[language]}")) - _NOUNS.get(language, set())


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    """Return patterns of (a word, a run of one kind of script, a character of a script without spaces)."""
    # \w leaves out the vowel signs of Hindi or Tamil and the points of Hebrew and Arabic, which stand inside words.
    marks = "".join(chr(code) for code in range(0x300, 0x10000) if unicodedata.category(chr(code)) in ("Mn", "Mc"))
    word = rf"[\w{marks}]"
    unspaced = rf"[{_UNSPACED}]"
    runs = re.compile(rf"(?:(?={unspaced}){word})+|(?:(?!{unspaced}){word})+")
    return re.compile(rf"{word}+"), runs, re.compile(unspaced)


def word_pattern() -> re.Pattern[str]:
    """Return the pattern of a word."""
    return _patterns()[0]


def is_unspaced(term: str) -> bool:
    """Return whether a term is of a script that is cut into pairs of characters."""
    return _patterns()[2].match(term) is not None


def stemmer_name(language: str) -> str | None:
    """Return the Snowball algorithm that stems a language here, None where there is none."""
    import Stemmer

    algorithm = STEMMERS.get(language)
    return algorithm if algorithm in Stemmer.algorithms() else None


def stemmer(language: str) -> Callable[[list[str]], list[str]]:
    """Return the function from words to their stems: the words themselves where a language has no stemmer, and a word
    itself of which the stemmer leaves nothing, such as Greek έως."""
    import Stemmer

    algorithm = stemmer_name(language)
    if algorithm is None:
        return lambda words: words
    stem_words = Stemmer.Stemmer(algorithm).stemWords
    return lambda words: [stem or word for stem, word in zip(stem_words(words), words, strict=True)]
