"""What ranks the articles of a run for a question: vectors or BM25."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Protocol

from statgraph import artifacts
from statgraph.augmentation.store import questions_by_row, synthetic_of_run, unknown_article
from statgraph.encoders.article_text import article_texts
from statgraph.encoders.embedded import is_everyday_word
from statgraph.encoders.inference.query_encoder import read_query_encoder
from statgraph.encoders.inference.static_query import StaticQueryEncoder
from statgraph.errors import damaged_run
from statgraph.law.allowed_rows import AllowedRows
from statgraph.law.query import Ranked
from statgraph.law.records import Article
from statgraph.law.synonyms import read_synonyms
from statgraph.retrieval.index.article_index import ArticleIndex
from statgraph.retrieval.index.engines.contract import EngineAddress
from statgraph.retrieval.lexical.analysis import analyser, stop_words_of
from statgraph.retrieval.lexical.bm25 import BM25, expanded_texts
from statgraph.retrieval.lexical.reading import QuestionReader
from statgraph.retrieval.lexical.spelling import Spelling, in_word_list
from statgraph.retrieval.search.engine_index import EngineIndex
from statgraph.retrieval.search.passages import SentenceEncoder
from statgraph.retrieval.signals.signal import ZERO_SHOT, Signal, text_bm25
from statgraph.runs import parts
from statgraph.runs.article_store import StoredArticle
from statgraph.runs.run import RunFolder

_STATIC, _TRANSFORMER = 400, 24  # sentences that are encoded for the passages of one question


class Ranker(Protocol):
    """Ranks articles for questions.

    Attributes:
        by_words: whether articles are found by the words that they share with a question alone.
        floor: the score of an article that is ranked and yet is no hit; None where every ranked article is one.
        signals: of an ensemble.
    """

    @property
    def by_words(self) -> bool: ...

    @property
    def floor(self) -> float | None: ...

    @property
    def signals(self) -> Sequence[Signal]: ...

    def rank(self, questions: Sequence[str], k: int, allowed: AllowedRows | None = None) -> list[Ranked]:
        """Return the best `k` allowed article rows (None allows all) for each question, or all if there are fewer."""


class DenseRanker:
    """The distilled query encoder (a plain sentence-transformers folder) over the run's index, or over the vectors
    that an engine has of the run; the arguments and errors are those of `Retriever.load`.
    """

    by_words, floor, signals = False, None, ()

    def __init__(self, run: RunFolder, *, device: str = "auto", engine: EngineAddress | None = None):
        self._index = ArticleIndex.load(run.index, device=device) if engine is None else EngineIndex.open(run, engine)
        self.encoder = read_query_encoder(run.query_encoder, device=device)
        articles, ids = run.articles, self._index.article_ids
        ends = [0, len(articles) - 1]  # reading all takes long
        if len(ids) != len(articles) or [ids[end] for end in ends] != [a.article_id for a in articles.read(ends)]:
            raise damaged_run(f"{run.folder}: its index and its {parts.ARTICLES.name} hold different articles")

    def rank(self, questions: Sequence[str], k: int, allowed: AllowedRows | None = None) -> list[Ranked]:
        """Return each question's ranking by inner product with the graph-enriched article vectors."""
        return self._index.search(self.encoder.encode(questions), k, allowed)


class LexicalRanker:
    """BM25 over the run's articles.

    Attributes:
        bm25: the index of their texts, as `lexical_index` returns it.
    """

    by_words, floor, signals = True, 0.0, ()

    def __init__(self, bm25: BM25):
        self.bm25 = bm25

    def rank(self, questions: Sequence[str], k: int, allowed: AllowedRows | None = None) -> list[Ranked]:
        """Return each question's ranking by BM25."""
        return [self.bm25.ranking(question, k, allowed) for question in questions]


def text_index(ranker: Ranker) -> BM25 | None:
    """Return the BM25 index of the articles' texts that a ranker uses, None where it uses none."""
    if isinstance(ranker, LexicalRanker):
        return ranker.bm25
    return text_bm25(ranker.signals)


def sentence_encoder(ranker: Ranker) -> SentenceEncoder | None:
    """Return what a ranker compares a question and sentences by: a static encoder if it has one, else one that is not
    trained; None where articles are found by words alone."""
    encoders = [
        signal.encoder
        for signal in sorted(ranker.signals, key=lambda signal: signal.kind != ZERO_SHOT)
        if signal.encoder is not None
    ]
    encoders = [ranker.encoder] if isinstance(ranker, DenseRanker) else encoders
    if not encoders:
        return None
    encoder = min(encoders, key=lambda encoder: not isinstance(encoder, StaticQueryEncoder))
    return SentenceEncoder(encoder.encode, _STATIC if isinstance(encoder, StaticQueryEncoder) else _TRANSFORMER)


def lexical_index(run: RunFolder) -> BM25:
    """Return the BM25 index that a run saved; RunError if it is damaged."""
    bm25 = BM25.read(run.lexical_index, language=run.corpus.language, **run.config.bm25.options)
    if len(bm25) != len(run.articles):
        raise damaged_run(f"{run.lexical_index}: {len(bm25)} articles where the run has {len(run.articles)}")
    bm25.reader = question_reader(run, bm25, bm25.vocabulary)
    return bm25


def question_reader(run: RunFolder, bm25: BM25, known: Container[str]) -> QuestionReader:
    """Return what reads the questions to a run: by the words of its BM25 index, the terms that it or another index of
    the run knows, and the synonyms saved with the run.

    Raises:
        RunError: if a line of the synonyms is invalid.
    """
    language, stop_words = run.corpus.language, run.config.bm25.stop_words
    term_of, ignored = analyser(language), () if stop_words else stop_words_of(language)

    def is_real(word: str) -> bool:
        return is_everyday_word(word) or in_word_list(word, language) or bool(bm25.parts(word))

    spelling = Spelling(bm25.words, lambda word: bm25.frequency(*term_of(word)), is_real, ignored)
    synonyms = read_synonyms(run.synonyms)
    return QuestionReader(language, stop_words=stop_words, known=known, spelling=spelling, synonyms=synonyms)


def write_lexical_index(run: RunFolder, articles: Sequence[Article | StoredArticle]) -> None:
    """Save the BM25 index of a run's articles with the run, the synthetic questions that expand them included.

    Raises:
        RunError: if these questions are missing or damaged, or ask about other articles.
    """
    config = run.config
    texts = article_texts(articles, heading_path=config.encoder.heading_path)
    if config.bm25.expansion:
        if not run.synthetic.is_file():
            raise damaged_run(f"{run.synthetic}: is missing, and the articles are expanded by it")
        questions = synthetic_of_run(run.synthetic).questions
        rows = {article.article_id: row for row, article in enumerate(articles)}
        strange = unknown_article(questions, rows)
        if strange is not None:
            raise damaged_run(f"{run.synthetic}: article '{strange}' is not in the run")
        texts = expanded_texts(texts, questions_by_row(questions, rows), most=config.bm25.expansion)
    with artifacts.replaced_folder(run.lexical_index) as staging:
        BM25(texts, language=run.corpus.language, **config.bm25.options).write(staging)
