"""Stage 2: the graph encoder, with the query encoder as its student, and the text encoders along where they train."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from statgraph.config import Stage2Config
from statgraph.device import on_device
from statgraph.distributed import current_world
from statgraph.encoders.biencoder import Inputs
from statgraph.graph.blocks import Block, Blocks, BlockSampler
from statgraph.graph.gnn.encoder import GraphEncoder
from statgraph.graph.relations import ARTICLE, HEADING, QUESTION
from statgraph.training.losses import contrastive_loss, distillation_losses, score_distillation, similarities
from statgraph.training.negatives.source import NegativeSource
from statgraph.training.pairs import PairMix, PairSource, answers_among
from statgraph.training.text_model import EncoderStage, NodeBank, TextModel, with_fresh

GRAPH_PREFIX, TEXT_PREFIX = "graph.", "text."
# The sources beside the gold pairs that teach the graph too; the others teach the text encoders alone.
_OF_THE_GRAPH = ("synthetic",)


@dataclass(frozen=True)
class GraphModel:
    """The graph encoder, the sampler of the blocks that train it (one a layer), and the block of all nodes, from which
    it answers."""

    encoder: GraphEncoder
    sampler: BlockSampler
    whole_graph: Block


@dataclass(frozen=True)
class GraphVectors:
    """Graph-enriched vectors of all articles (articles, width) and training questions (questions, width)."""

    articles: torch.Tensor
    questions: torch.Tensor


@dataclass(frozen=True)
class _Batch:
    """Pairs, the nodes they need (sorted rows without doubles), and the blocks of this process's share of them."""

    gold: np.ndarray  # (gold pairs, 2)
    beside: Mapping[str, np.ndarray]  # of the other sources by name, (pairs, 2)
    questions: np.ndarray  # (questions,)
    articles: np.ndarray  # (articles,)
    blocks: Blocks


@dataclass(frozen=True)
class _Vectors:
    """Of a batch: text vectors of its questions and articles, and the graph's of both."""

    student: torch.Tensor  # (questions, width)
    plain_articles: torch.Tensor | None  # (articles, width), where both encoders train
    teacher: torch.Tensor  # (questions, width)
    articles: torch.Tensor  # (articles, width)


