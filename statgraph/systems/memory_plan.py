"""What each stage of a dense run will take of a device's memory at most, by arithmetic: no model is loaded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import torch

from statgraph.config import RunConfig, Stage1Config, Stage2Config
from statgraph.corpus.records import Corpus
from statgraph.encoders.article_text import article_text
from statgraph.encoders.outline import Outline, outline_of
from statgraph.encoders.slices import BYTES_PER_PARAMETER, bytes_per_token, fitting_tokens
from statgraph.encoders.transformer_biencoder import TransformerBiEncoder
from statgraph.gnn.encoder import GraphEncoder, widths_of
from statgraph.graph.blocks import Blocks
from statgraph.graph.build import build_graph
from statgraph.graph.relations import ARTICLE, QUESTION
from statgraph.systems.dense import check_questions
from statgraph.systems.stages import block_sampler
from statgraph.training.pairs import batch_shares, gold_pairs

_FLOAT = 4  # bytes
TOKENS_PER_WORD = 1.5
_DRAWS = 20  # batches, of which the largest counts
# Of each layer and component, bytes that a graph layer keeps for a node and for an edge, and what its backward pass
# adds while it runs: those of GATv2's layer, which forms the vectors of edges; others take less.
_NODE_KEPT, _EDGE_KEPT, _NODE_PASSING, _EDGE_PASSING = 30, 18, 12, 10
# Tensors of (pairs, articles) float32 that a loss has at a time.
_SCORE_TENSORS = 10


@dataclass(frozen=True)
class StageMemory:
    """The parts of a stage's peak on the device, in bytes.

    Attributes:
        stage: its name.
        batch: what a batch has at most, in words.
        n_trained: parameters that train.
        weights: all parameters, the gradients and the optimiser's moments.
        tokens: what the transformers keep for the gradient.
        graph: the graph layers, and the vectors of all nodes.
        scores: the losses.
        slice_tokens: the most tokens encoded at once; 0 where all of them are.
    """

    stage: str
    batch: str
    n_trained: int
    weights: int
    tokens: int = 0
    graph: int = 0
    scores: int = 0
    slice_tokens: int = 0

    @property
    def peak(self) -> int:
        """Return the sum of the parts."""
        return self.weights + self.tokens + self.graph + self.scores


def memory_plan(corpus: Corpus, config: RunConfig, *, memory: int, half: bool = True) -> list[StageMemory]:
    """Return the stages of a dense run on a device of so many bytes of memory, in their order.

    Texts are taken to have 1.5 tokens a word, chunks to be full, and of 20 batches drawn the largest counts.

    Args:
        half: whether the device trains in 16 bits.

    Raises:
        CorpusError: if the corpus has no training questions.
        UsageError, ModelError: if the backbone is static, or its sizes are not known here.
    """
    check_questions(corpus, config)
    plan = _Plan(corpus, config, memory, half)
    stages = [plan.adaptation()] if config.encoder.adapted else []
    if config.stage1.epochs and plan.encoders.parameter_groups(lr=1.0, weight_lr=1.0):
        stages.append(plan.stage1())
    return [*stages, plan.stage2()] if config.stage2.epochs else stages


class _Plan:
    def __init__(self, corpus: Corpus, config: RunConfig, memory: int, half: bool):
        self._corpus = corpus
        self._config = config
        self._memory = memory
        self._half = half
        self._rng = np.random.default_rng(0)

    @cached_property
    def _outline(self) -> Outline:
        return outline_of(self._config.encoder)

    @property
    def encoders(self) -> TransformerBiEncoder:
        """Return the text encoders, without weights."""
        return self._outline.pair

    def adaptation(self) -> StageMemory:
        """Return the masked-language modelling: one tower, a head over at most the whole vocabulary."""
        pretrain, tower = self._config.pretrain, self._outline.article_model
        about = tower.config
        tokens = pretrain.batch_size * min(pretrain.max_tokens, about.max_position_embeddings)
        head = about.hidden_size * (about.hidden_size + 3) + about.vocab_size
        n_trained = _size(tower.parameters()) + head
        hidden = round(pretrain.mask_share * tokens)
        return StageMemory(
            "adaptation",
            f"{pretrain.batch_size} blocks of {tokens // pretrain.batch_size} tokens",
            n_trained,
            weights=BYTES_PER_PARAMETER * n_trained,
            tokens=tokens * bytes_per_token(about, half=self._half),
            scores=hidden * about.vocab_size * 3 * _FLOAT,
        )

    def stage1(self) -> StageMemory:
        """Return the training of the text encoders."""
        config = self._config.stage1
        names = ("gold", "headings", "citing", "synthetic")
        sizes = self._shares(config, names)
        negatives = sizes["gold"] * config.negatives_per_pair if config.negatives != "none" else 0
        chunks = max(self._chunks_of(self._drawn(sizes, negatives)) for _ in range(_DRAWS))
        n_articles = sum(sizes.values()) + negatives
        trained = self.encoders.parameter_groups(lr=1.0, weight_lr=1.0)
        return StageMemory(
            "stage 1",
            f"{config.batch_size} questions, {n_articles} articles in {chunks} chunks",
            _size(parameter for group in trained for parameter in group["params"]),
            weights=self._weights(trained),
            tokens=self._kept([self._question_tokens(size) for size in sizes.values()], chunks),
            scores=_SCORE_TENSORS * config.batch_size * n_articles * _FLOAT,
            slice_tokens=self._slice,
        )

    def stage2(self) -> StageMemory:
        """Return the training of the graph encoder, the text encoders along where they train."""
        config, encoders = self._config.stage2, self.encoders
        along = config.train_encoders
        graph = build_graph(self._corpus, self._config.graph.relations)
        with torch.device("meta"):
            gnn = self._config.gnn
            graph_encoder = GraphEncoder(gnn, width=encoders.width, n_edge_types=len(graph.edge_types))
        groups = [{"params": list(graph_encoder.parameters())}]
        if along != "none":
            of = encoders.parameter_groups if along == "both" else encoders.question_parameter_groups
            groups += of(lr=1.0, weight_lr=1.0)
        names = ("gold", "headings", "citing", "synthetic") if along == "both" else ("gold", "synthetic")
        sizes = self._shares(config, names)
        negatives = sizes["gold"] * config.negatives_per_pair if config.negatives != "none" else 0
        articles = np.unique(self._drawn(sizes, negatives + config.random_negatives))
        questions = np.unique(self._rng.integers(0, len(self._corpus.split("train")), sizes["gold"]))
        n_questions = len(questions) + sum(sizes.values()) - sizes["gold"]
        blocks = block_sampler(self._config, graph).sample(
            {ARTICLE: torch.from_numpy(articles), QUESTION: torch.from_numpy(questions)},
            generator=torch.Generator().manual_seed(0),
        )
        chunks = self._chunks_of(articles) if along == "both" else 0
        asked = [self._question_tokens(size) for size in sizes.values()] if along != "none" else []
        n_nodes = sum(graph.node_counts.values())
        return StageMemory(
            "stage 2",
            f"{n_questions} questions, {len(articles)} articles" + (f" in {chunks} chunks" if chunks else "")
            + f", {blocks.layers[0].n_inputs} nodes, {sum(len(block.sources) for block in blocks.layers)} edges",
            _size(parameter for group in groups for parameter in group["params"]),
            weights=self._weights(groups),
            tokens=self._kept(asked, chunks),
            graph=graph_bytes(blocks, widths_of(gnn, encoders.width)) + n_nodes * encoders.width * _FLOAT,
            scores=_SCORE_TENSORS * config.batch_size * len(articles) * _FLOAT,
            slice_tokens=self._slice if along != "none" else 0,
        )  # fmt: skip

    @cached_property
    def _slice(self) -> int:
        """Return the most tokens encoded at once, 0 for any number."""
        encoders, asked = self.encoders, self._config.encoder.slice_tokens
        if encoders.frozen or asked >= 0 or not self._half:
            return 0 if encoders.frozen else max(0, asked)
        n_trained = _size(parameter for parameter in encoders.parameters() if parameter.requires_grad)
        return fitting_tokens(self._about, self._memory, n_parameters=n_trained)

    @property
    def _about(self):
        """Return the transformers configuration."""
        return self._outline.article_model.config

    def _weights(self, groups: Sequence[dict]) -> int:
        """Return the bytes of the parameters that a stage trains and of the other ones of the encoders."""
        trained = {id(parameter): parameter for group in groups for parameter in group["params"]}
        others = [parameter for parameter in self.encoders.parameters() if id(parameter) not in trained]
        return BYTES_PER_PARAMETER * _size(trained.values()) + _FLOAT * _size(others)

    def _kept(self, question_tokens: Sequence[int], chunks: int) -> int:
        """Return the bytes kept for the gradient of questions and of articles of so many chunks: whole where they are
        no more than a slice, else one slice at a time; and of the layers over the chunks."""
        config = self._config.encoder
        over = SimpleNamespace(hidden_size=self.encoders.width, num_hidden_layers=config.article_layers)
        above = chunks * bytes_per_token(over, half=self._half)
        if self.encoders.frozen:
            return above
        calls = [*question_tokens, chunks * min(config.chunk_tokens, config.max_tokens)]
        whole = [tokens for tokens in calls if not 0 < self._slice < tokens]
        held = sum(whole) + (self._slice if len(whole) < len(calls) else 0)
        return above + held * bytes_per_token(self._about, half=self._half)

    def _shares(self, config: Stage1Config | Stage2Config, names: Sequence[str]) -> dict[str, int]:
        weights = {name: getattr(config, name) for name in names}
        if "citing" in weights and not self._corpus.usable_citing():
            weights["citing"] = 0
        return batch_shares(weights, config.batch_size)

    def _drawn(self, sizes: dict[str, int], n_others: int) -> np.ndarray:
        """Return the articles of a batch: those of gold pairs, and others by chance, which headings and negatives are
        taken to be."""
        gold = self._rng.choice(self._gold, sizes["gold"])
        n_others += sum(sizes.values()) - sizes["gold"]
        return np.concatenate([gold, self._rng.integers(0, len(self._corpus.articles), n_others)])

    @cached_property
    def _gold(self) -> np.ndarray:
        return gold_pairs(self._corpus).pairs[:, 1]

    @cached_property
    def _chunk_counts(self) -> np.ndarray:
        config = self._config.encoder
        room = max(1, min(config.chunk_tokens, config.max_tokens) - 2)
        most = max(1, config.max_tokens // max(1, config.chunk_tokens))
        texts = (article_text(article, heading_path=config.heading_path) for article in self._corpus.articles)
        tokens = np.array([TOKENS_PER_WORD * len(text.split()) for text in texts])
        return np.clip(np.ceil(tokens / room), 1, most).astype(int)

    def _chunks_of(self, articles: np.ndarray) -> int:
        return int(self._chunk_counts[articles].sum())

    def _question_tokens(self, n_questions: int) -> int:
        """Return the tokens of so many questions, each padded to the longest."""
        words = max((len(question.text.split()) for question in self._corpus.split("train")), default=1)
        return n_questions * min(int(TOKENS_PER_WORD * words) + 2, self._outline.question_tokens)


def graph_bytes(blocks: Blocks, widths: Sequence[int]) -> int:
    """Return what the graph layers keep for the gradient and take on the way back, without the CPU's faster ways.

    Args:
        blocks: one a layer.
        widths: components of the vectors before, between and behind the layers. What a layer makes is as wide as what
            comes out; its input, and the gradient of that, as what goes in.
    """
    kept, most = 0, 0  # the last layer goes back first, and gives its own free
    for (before, after), block in zip(pairwise(widths), blocks.layers, strict=True):
        inputs = _FLOAT * (before - after) * block.n_inputs
        kept += after * (_NODE_KEPT * block.n_inputs + _EDGE_KEPT * len(block.sources)) + inputs
        passing = after * (_NODE_PASSING * block.n_inputs + _EDGE_PASSING * len(block.sources)) + inputs
        most = max(most, kept + passing)
    return most


def _size(parameters) -> int:
    return sum(parameter.numel() for parameter in parameters)
