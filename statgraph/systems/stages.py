"""From a configuration to its stages of training, each with what it draws from."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from pathlib import Path

import torch

from statgraph import artifacts
from statgraph.augmentation.records import SyntheticQuestion
from statgraph.augmentation.synthetic import partial_beside, synthetic_questions
from statgraph.config import RunConfig
from statgraph.corpus.records import Corpus
from statgraph.distributed import SINGLE, World
from statgraph.encoders.article_text import heading_text
from statgraph.encoders.biencoder import BiEncoder
from statgraph.gnn.encoder import GraphEncoder
from statgraph.graph.blocks import BlockSampler, whole_graph_block
from statgraph.graph.build import LegalGraph
from statgraph.lexical.bm25 import BM25
from statgraph.negatives.registry import negative_source
from statgraph.negatives.source import NegativeSource
from statgraph.training.distillation import AfterGraph
from statgraph.training.node_bank import GraphTexts
from statgraph.training.pairs import PairSource, gold_pairs, heading_pairs, synthetic_pairs
from statgraph.training.seeding import derived_seed
from statgraph.training.stage1 import Stage1, TrainingTexts
from statgraph.training.stage2 import Stage2


class StageBuilder:
    """Builds the stages of one run; what two of them need is made once.

    Args:
        corpus: what is trained on.
        config: the run's configuration.
        encoders: the text encoders, which every stage trains on.
        evaluation: articles and dev questions, prepared.
        article_texts: the articles as text, for BM25.
        folder: the run folder, where synthetic questions are kept.
        on_step: told how far the long steps are.
        world: the processes that train together.
    """

    def __init__(
        self,
        corpus: Corpus,
        config: RunConfig,
        encoders: BiEncoder,
        evaluation: TrainingTexts,
        *,
        article_texts: list[str],
        folder: Path,
        device: torch.device,
        on_step: Callable[[str, int, int], None],
        world: World = SINGLE,
    ):
        self._corpus = corpus
        self._config = config
        self._encoders = encoders
        self._evaluation = evaluation
        self._article_texts = article_texts
        self._folder = folder
        self._device = device
        self._on_step = on_step
        self._world = world

    def stage1(self) -> Stage1:
        """Return the training of the text encoders."""
        config = self._config.stage1
        return Stage1(
            self._encoders,
            self._evaluation,
            gold=self._gold,
            headings=self._headings if config.headings else None,
            synthetic=self._synthetic() if config.synthetic else None,
            negatives=self._negatives(config.negatives, config.negatives_per_pair),
            config=config,
            device=self._device,
            world=self._world,
        )

    def graph_encoder(self, graph: LegalGraph) -> GraphEncoder:
        """Return the graph encoder before training, the same for the same seed."""
        gnn = self._config.gnn
        torch.manual_seed(derived_seed(self._config.seed, "graph encoder"))
        return GraphEncoder(
            layer=gnn.layer,
            width=self._encoders.width,
            n_layers=gnn.layers,
            n_heads=gnn.heads,
            n_edge_types=len(graph.edge_types),
            dropout=gnn.dropout,
            first_gate=gnn.first_gate,
            unit_length=self._encoders.similarity.unit_length,
        ).to(self._device)

    def stage2(self, graph: LegalGraph, graph_encoder: GraphEncoder) -> Stage2:
        """Return the training of the graph encoder."""
        config, gnn = self._config.stage2, self._config.gnn
        headings = [heading_text(heading) for heading in graph.headings]
        return Stage2(
            self._encoders,
            graph_encoder,
            sampler=BlockSampler(
                graph,
                fanouts=[gnn.fanout] * gnn.layers,
                target_edges=self._config.graph.target_edges,
                citation_dropout=gnn.citation_dropout,
            ),
            whole_graph=whole_graph_block(graph),
            texts=GraphTexts(
                articles=self._evaluation.articles,
                headings=self._encoders.article_inputs(headings, self._on_step),
                questions=self._encoders.question_inputs(self._gold.texts, self._on_step),
            ),
            evaluation=self._evaluation,
            gold=self._gold,
            headings=self._headings if config.headings else None,
            negatives=self._negatives(config.negatives, config.negatives_per_pair),
            config=config,
            device=self._device,
            world=self._world,
        )

    def after_graph(self, stage2: Stage2) -> AfterGraph:
        """Return the distillation that follows a finished stage 2."""
        articles, teacher = stage2.node_vectors()
        return AfterGraph(
            self._encoders,
            questions=self._encoders.question_inputs(self._gold.texts, self._on_step),
            teacher=teacher,
            articles=articles,
            evaluation=self._evaluation,
            gold=self._gold,
            config=self._config.stage2,
            device=self._device,
            world=self._world,
        )

    @cached_property
    def _gold(self) -> PairSource:
        return gold_pairs(self._corpus)

    @cached_property
    def _headings(self) -> PairSource:
        return heading_pairs(self._corpus)

    @cached_property
    def _bm25(self) -> BM25:
        bm25 = self._config.bm25
        return BM25(self._article_texts, language=self._corpus.language, k1=bm25.k1, b=bm25.b)

    def _synthetic(self) -> PairSource:
        def generated() -> list[tuple[str, tuple[str, ...], str]]:
            questions = synthetic_questions(
                self._corpus,
                self._config.augment,
                seed=self._config.seed,
                device=self._device,
                progress=self._on_step,
                partial=partial_beside(self._folder / artifacts.RUN_SYNTHETIC),
            )
            return [(question.text, question.article_ids, question.generator) for question in questions]

        questions = [
            SyntheticQuestion(text, tuple(article_ids), generator)
            for text, article_ids, generator in self._world.json_from_first(generated)
        ]
        return synthetic_pairs(self._corpus, questions)

    def _negatives(self, name: str, per_pair: int) -> NegativeSource | None:
        if not per_pair:
            return None
        return negative_source(name, self._corpus, self._config.negatives, bm25=lambda: self._bm25)
