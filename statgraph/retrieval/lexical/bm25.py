"""BM25 over articles (Robertson and Zaragoza 2009), on bm25s."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from statgraph import artifacts
from statgraph.errors import damaged_run
from statgraph.law.allowed_rows import AllowedRows
from statgraph.law.query import Ranked, check_k
from statgraph.retrieval.lexical.analysis import analyser, is_unspaced, question_analyser, stemmer_name
from statgraph.retrieval.lexical.compounds import LINKS, Compounds
from statgraph.retrieval.lexical.reading import AddedTerm, QuestionReader

_ANALYSIS = "analysis.json"
_WORDS = "words.txt"
# Of bm25s: those that every index here is made with, whatever a damaged file says.
_PARAMETERS = ("k1", "b", "delta", "method", "idf_method", "dtype", "int_dtype", "backend")
_GROUP = 32


@dataclass(frozen=True)
class TermWeight:
    """A term as BM25 counts it, stemmed, and its part of a text's score."""

    term: str
    weight: float


class BM25:
    """A BM25 index of texts.

    A text's score is the sum over the question's terms of

        ln(1 + (n - df + 0.5) / (df + 0.5)) * tf / (tf + k1 * (1 - b + b * length))

    with n texts, df of them holding the term, tf times in this one, whose length is given in mean lengths. This is
    Lucene's form, which leaves out the constant factor k1 + 1.

    Args:
        texts: the articles' texts, headings in front where they count.
        language: ISO 639-1 code that picks the stemmer.
        k1: term-frequency saturation (G-DSR, appendix C: 2.5).
        b: length normalisation (G-DSR, appendix C: 0.2).
        stop_words: whether those of a question count. They count in the texts, so that an index serves either way.
        compounds: whether the parts of compounds count as words, in questions and texts, where a language has them.

    Attributes:
        language: the code that was given.
        reader: what finds typing errors and synonyms in questions; None for neither.
    """

    reader: QuestionReader | None = None

    def __init__(
        self,
        texts: Sequence[str],
        *,
        language: str,
        k1: float = 2.5,
        b: float = 0.2,
        stop_words: bool = True,
        compounds: bool = False,
    ):
        import bm25s

        self.language = language
        self._simple_terms = question_analyser(language, stop_words=stop_words)
        self._question_words = question_analyser(language, stop_words=stop_words, stemmed=False)
        text_words, terms_of = analyser(language, stemmed=False), analyser(language)
        # The words as numbers from the start: as strings, those of a million articles have 10 GB.
        numbers: dict[str, int] = {}
        documents = [[numbers.setdefault(word, len(numbers)) for word in text_words(text)] for text in texts]
        self._words = tuple(numbers)
        terms = [terms_of(word)[0] for word in numbers]
        self._vocabulary = {term: row for row, term in enumerate(sorted(set(terms)))}
        self._compounds = Compounds(language, self._vocabulary) if compounds else None
        self._n_texts = len(documents)
        self._index = bm25s.BM25(k1=k1, b=b, method="lucene")
        if numbers:  # bm25s cannot index texts without a single term; nothing will be looked up in them either
            rows = [
                [self._vocabulary[each] for each in (term, *self.parts(word))]
                for term, word in zip(terms, numbers, strict=True)
            ]
            for words in documents:
                words[:] = [row for number in words for row in rows[number]]
            tokens = bm25s.tokenization.Tokenized(ids=documents, vocab=dict(self._vocabulary))
            self._index.index(tokens, show_progress=False)

    def __len__(self) -> int:
        return self._n_texts

    @classmethod
    def read(cls, folder: Path, *, language: str, **options: Any) -> BM25:
        """Return the index that `write` left in a folder, made with these options; its arrays stay on disk,
        memory-mapped.

        Raises:
            RunError: if a file is missing or damaged, or the index was made with other parameters or another analysis.
        """
        import bm25s

        bm25 = cls((), language=language, **options)
        with artifacts.reading(folder):
            saved = artifacts.read_json(folder / _ANALYSIS)
            bm25._n_texts = saved.pop("texts")
            if saved.pop("terms"):
                made_with = {name: getattr(bm25._index, name) for name in _PARAMETERS}
                bm25._index = bm25s.BM25.load(folder, mmap=True, show_progress=False, override_params=made_with)
                bm25._vocabulary = bm25._index.vocab_dict
                bm25._vocabulary.pop("", None)  # bm25s adds it, without a column
                _check_matrix(bm25._index.scores, bm25._vocabulary, bm25._n_texts)
                # Now, since the folder may be replaced by an update's before anybody asks for them.
                bm25._words = tuple((folder / _WORDS).read_text(encoding="utf-8").split())
                if bm25._compounds is not None:
                    bm25._compounds = Compounds(language, bm25._vocabulary)
        expected = bm25._made_with()
        if saved != expected:
            raise damaged_run(f"{folder}: a BM25 index made with {saved}, where the run has {expected}")
        return bm25

    def write(self, folder: Path) -> None:
        """Write bm25s' own files and `analysis.json` to an empty folder."""
        if self._vocabulary:
            self._index.save(folder, show_progress=False)
            (folder / _WORDS).write_text("\n".join(sorted(self.words())), encoding="utf-8")
        counts = {"texts": self._n_texts, "terms": len(self._vocabulary)}
        artifacts.write_json(folder / _ANALYSIS, counts | self._made_with())

    def _made_with(self) -> dict[str, object]:
        """Return what the weights depend on beside the texts."""
        made_with: dict[str, object] = {"language": self.language, "stemmer": stemmer_name(self.language)}
        made_with |= {"k1": self._index.k1, "b": self._index.b}
        return made_with if self._compounds is None else made_with | {"compounds": True}

    def words(self) -> tuple[str, ...]:
        """Return the texts' words before they are stemmed."""
        return self._words

    @property
    def vocabulary(self) -> Mapping[str, int]:
        """Return the texts' terms, each with its column."""
        return self._vocabulary

    def frequency(self, term: str) -> int:
        """Return how many texts hold a term."""
        column = self._vocabulary.get(term)
        if column is None:
            return 0
        starts = self._index.scores["indptr"]
        return int(starts[column + 1] - starts[column])

    def corrected(self, question: str) -> str:
        """Return a question with its typing errors corrected, if there is a reader."""
        return question if self.reader is None else self.reader.corrected(question)

    def _terms(self, question: str) -> list[str]:
        """Return the terms of a corrected question: behind a compound its parts, in place of one that the texts do not
        have; of a question that is one character of a script without spaces, whatever the texts have it in."""
        question = self.corrected(question)
        terms = self._simple_terms(question)
        if self._compounds is None or self.language not in LINKS:
            return self._holding(terms[0]) or terms if len(terms) == 1 else terms
        parts = map(self.parts, self._question_words(question))
        known = self._vocabulary
        return [
            each
            for term, own in zip(terms, parts, strict=True)
            for each in ((term, *own) if term in known or not own else own)
        ]

    def _holding(self, character: str) -> list[str]:
        """Return the texts' terms that hold a character of a script without spaces; none for another term."""
        if len(character) > 1 or not is_unspaced(character):
            return []
        return [term for term in self._vocabulary if character in term]

    def parts(self, word: str) -> tuple[str, ...]:
        """Return the terms of a compound's parts; none of another word."""
        return () if self._compounds is None else self._compounds.parts(word)

    def _added(self, question: str) -> list[AddedTerm]:
        """Return the terms of these texts that are searched for beside those of a question."""
        added = () if self.reader is None else self.reader.added(self.corrected(question))
        known = self._vocabulary
        return [part for part in added if part.term in known and part.replaces not in known]

    def added_words(self, question: str) -> list[str]:
        """Return the synonyms that are searched for beside the words of a question."""
        return [part.word for part in self._added(question)]

    def scores(self, question: str) -> np.ndarray:
        """Return the score of every text for a question, (texts,) float32; 0 where no term is shared."""
        terms = self._terms(question)
        rows = [self._vocabulary[term] for term in terms if term in self._vocabulary]
        scores = self._index.get_scores_from_ids(rows) if rows else np.zeros(self._n_texts, dtype=np.float32)
        for part in self._added(question):
            scores = scores + part.weight * self._index.get_scores_from_ids([self._vocabulary[part.term]])
        return scores.astype(np.float32, copy=False)

    def reachable(self, question: str) -> float:
        """Return a score above that of every text: the sum of the inverse document frequencies of the question's terms,
        those included that no text holds and nothing replaces."""
        if not self._vocabulary:
            return 0.0
        terms = self._terms(question)
        added = self._added(question)
        replaced = {part.replaces for part in added}
        df = np.array([self.frequency(term) for term in terms if term not in replaced])
        weighted = (part.weight * float(idf(self._n_texts, self.frequency(part.term))) for part in added)
        return float(idf(self._n_texts, df).sum()) + sum(weighted)

    def coverage(self, question: str) -> float:
        """Return the share of the question's terms that some text holds, or that a word of theirs replaces, by inverse
        document frequency, 0 to 1."""
        if not self._vocabulary:
            return 0.0
        terms = self._terms(question)
        df = np.array([self.frequency(term) for term in terms])
        rarities, weights = idf(self._n_texts, df), dict.fromkeys(terms, 0.0)
        weights |= {part.replaces: part.weight for part in self._added(question) if part.replaces is not None}
        shares = np.where(df > 0, 1.0, [weights[term] for term in terms])
        return float(shares @ rarities / max(float(rarities.sum()), 1e-12))

    def term_weights(self, question: str, rows: Sequence[int]) -> list[list[TermWeight]]:
        """Return for each text the question's terms that it holds, heaviest first; the weights add up to its score.

        A synonym is given as the word that it stands for, a part of a compound as it is spelt.
        """
        terms, typed = self._terms(question), {*self._simple_terms(self.corrected(question))}
        counts = Counter(term for term in terms if term in self._vocabulary)
        spelt = {} if self._compounds is None else self._compounds.spelt
        factors: list[tuple[str, str, float]] = [
            (term, term if term in typed else spelt.get(term, term), count) for term, count in counts.items()
        ]
        factors += [(part.term, part.word, part.weight) for part in self._added(question)]
        by_text: list[list[TermWeight]] = [[] for _ in rows]
        for term, shown, factor in factors:
            weights = factor * self._index.get_scores_from_ids([self._vocabulary[term]])[list(rows)]
            for text_weights, weight in zip(by_text, weights, strict=True):
                if weight > 0:
                    text_weights.append(TermWeight(shown, float(weight)))
        return list(map(_heaviest_first, by_text))

    def ranking(self, question: str, k: int, allowed: AllowedRows | None = None) -> Ranked:
        """Return the best `k` texts, or all if there are fewer, ties by row.

        Texts that share no term with the question come last, with score 0. `allowed` is the rows to rank;
        None is all.

        Raises:
            UsageError: if `k` is below 1.
        """
        check_k(k)
        scores = self.scores(question)
        best = best_rows(scores, k) if allowed is None else allowed.rows[best_rows(scores[allowed.rows], k)]
        return Ranked(best, scores[best])


