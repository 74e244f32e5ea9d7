"""From a configuration to its stages of training, each with what it draws from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from functools import cached_property
from typing import Any

from statgraph import artifacts
from statgraph.augmentation.store import SyntheticQuestion
from statgraph.augmentation.synthetic import synthetic_questions
from statgraph.config import Stage1Config, Stage2Config
from statgraph.encoders.article_text import citing_text, heading_texts
from statgraph.errors import UsageError
from statgraph.graph.build import LegalGraph
from statgraph.graph.relations import CITING, HEADING, QUESTION
from statgraph.law.records import Corpus, Question
from statgraph.registry import NEGATIVES
from statgraph.retrieval.lexical.bm25 import BM25
from statgraph.runs import parts
from statgraph.systems.job import Job
from statgraph.training.distillation import AfterGraph
from statgraph.training.negatives.source import NegativeSource
from statgraph.training.pairs import (
    PairSource,
    citing_pairs,
    gold_pairs,
    heading_pairs,
    question_order,
    synthetic_pairs,
)
from statgraph.training.stage1 import Stage1
from statgraph.training.stage2 import GraphModel, Stage2
from statgraph.training.text_model import TextModel


class StageBuilder:
    """Builds the stages of one run; what two of them need is made once.

    Args:
        job: the run.
        model: the text encoders, which every stage trains, with articles and dev questions.
        article_texts: the articles as text.
        graph: with its model, of a run that has a second stage.
    """

    def __init__(
        self,
        job: Job,
        model: TextModel,
        article_texts: Sequence[str],
        graph: LegalGraph | None = None,
        graph_model: GraphModel | None = None,
    ):
        self._job, self._corpus, self._config = job, job.corpus, job.config
        self.model, self.encoders, self.article_texts = model, model.encoders, article_texts
        self.graph, self.graph_model = graph, graph_model

    @property
    def trains_encoders(self) -> bool:
        """Return whether there is a first stage, which has weights to train."""
        return bool(self._config.stage1.epochs and self.encoders.parameter_groups(lr=1.0, weight_lr=1.0))

    def stage1(self) -> Stage1:
        """Return the training of the text encoders."""
        config = self._config.stage1
        sources = self._sources(config)
        negatives = self._negatives(config, sources)
        order = question_order(config.question_order, self._gold, lambda: self._bm25, self._config.seed)
        return Stage1(self.model, sources, config, negatives, order)

    def stage2(self) -> Stage2:
        """Return the training of the graph encoder."""
        config, encoders, graph, graph_model = self._config.stage2, self.encoders, self.graph, self.graph_model
        assert graph is not None
        assert graph_model is not None
        headings = heading_texts(graph.headings, heading_path=self._config.graph.heading_path)
        progress = self._job.options.progress
        texts = {
            HEADING: encoders.article_inputs(headings, progress),
            QUESTION: encoders.question_inputs(self._gold.texts, progress),
        }
        if CITING in graph.node_types:
            texts[CITING] = encoders.question_inputs([citing_text(text) for text in graph.citing], progress)
        sources = self._sources(config)
        negatives = self._negatives(config, sources)
        return Stage2(self.model, graph_model, texts, sources, config, negatives)

    def after_graph(self, stage2: Stage2) -> AfterGraph:
        """Return the distillation that follows a finished stage 2."""
        questions = self.encoders.question_inputs(self._gold.texts, self._job.options.progress)
        return AfterGraph(self.model, stage2.node_vectors(), self._gold, questions, self._config.stage2)

    @cached_property
    def _gold(self) -> PairSource:
        return gold_pairs(self._corpus)

    def _sources(self, config: Stage1Config | Stage2Config) -> dict[str, PairSource]:
        """Return the pairs that have a weight; citing texts where the corpus has any."""
        sources = {"gold": self._gold}
        if config.headings:
            sources["headings"] = heading_pairs(self._corpus)
        if config.citing and (citing := citing_pairs(self._corpus)).texts:
            sources["citing"] = citing
        if config.synthetic:
            sources["synthetic"] = self._synthetic
        return sources

    @cached_property
    def _bm25(self) -> BM25:
        return BM25(self.article_texts, language=self._corpus.language, **self._config.bm25.options)

    @cached_property
    def _synthetic(self) -> PairSource:
        def generated() -> list[dict[str, Any]]:
            partial = artifacts.partial_beside(self._job.folder / parts.SYNTHETIC)
            made = synthetic_questions(self._corpus, self._config.augment, self._job.generation, partial=partial)
            return [asdict(question) for question in made]

        questions = self._job.world.json_from_first(generated)
        return synthetic_pairs(self._corpus, [SyntheticQuestion(**question) for question in questions])

    def _negatives(
        self, config: Stage1Config | Stage2Config, sources: Mapping[str, PairSource]
    ) -> dict[str, NegativeSource]:
        """Return the hard negatives of each source of pairs that has some."""
        corpora = {"gold": self._corpus}
        if self._config.negatives.pairs == "all":
            corpora |= {name: self._asking(sources[name]) for name in ("synthetic", "citing") if name in sources}
        if len(corpora) > 1 and config.negatives == "cusines":
            raise UsageError("negatives.pairs: all needs hard negatives by bm25 (got cusines); set it to gold")
        make = NEGATIVES.load(config.negatives if config.negatives_per_pair else "none")
        made = {name: make(corpus, self._config.negatives, bm25=lambda: self._bm25) for name, corpus in corpora.items()}
        return {name: negatives for name, negatives in made.items() if negatives is not None}

    def _asking(self, source: PairSource) -> Corpus:
        """Return the corpus with a source's texts as its training questions."""
        ids = [article.article_id for article in self._corpus.articles]
        questions = [
            Question(f"{source.name} {row}", text, "train", tuple(ids[answer] for answer in source.answers_of(row)))
            for row, text in enumerate(source.texts)
        ]
        return replace(self._corpus, questions=tuple(questions))
