"""A run and a corpus as MTEB takes them: the whole retriever as a search model, the questions as a retrieval task.
Needs the package `mteb`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from statgraph.encoders.article_text import article_text
from statgraph.errors import DependencyError, RunError, UsageError
from statgraph.law.records import Corpus
from statgraph.retrieval.search.evaluating import split_questions
from statgraph.retrieval.search.retriever import Retriever
from statgraph.runs.hub import local_run
from statgraph.runs.run import RunFolder

try:
    from datasets import Dataset
    from mteb.abstasks.retrieval import AbsTaskRetrieval
    from mteb.abstasks.task_metadata import TaskMetadata
    from mteb.models.model_meta import ModelMeta
except ImportError as error:
    raise DependencyError(f"{error.name}: not installed; run: pip install 'mteb>=2.26,<3'") from None

# MTEB names languages by ISO 639-3 and their script.
LANGUAGES = {"de": "deu-Latn", "en": "eng-Latn", "fr": "fra-Latn", "nl": "nld-Latn", "vi": "vie-Latn", "zh": "zho-Hans"}
_SUBSET = "default"


class StatgraphSearch:
    """A run's retriever as MTEB's `SearchProtocol`: `mteb.evaluate(StatgraphSearch(run), StatgraphTask(corpus))`.

    It ranks the articles of its run, so that a task must hold the same ones. Of several articles with one score MTEB
    would order by id what statgraph orders by row: such scores are lowered by as little as makes them differ. The
    arguments and errors are those of `Retriever.load`.
    """

    def __init__(self, run: Path | str, *, device: str = "auto"):
        opened = RunFolder.read(local_run(run))
        self._folder = opened.folder
        self._retriever = Retriever.of(opened, device=device)
        self._article_ids = self._retriever.article_ids()
        about = {"name": f"statgraph/{opened.config.system}", "revision": opened.corpus.content_hash}
        self.mteb_model_meta = ModelMeta.create_empty(about)

    def index(self, corpus: Dataset, **about: object) -> None:
        """Check that the documents of a task are the articles of the run.

        Raises:
            RunError: if they are not.
        """
        strange = set(corpus["id"]) ^ set(self._article_ids)
        if strange:
            raise RunError(
                f"{self._folder}: its articles are not the task's documents (only one of them has '{min(strange)}'); "
                "name a run of the task's corpus"
            )

    def search(
        self, queries: Dataset, *, top_k: int, top_ranked: object = None, **about: object
    ) -> dict[str, dict[str, float]]:
        """Return for each question the scores of its best `top_k` articles by id.

        Raises:
            UsageError: if the task gives the articles to rank.
        """
        if top_ranked is not None:
            raise UsageError("a re-ranking task gives the articles to rank; a run is measured on retrieval tasks")
        rankings = self._retriever.rank(queries["text"][:], top_k)
        return {
            question_id: dict(zip([self._article_ids[row] for row in rows], _apart(scores), strict=True))
            for question_id, (rows, scores) in zip(queries["id"], rankings, strict=True)
        }


class StatgraphTask(AbsTaskRetrieval):  # type: ignore[misc]
    """The main questions of a corpus as a retrieval task of MTEB's. A document is what statgraph's encoders read: the
    headings of an article on a line of their own, and its text.

    Args:
        corpus: a corpus.
        splits: the splits to measure.
        language: of the corpus as MTEB names it, such as "eng-Latn"; None is that of `LANGUAGES`.

    Raises:
        UsageError: if a split is unknown or has no questions, or the language has to be named.
    """

    data_loaded: bool

    def __init__(self, corpus: Corpus, splits: Sequence[str] = ("test",), *, language: str | None = None):
        if language is None and corpus.language not in LANGUAGES:
            raise UsageError(
                f"language '{corpus.language}': name it as MTEB does, by ISO 639-3 and script, such as 'eng-Latn'"
            )
        self._questions = {split: split_questions(corpus, split) for split in splits}
        self._corpus = corpus
        self._language = language or LANGUAGES[corpus.language]
        super().__init__()

    @cached_property
    def metadata(self) -> TaskMetadata:
        """Return what the task is. MTEB deletes it from the object when it has measured."""
        return TaskMetadata(
            name=f"{self._corpus.name}StatuteRetrieval",
            description=f"Find the articles of law that answer a question ({self._corpus.source}).",
            dataset={"path": self._corpus.name, "revision": self._corpus.content_hash},
            type="Retrieval",
            category="t2t",
            eval_splits=list(self._questions),
            eval_langs=[self._language],
            main_score="ndcg_at_10",
            domains=["Legal"],
        )

    def load_data(self, num_proc: int | None = None, **about: object) -> None:
        """Make the data sets, unless that is done."""
        if self.data_loaded:
            return
        documents = [
            {"id": article.article_id, "title": "", "text": article_text(article)} for article in self._corpus.articles
        ]
        articles = Dataset.from_list(documents)
        self.dataset: dict[str, dict[str, Any]] = {_SUBSET: {}}
        for split, questions in self._questions.items():
            asked = [{"id": question.question_id, "text": question.text} for question in questions]
            self.dataset[_SUBSET][split] = {
                "corpus": articles,
                "queries": Dataset.from_list(asked),
                "relevant_docs": {
                    question.question_id: dict.fromkeys(question.article_ids, 1) for question in questions
                },
                "top_ranked": None,
            }
        self.data_loaded = True


def _apart(scores: np.ndarray) -> list[float]:
    """Return descending scores (n,) float32 with no two equal."""
    apart = scores.astype(np.float32)
    for place in range(1, len(apart)):
        apart[place] = min(apart[place], np.nextafter(apart[place - 1], np.float32(-np.inf)))
    listed: list[float] = apart.tolist()
    return listed