class TermStatistics:
    """The terms of texts, counted: what BM25 weighs the terms of a few texts by, without an index of all of them.

    The texts, gone through once, are not kept. Arguments and weights are those of `BM25`.

    Attributes:
        terms: the function from a text to its terms.
    """

    def __init__(
        self, texts: Iterable[str], *, language: str, k1: float = 2.5, b: float = 0.2, stop_words: bool = True
    ):
        self.terms = analyser(language)
        self._question_terms = question_analyser(language, stop_words=stop_words)
        self._k1, self._b = k1, b
        self._holding: Counter[str] = Counter()  # term -> texts that hold it
        self._n_texts = n_terms = 0
        for text in texts:
            terms = self.terms(text)
            self._holding.update(set(terms))
            self._n_texts += 1
            n_terms += len(terms)
        self._mean_length = n_terms / max(1, self._n_texts)

    def term_weights(self, question: str, texts: Sequence[str]) -> list[list[TermWeight]]:
        """Return for each of these texts, which were counted, the question's terms that it holds, heaviest first; the
        weights add up to its BM25 score."""
        counts = Counter(term for term in self._question_terms(question) if term in self._holding)
        return [self._weights(counts, text) for text in texts]

    def _weights(self, counts: Counter[str], text: str) -> list[TermWeight]:
        terms = self.terms(text)
        tf = Counter(terms)
        damping = self._k1 * (1 - self._b + self._b * len(terms) / self._mean_length) if terms else 0.0
        weights = [
            TermWeight(term, count * self.rarity(term) * tf[term] / (tf[term] + damping))
            for term, count in counts.items()
            if term in tf
        ]
        return _heaviest_first(weights)

    def rarity(self, term: str) -> float:
        """Return how much a term counts by how few texts hold it, as `idf`."""
        return float(idf(self._n_texts, self._holding[term]))


