"""A corpus under ids of ir_datasets, as PyTerrier and its like name data sets. Needs the extra `integrations`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from statgraph.encoders.article_text import PATH_SEPARATOR
from statgraph.errors import UsageError
from statgraph.evaluation.report import trec_id
from statgraph.extras import missing
from statgraph.law.records import SPLITS, Article, Corpus, Question

try:
    import ir_datasets
    from ir_datasets.formats import BaseDocs, BaseQrels, BaseQueries, GenericQuery, TrecQrel
    from ir_datasets.indices import Docstore
except ImportError as error:
    raise missing(error.name or str(error), "integrations") from None


class ArticleDoc(NamedTuple):
    """An article as a document; `headings` are those above it, from its code down, and `doc_id` is a `trec_id`."""

    doc_id: str
    title: str
    headings: str
    text: str
    rubric: str = ""

    def default_text(self) -> str:
        """Return what statgraph's own encoders read: headings, rubric and text, each on a line of its own."""
        return "\n".join([*filter(None, (self.headings, self.rubric)), self.text])


def register(corpus: Corpus, name: str | None = None) -> tuple[str, ...]:
    """Register the articles of a corpus as `statgraph/NAME`, and with the main questions of a split and their labels as
    `statgraph/NAME/SPLIT`; return these ids, which `ir_datasets.load` takes in this process. The name is the corpus's
    unless another is given.

    Raises:
        UsageError: if an id is registered already.
    """
    of_corpus = f"statgraph/{name or corpus.name}"
    if of_corpus in ir_datasets.registry:
        raise UsageError(f"{of_corpus}: registered already; give another name, or load it")
    docs = _Docs(corpus, of_corpus)
    data_sets = {of_corpus: ir_datasets.Dataset(docs)}
    for split in SPLITS:
        if questions := corpus.split(split):
            data_sets[f"{of_corpus}/{split}"] = ir_datasets.Dataset(
                docs, _Queries(questions, of_corpus, corpus.language), _Qrels(questions)
            )
    for data_set_id, data_set in data_sets.items():
        ir_datasets.registry.register(data_set_id, data_set)
    return tuple(data_sets)


class _Docs(BaseDocs):  # type: ignore[misc]
    """The articles, as ir_datasets asks a handler of documents for them."""

    def __init__(self, corpus: Corpus, namespace: str):
        self._corpus, self._namespace = corpus, namespace

    def docs_iter(self) -> _DocsIterator:
        return _DocsIterator(self._corpus)

    def docs_store(self) -> _DocsById:
        return _DocsById(self._corpus)

    def docs_cls(self) -> type[ArticleDoc]:
        return ArticleDoc

    def docs_count(self) -> int:
        return len(self._corpus.articles)

    def docs_namespace(self) -> str:
        return self._namespace

    def docs_lang(self) -> str:
        return self._corpus.language


class _DocsIterator:
    """Documents one after another, or as ir_datasets' users slice them: `docs_iter()[:10]`."""

    def __init__(self, corpus: Corpus):
        self._articles = corpus.articles
        self._left = map(_doc, corpus.articles)

    def __iter__(self) -> Iterator[ArticleDoc]:
        return self

    def __next__(self) -> ArticleDoc:
        return next(self._left)

    def __getitem__(self, which: int | slice) -> ArticleDoc | Iterator[ArticleDoc]:
        return map(_doc, self._articles[which]) if isinstance(which, slice) else _doc(self._articles[which])


class _DocsById(Docstore):  # type: ignore[misc]
    def __init__(self, corpus: Corpus):
        super().__init__(ArticleDoc)
        self._corpus = corpus

    def get_many_iter(self, doc_ids: Sequence[str]) -> Iterator[ArticleDoc]:
        rows = {trec_id(article_id): row for article_id, row in self._corpus.article_rows.items()}
        return (_doc(self._corpus.articles[rows[doc_id]]) for doc_id in doc_ids if doc_id in rows)


class _Queries(BaseQueries):  # type: ignore[misc]
    def __init__(self, questions: Sequence[Question], namespace: str, language: str):
        self._questions, self._namespace, self._language = questions, namespace, language

    def queries_iter(self) -> Iterator[GenericQuery]:
        return (GenericQuery(trec_id(question.question_id), question.text) for question in self._questions)

    def queries_count(self) -> int:
        return len(self._questions)

    def queries_namespace(self) -> str:
        return self._namespace

    def queries_lang(self) -> str:
        return self._language


class _Qrels(BaseQrels):  # type: ignore[misc]
    def __init__(self, questions: Sequence[Question]):
        self._questions = questions

    def qrels_iter(self) -> Iterator[TrecQrel]:
        return (
            TrecQrel(trec_id(question.question_id), trec_id(article_id), 1, "0")
            for question in self._questions
            for article_id in question.article_ids
        )

    def qrels_cls(self) -> type[TrecQrel]:
        kind: type[TrecQrel] = TrecQrel
        return kind

    def qrels_defs(self) -> dict[int, str]:
        return {1: "answers the question"}


def _doc(article: Article) -> ArticleDoc:
    headings = PATH_SEPARATOR.join(article.path)
    return ArticleDoc(trec_id(article.article_id), article.title, headings, article.text, article.rubric)