class Stage2(EncoderStage):
    """Trains the graph encoder over sampled blocks.

    The block's outer nodes take their vectors from a bank: what the text encoders gave at the start of the epoch. What
    trains along (`train_encoders`) is encoded in each batch, with gradients: nothing (G-DSR, whose question vectors are
    computed once), the batch's questions for the student (QABISAR), or its questions and articles, for the graph too;
    then pairs of headings and citing texts keep teaching both beside the gold pairs. Synthetic questions, which are no
    nodes, teach the graph as well (G-DSR, section 4.2).

    Args:
        model: the text encoders of stage 1.
        graph: the graph encoder, which is trained, and its blocks.
        texts: the inputs of the nodes that are no articles, as `NodeBank` takes them.
        sources: the pairs by name: gold (the training questions with their articles, in the graph's question order),
            and headings, citing and synthetic where they have a weight.
        config: sizes, weights and rates.
        negatives: hard negatives of the pairs of each source that has some, by its name.
    """

    name = "stage2"
    uses_graph = True

    def __init__(
        self,
        model: TextModel,
        graph: GraphModel,
        texts: Mapping[str, Inputs],
        sources: Mapping[str, PairSource],
        config: Stage2Config,
        negatives: Mapping[str, NegativeSource],
    ):
        super().__init__(model, negatives)
        if config.train_encoders == "query":
            model.encoders.part()
        self._agreement: list[torch.Tensor] = []  # of the epoch's batches
        self._graph_encoder = graph.encoder
        self._sampler = graph.sampler
        whole = graph.whole_graph
        self._whole_graph = [whole.to(model.device)] * len(graph.encoder.layers)
        # The index holds articles, the first of the nodes: its last layer need give no others.
        last = whole if graph.encoder.needs_whole_graph else whole.first_outputs(len(model.articles))
        self._to_articles = [*self._whole_graph[:-1], last.to(model.device)]
        self._texts = texts
        self._gold = sources["gold"]
        self._trains_both = config.train_encoders == "both"
        taught = sources if self._trains_both else ("gold", *_OF_THE_GRAPH)
        self._config = config
        self._mix = PairMix({name: source for name, source in sources.items() if name in taught}, config)
        self.steps_per_epoch = self._mix.steps
        self._beside = {name: source for name, source in self._mix.sources.items() if name != "gold"}
        self._beside_inputs = {
            name: self._encoders.question_inputs(source.texts) for name, source in self._beside.items()
        }
        self._beside_vectors: dict[str, torch.Tensor] = {}  # (texts, width), where the question encoder is fixed
        if config.train_encoders == "none":
            self._beside_vectors = {
                name: torch.from_numpy(model.encoded(self._encoders.questions, inputs))
                for name, inputs in self._beside_inputs.items()
            }
        self._bank = NodeBank(model, texts)

    def parameter_groups(self) -> list[dict[str, Any]]:
        """Return the graph encoder's group, and those of the text encoders that train along."""
        config, encoders = self._config, self._encoders
        graph = {"params": list(self._graph_encoder.parameters()), "lr": config.lr}
        if config.train_encoders == "none":
            return [graph]
        groups_of = encoders.parameter_groups if self._trains_both else encoders.question_parameter_groups
        return [graph, *groups_of(lr=config.encoder_lr, weight_lr=config.encoder_weight_lr)]

    def weights(self) -> Mapping[str, torch.Tensor]:
        """Return the graph encoder's weights and what training can change in the text encoders."""
        graph = {GRAPH_PREFIX + name: tensor for name, tensor in self._graph_encoder.state_dict().items()}
        return graph | {TEXT_PREFIX + name: tensor for name, tensor in self._encoders.trained_state().items()}

    def load_weights(self, weights: Mapping[str, torch.Tensor]) -> None:
        self._graph_encoder.load_state_dict(_part(weights, GRAPH_PREFIX))
        self._encoders.load_trained_state(_part(weights, TEXT_PREFIX))
        self.weights_changed()

    def weights_changed(self) -> None:
        """Drop the articles' vectors, and mark the bank as outdated where the encoders that fill it train along: a
        batch still takes the vectors of the epoch's start from it, until it is renewed."""
        super().weights_changed()
        self._bank.is_outdated = self._trains_both

    def set_training(self, on: bool) -> None:
        super().set_training(on)
        self._graph_encoder.train(on)

    def begin_epoch(self, epoch: int, epochs: int) -> None:
        """Renew the bank where encoders train, and show the current model to the source of hard negatives."""
        self._agreement.clear()
        self._bank.renew()
        self._begin_negatives(epoch, epochs, self._texts[QUESTION])

    def batches(self, rng: np.random.Generator) -> Iterator[_Batch]:
        """Yield one pass over the gold pairs with their blocks."""
        generator = torch.Generator().manual_seed(int(rng.integers(2**62)))
        n_articles = len(self._model.articles)
        for beside in self._mix.epoch(rng):
            gold = beside.pop("gold")
            random = rng.integers(0, n_articles, self._config.random_negatives)
            hard = self._hard_negatives({"gold": gold, **beside}, self._config.negatives_per_pair, rng)
            questions = np.unique(gold[:, 0])
            articles = np.unique(
                np.concatenate([gold[:, 1], *(pairs[:, 1] for pairs in beside.values()), random, hard])
            )
            share = current_world().share
            blocks = self._sampler.sample(
                {ARTICLE: torch.from_numpy(share(articles)), QUESTION: torch.from_numpy(share(questions))},
                target_questions=torch.from_numpy(questions),
                target_pairs=torch.from_numpy(gold),
                generator=generator,
            )
            yield _Batch(gold, beside, questions, articles, blocks)

    def loss(self, batch: _Batch) -> torch.Tensor:
        """Return the batch's loss: each source's pairs weigh as many as they are."""
        config = self._config
        vectors = self._vectors(batch)
        answers = answers_among(self._gold, batch.questions, batch.articles)
        question = np.searchsorted(batch.questions, batch.gold[:, 0])
        asked = on_device(torch.from_numpy(question), self._model.device)
        similarity = self._encoders.similarity
        teacher = similarities(vectors.teacher, vectors.articles, similarity)  # (questions, articles)
        student = similarities(vectors.student, vectors.articles, similarity)
        self._note_agreement(vectors)
        contrastive = 0.0
        for scores, share in ((teacher, 1 - config.student_share), (student, config.student_share)):
            if share:
                contrastive = contrastive + share * self._contrastive(
                    scores[asked], answers[question], batch, batch.gold
                )
        loss = config.contrastive_weight * contrastive
        if config.joint and config.distillation_weight:
            # The student learns; the article vectors that it is compared over keep their own gradient.
            for distilled in distillation_losses(
                config, vectors.teacher, vectors.student, vectors.articles, similarity
            ):
                loss = loss + config.distillation_weight * distilled
        if not batch.beside:
            return loss
        total, count = len(batch.gold) * loss, len(batch.gold)
        for name, pairs in batch.beside.items():
            total, count = total + len(pairs) * self._beside_loss(name, batch, vectors), count + len(pairs)
        return total / count

    def dev_metrics(self) -> dict[str, float] | None:
        """Return the dev metrics and, after an epoch, how alike student and teacher were in its batches: `teacher
        cosine`, and `teacher KL` of the distributions over the batch's articles."""
        metrics = super().dev_metrics()
        if metrics is None or not self._agreement:
            return metrics
        cosine, divergence = torch.stack(self._agreement).mean(dim=0).tolist()
        return metrics | {"teacher cosine": round(cosine, 5), "teacher KL": round(divergence, 5)}

    @torch.no_grad()  # type: ignore[untyped-decorator]
    def _note_agreement(self, vectors: _Vectors) -> None:
        teacher, student = vectors.teacher.float(), vectors.student.float()
        divergence = score_distillation(
            teacher,
            student,
            vectors.articles,
            similarity=self._encoders.similarity,
            temperature=self._config.temperature,
        )
        self._agreement.append(torch.stack([functional.cosine_similarity(teacher, student).mean(), divergence]))

    def _new_index_vectors(self) -> np.ndarray:
        """Return the graph-enriched vectors of all articles."""
        articles = self._enriched(self._to_articles)[: len(self._model.articles)]
        return self._encoders.similarity.index_vectors(articles.float().cpu().numpy())

    def node_vectors(self) -> GraphVectors:
        """Return the vectors of articles and training questions in the whole graph, without gradients."""
        enriched = self._enriched(self._whole_graph)
        n_articles, n_headings = len(self._model.articles), len(self._texts[HEADING])
        questions = enriched[n_articles + n_headings :][: len(self._texts[QUESTION])]
        return GraphVectors(enriched[:n_articles], questions)

    @torch.no_grad()  # type: ignore[untyped-decorator]
    def _enriched(self, blocks: Sequence[Block]) -> torch.Tensor:
        """Return the vectors of the last block's outputs from all nodes as they are now."""
        self._bank.renew()
        return self._graph_encoder(self._bank.nodes, blocks)

    def input_vectors(self) -> dict[str, np.ndarray]:
        """Return the text vectors of all nodes by type, (nodes, width) float32: what `node_vectors` enriches."""
        self._bank.renew()
        return {node_type: vectors.float().cpu().numpy() for node_type, vectors in self._bank.by_type.items()}

    def _vectors(self, batch: _Batch) -> _Vectors:
        model, encoders, nodes, plain = self._model, self._encoders, batch.blocks.input_nodes, None
        inputs = {name: self._bank.by_type[name][on_device(rows, model.device)] for name, rows in nodes.items()}
        if self._config.train_encoders == "none":
            own = on_device(torch.from_numpy(current_world().share(batch.questions)), model.device)
            student = current_world().gathered(self._bank.by_type[QUESTION][own], len(batch.questions))
        else:
            student = model.vectors(encoders.questions, self._texts[QUESTION], batch.questions)
        if self._trains_both:
            plain = model.vectors(encoders.articles, model.articles, batch.articles)
            inputs[ARTICLE] = with_fresh(inputs[ARTICLE], nodes[ARTICLE], plain, batch.articles)
            inputs[QUESTION] = with_fresh(inputs[QUESTION], nodes[QUESTION], student, batch.questions)
        vectors = torch.cat(list(inputs.values()))
        enriched = self._graph_encoder(vectors, [block.to(model.device) for block in batch.blocks.layers])
        n_own = len(batch.blocks.output_nodes[ARTICLE])
        articles, teacher = enriched[:n_own], enriched[n_own:]
        articles = current_world().gathered(articles, len(batch.articles))
        return _Vectors(student, plain, current_world().gathered(teacher, len(batch.questions)), articles)

    def _beside_loss(self, name: str, batch: _Batch, vectors: _Vectors) -> torch.Tensor:
        """Return the contrastive loss of another source's pairs: synthetic questions by the graph's vectors of the
        articles, as gold ones, the others by the text encoders' own. In the graph an article would find the vector of
        its heading among its neighbours."""
        pairs = batch.beside[name]
        if name in self._beside_vectors:
            texts = on_device(self._beside_vectors[name][pairs[:, 0]], self._model.device)
        else:
            texts = self._model.vectors(self._encoders.questions, self._beside_inputs[name], pairs[:, 0])
        answers = answers_among(self._beside[name], pairs[:, 0], batch.articles)
        articles = vectors.articles if name in _OF_THE_GRAPH else vectors.plain_articles
        scores = similarities(texts, articles, self._encoders.similarity)
        return self._contrastive(scores, answers, batch, pairs)

    def _contrastive(self, scores: torch.Tensor, answers: np.ndarray, batch: _Batch, pairs: np.ndarray) -> torch.Tensor:
        own = np.searchsorted(batch.articles, pairs[:, 1])
        others = answers.copy()
        others[np.arange(len(pairs)), own] = False
        return contrastive_loss(
            scores,
            on_device(torch.from_numpy(own), self._model.device),
            on_device(torch.from_numpy(others), self._model.device),
            temperature=self._config.temperature,
        )


def _part(weights: Mapping[str, torch.Tensor], prefix: str) -> dict[str, torch.Tensor]:
    return {name.removeprefix(prefix): tensor for name, tensor in weights.items() if name.startswith(prefix)}