def expanded_texts(texts: Sequence[str], questions: Sequence[Sequence[str]], *, most: int) -> list[str]:
    """Return each text followed by its first `most` questions, one a line: document expansion (doc2query, Nogueira and
    Lin 2019).

    Words that a text holds already count once more: headings as questions, where the heading path is in front of
    the text anyway, raise the weight of the nearest headings and bring in nothing new.
    """
    return ["\n".join((text, *own[:most])) for text, own in zip(texts, questions, strict=True)]


def idf(n_texts: int, df: int | np.ndarray) -> np.ndarray:
    """Return the inverse document frequency of terms that `df` of n texts hold: ln(1 + (n - df + 0.5) / (df + 0.5))."""
    return np.log1p((n_texts - df + 0.5) / (df + 0.5))


def _heaviest_first(weights: Iterable[TermWeight]) -> list[TermWeight]:
    return sorted(weights, key=lambda part: (-part.weight, part.term))


def _check_matrix(scores: Mapping[str, np.ndarray], columns: Mapping[str, int], n_texts: int) -> None:
    """Raise ValueError unless the arrays are those of a sparse matrix (texts, terms), and each term has its column."""
    data, rows, starts = scores["data"], scores["indices"], scores["indptr"]
    if not (data.ndim == rows.ndim == starts.ndim == 1 and data.dtype == np.float32 and rows.dtype.kind == "i"):
        raise ValueError("arrays of another kind")
    if not (len(data) == len(rows) == starts[-1] and len(starts) == len(columns) + 1 and scores["num_docs"] == n_texts):
        raise ValueError("arrays that do not fit together")
    if starts[0] or (np.diff(starts) < 0).any() or rows.min() < 0 or rows.max() >= n_texts:
        raise ValueError("rows out of range")
    numbers = columns.values()
    if {*map(type, numbers)} != {int} or (min(numbers), max(numbers), len({*numbers})) != (
        0,
        len(starts) - 2,
        len(numbers),
    ):
        raise ValueError("terms without a column of their own")


