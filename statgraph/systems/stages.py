"""From a configuration to its stages of training, each with what it draws from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from functools import cached_property
from typing import Any

import torch

from statgraph import artifacts
from statgraph.augmentation.store import SyntheticQuestion
from statgraph.augmentation.synthetic import synthetic_questions
from statgraph.config import RunConfig, Stage1Config, Stage2Config
from statgraph.encoders.article_text import article_texts, citing_text, heading_texts
from statgraph.encoders.biencoder import BiEncoder
from statgraph.encoders.building import build_biencoder
from statgraph.errors import CorpusError, UsageError, option
from statgraph.graph.blocks import BlockSampler, whole_graph_block
from statgraph.graph.build import LegalGraph
from statgraph.graph.gnn.encoder import GraphEncoder
from statgraph.graph.relations import CITING, HEADING, QUESTION
from statgraph.graph.store import graph_for
from statgraph.law.records import Corpus, Question
from statgraph.registry import NEGATIVES
from statgraph.retrieval.lexical.bm25 import BM25
from statgraph.runs import parts
from statgraph.systems.job import Job
from statgraph.training.distillation import AfterGraph
from statgraph.training.negatives.source import Bm25Source, NegativeSource
from statgraph.training.pairs import (
    PairSource,
    citing_pairs,
    gold_pairs,
    heading_pairs,
    question_order,
    synthetic_pairs,
)
from statgraph.training.pretraining import adapted_backbone
from statgraph.training.seeding import derived_seed, seed_everything
from statgraph.training.stage1 import Stage1
from statgraph.training.stage2 import GraphModel, Stage2
from statgraph.training.text_model import TextModel


class StageBuilder:
    """Builds the stages of one run; what two of them need is made once.

    Raises:
        CorpusError, UsageError: as `train_dense`.
    """

    def __init__(self, job: Job):
        self._job, self._corpus, self._config = job, job.corpus, job.config
        corpus, config, clock = job.corpus, job.config, job.clock
        if (config.stage1.epochs or config.stage2.epochs) and not corpus.split("train"):
            raise CorpusError(
                f"{corpus.name}: has no training questions; add some, each with an article that answers it, to the "
                f"questions that you import, or use {option('system')} ensemble"
            )
        self.graph: LegalGraph | None = None
        self.graph_model: GraphModel | None = None
        if config.stage2.epochs:
            with clock.step("graph"):
                self.graph, origin = graph_for(corpus, config.graph.relations, job.options.graph_folder)
                if origin and job.world.is_first:
                    job.options.announce(f"graph {origin}")
                sampler = BlockSampler(
                    self.graph,
                    fanouts=[config.gnn.fanout] * config.gnn.layers,
                    target_edges=config.graph.target_edges,
                    citation_dropout=config.gnn.citation_dropout,
                )
        self.article_texts = article_texts(corpus.articles, heading_path=config.encoder.heading_path)
        self.encoders = _encoders(job, self.article_texts)
        if self.graph is not None:
            torch.manual_seed(derived_seed(config.seed, "graph encoder"))
            encoder = GraphEncoder(
                config.gnn,
                width=self.encoders.width,
                n_edge_types=len(self.graph.edge_types),
                unit_length=self.encoders.similarity.unit_length,
            )
            self.graph_model = GraphModel(encoder.to(job.device), sampler, whole_graph_block(self.graph))
        with clock.step("article inputs"):
            dev, progress = corpus.split("dev"), job.options.progress
            self.model = TextModel(
                self.encoders,
                articles=self.encoders.article_inputs(self.article_texts, progress),
                dev_questions=self.encoders.question_inputs([question.text for question in dev], progress),
                dev_labels=corpus.label_rows(dev),
                device=job.device,
            )

    @property
    def trains_encoders(self) -> bool:
        """Return whether there is a first stage, which has weights to train."""
        return bool(self._config.stage1.epochs and self.encoders.parameter_groups(lr=1.0, weight_lr=1.0))

    def stage1(self) -> Stage1:
        """Return the training of the text encoders."""
        config = self._config.stage1
        sources = self._sources(config)
        negatives = hard_negatives(self._corpus, self._config, config, sources, lambda: self._bm25)
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
        negatives = hard_negatives(self._corpus, self._config, config, sources, lambda: self._bm25)
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


def hard_negatives(
    corpus: Corpus,
    config: RunConfig,
    stage: Stage1Config | Stage2Config,
    sources: Mapping[str, PairSource],
    bm25: Bm25Source,
) -> dict[str, NegativeSource]:
    """Return the hard negatives of each source of pairs that has some."""
    corpora = {"gold": corpus}
    if config.negatives.pairs == "all":
        corpora |= {name: _asking(corpus, sources[name]) for name in ("synthetic", "citing") if name in sources}
    if len(corpora) > 1 and stage.negatives == "cusines":
        raise UsageError("negatives.pairs: all needs hard negatives by bm25 (got cusines); set it to gold")
    make = NEGATIVES.load(stage.negatives if stage.negatives_per_pair else "none")
    made = {name: make(asking, config.negatives, bm25=bm25) for name, asking in corpora.items()}
    return {name: negatives for name, negatives in made.items() if negatives is not None}


def _asking(corpus: Corpus, source: PairSource) -> Corpus:
    """Return the corpus with a source's texts as its training questions."""
    ids = [article.article_id for article in corpus.articles]
    questions = [
        Question(f"{source.name} {row}", text, "train", tuple(ids[answer] for answer in source.answers_of(row)))
        for row, text in enumerate(source.texts)
    ]
    return replace(corpus, questions=tuple(questions))


def _encoders(job: Job, article_texts: Sequence[str]) -> BiEncoder:
    """Return the text encoders before training; the first process prepares what the others find on disk."""
    config, adapted = job.config, None
    if config.encoder.adapted:
        with job.clock.step("adaptation to the statutes"), job.world.first_goes_first():
            adapted = adapted_backbone(config, job.corpus, job.device, job.options.progress)
    seed_everything(derived_seed(config.seed, "encoders"))
    texts = [*article_texts, *(question.text for question in job.corpus.split("train"))]
    with job.clock.step("encoders"), job.world.first_goes_first():
        return build_biencoder(config.encoder, texts, job.device, adapted=adapted)