def best_rows(scores: np.ndarray, k: int) -> np.ndarray:
    """Return the rows (int64) of the best `k` of one or more scores, or of all if fewer; best first, ties by row."""
    k = min(k, len(scores))
    rows = np.flatnonzero(scores >= _reached_by(k, scores)) if k < len(scores) else np.arange(len(scores))
    if k < len(rows):
        among = scores[rows]
        lowest = np.partition(among, -k)[-k]
        # A tie at the cut is settled by row too, so that the ranking does not depend on the partition.
        above, ties = rows[among > lowest], rows[among == lowest]
        rows = np.concatenate([above, ties[: k - len(above)]])
    return rows[np.lexsort((rows, -scores[rows]))].astype(np.int64)


def _reached_by(k: int, scores: np.ndarray) -> float:
    """Return what at least `k` of many scores reach: the k-th best of the maxima of groups, hardly below the k-th best
    of all; minus infinity of a few scores. A million scores, most of them 0, take 1 ms in place of 80."""
    n_groups = len(scores) // _GROUP
    if n_groups < 2 * k:
        return -np.inf
    # The rows of a group lie far apart: neighbouring articles often score alike.
    best_of_group = scores[: n_groups * _GROUP].reshape(_GROUP, n_groups).max(axis=0)
    reached: float = np.partition(best_of_group, -k)[-k]
    return reached
