"""The guard of quality: what the systems find on the embedded sample, and what must stay equal to the bit.

Each `check_...` is what the tests assert of statgraph as it is. The tests of what the guard notices put a defect in and
assert that the check then fails.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
import torch

from statgraph.encoders.inference.query_encoder import read_query_encoder
from statgraph.evaluation.metrics import average_precision, recall
from statgraph.graph.blocks import Block, Blocks, BlockSampler
from statgraph.graph.build import LegalGraph, build_graph
from statgraph.graph.gnn.qabisar import QabisarLayer
from statgraph.graph.relations import ARTICLE, NODE_TYPES, QUESTION
from statgraph.law.catalogue import sample_folder
from statgraph.law.records import Corpus
from statgraph.law.store import read_corpus
from statgraph.retrieval.search.retriever import Retriever
from statgraph.runs import parts
from statgraph.systems.pipeline import train_run
from statgraph.systems.presets import resolve_config


@dataclass(frozen=True)
class Figures:
    """Means over the questions of a split: 79 on dev, 103 on test."""

    recall_at_10: float
    mean_average_precision: float


# Seconds in place of minutes: what `make test` trains, and the defect that needs a training of its own.
SHORT_STAGE1 = ("stage1.epochs=1", "stage1.min_epoch_steps=8")
SHORT = {"dsr": SHORT_STAGE1, "qabisar": (*SHORT_STAGE1, "stage2.epochs=2", "stage2.min_epoch_steps=8")}

# Of seed 0 on a CPU. One and two threads give the same figures to the last digit, and so does code for CPUs without
# AVX-512; seed 1 differs by up to 0.063 in R@10 and 0.014 in mAP. A whole training with one of the defects below is
# further off in mAP than the tolerance on both splits: labels 0.08 to 0.12, mean 0.015 to 0.02, inverted mask 0.03 to
# 0.04, no mask 0.019 to 0.04.
PINNED = {
    "bm25": {"dev": Figures(0.51582, 0.37052), "test": Figures(0.55987, 0.38280)},
    "dsr": {"dev": Figures(0.40401, 0.27151), "test": Figures(0.48706, 0.28132)},
    "dsr, short": {"dev": Figures(0.35865, 0.26995), "test": Figures(0.37379, 0.24855)},
    "qabisar": {"dev": Figures(0.48629, 0.28942), "test": Figures(0.44175, 0.27305)},
    "qabisar, short": {"dev": Figures(0.49262, 0.30348), "test": Figures(0.45146, 0.28237)},
}
TRAINED = Figures(0.02, 0.01)
TOLERANCE = dict.fromkeys(PINNED, TRAINED) | {"bm25": Figures(1e-4, 1e-4)}

GRAPH = "5507e676cf0d31113bc6bc4a0372d093cbe56f3785e53ffd35f7bb2cfd8a11fa"
BM25_RANKING = "61aee57b4532d69807fceb19a873e1197b59ad4374798bb235f276dd14a350e7"
QUERY_VECTORS = "439bdaf1757206da89ad982e8d53808f3287e4e00ea52ecd320a7a6a58347feb"
RANKING_DEPTH = 100


@pytest.fixture(scope="module")
def sample() -> Corpus:
    return read_corpus(sample_folder())


@pytest.fixture(scope="module")
def train(sample, tmp_path_factory) -> Callable[..., Path]:
    """Return a function that trains a system on the sample as `statgraph train --system NAME --device cpu` does, and
    returns the run folder."""

    def run(system: str, *settings: str, corpus: Corpus = sample, **options) -> Path:
        config = resolve_config(system, ("device=cpu", "seed=0", *settings))
        return train_run(corpus, config, tmp_path_factory.mktemp(system) / "run", **options).folder

    return run


@pytest.fixture(scope="module")
def bm25_run(train) -> Path:
    return train("bm25")


def test_what_bm25_finds(bm25_run, sample):
    check_figures("bm25", figures_of(bm25_run, sample))


@pytest.mark.real
@pytest.mark.parametrize("system", ["dsr", "qabisar"])
def test_what_the_systems_find(train, sample, system):
    check_figures(system, figures_of(train(system), sample))


# QABISAR's stage 1 is DSR's; what is wrong in it shows in QABISAR's figures too.
@pytest.mark.parametrize("system", [pytest.param("dsr", marks=pytest.mark.real), "qabisar"])
def test_what_a_short_training_finds(train, sample, system):
    check_figures(f"{system}, short", figures_of(train(system, *SHORT[system]), sample))


def test_the_graph_is_bit_equal(sample):
    check_graph(build_graph(sample))


def test_the_ranking_of_bm25_is_bit_equal(bm25_run, sample):
    check_bm25_ranking(bm25_run, sample)


def test_the_static_query_vectors_are_bit_equal(train, sample):
    check_query_vectors(train("dsr", "stage1.epochs=0"), sample)


def test_attention_is_the_papers_formula():
    check_attention()


def test_a_batch_does_not_see_the_edges_that_it_asks_for(train, sample):
    check_mask(first_blocks(train), build_graph(sample))


class TestTheGuardFails:
    """Each defect on purpose, and the check that notices it."""

    @pytest.mark.real  # of the figures that `make real` checks
    def test_when_the_labels_are_shuffled(self, train, sample):
        found = figures_of(train("dsr", *SHORT["dsr"], corpus=with_shuffled_labels(sample)), sample)
        with pytest.raises(AssertionError):
            check_figures("dsr, short", found)

    def test_when_attention_is_the_mean(self, monkeypatch):
        monkeypatch.setattr(QabisarLayer, "forward", mean_of_the_neighbourhood)
        with pytest.raises(AssertionError):
            check_attention()

    def test_when_the_mask_is_inverted(self, monkeypatch, train, sample):
        sample_blocks = BlockSampler.sample

        def inverted(sampler, output_nodes, *, target_questions, **options):
            others = torch.from_numpy(np.setdiff1d(np.arange(len(sample.split("train"))), target_questions.numpy()))
            return sample_blocks(sampler, output_nodes, target_questions=others, **options)

        monkeypatch.setattr(BlockSampler, "sample", inverted)
        with pytest.raises(AssertionError):
            check_mask(first_blocks(train), build_graph(sample))

    def test_when_nothing_is_masked(self, train, sample):
        with pytest.raises(AssertionError):
            check_mask(first_blocks(train, "graph.target_edges=keep"), build_graph(sample))

    def test_when_an_edge_is_lost(self, sample):
        questions = sample.questions
        first = next(place for place, question in enumerate(questions) if len(question.article_ids) > 1)
        fewer = replace(questions[first], article_ids=questions[first].article_ids[1:])
        with pytest.raises(AssertionError):
            check_graph(build_graph(replace(sample, questions=(*questions[:first], fewer, *questions[first + 1 :]))))

    def test_when_bm25_counts_otherwise(self, train, sample):
        with pytest.raises(AssertionError):
            check_bm25_ranking(train("bm25", "bm25.b=0.25"), sample)


def check_figures(system: str, found: dict[str, Figures]) -> None:
    """Raise AssertionError if a figure of a run is further from the pinned one than machines differ."""
    allowed = TOLERANCE[system]
    for split, pinned in PINNED[system].items():
        where = f"{system}, {split}: {found[split]}, pinned {pinned}"
        assert found[split].recall_at_10 == pytest.approx(pinned.recall_at_10, abs=allowed.recall_at_10), where
        assert found[split].mean_average_precision == pytest.approx(
            pinned.mean_average_precision, abs=allowed.mean_average_precision
        ), where


def check_graph(graph: LegalGraph) -> None:
    """Raise AssertionError if a node, an edge or the order of either has changed."""
    digest = hashlib.sha256()
    digest.update(repr((graph.article_ids, graph.question_ids, [node.path for node in graph.headings])).encode())
    for edge_type in graph.edge_types:
        digest.update(repr(edge_type).encode())
        for ends in graph.heterograph.edges(etype=edge_type):
            digest.update(ends.numpy().astype("<i8").tobytes())
    assert digest.hexdigest() == GRAPH


def check_bm25_ranking(run: Path, sample: Corpus) -> None:
    """Raise AssertionError if the best articles of a question, or their order, have changed."""
    rankings = Retriever.load(run, device="cpu").rank([question.text for question in sample.questions], RANKING_DEPTH)
    digest = hashlib.sha256(b"".join(ranked.rows.astype("<i8").tobytes() for ranked in rankings))
    assert digest.hexdigest() == BM25_RANKING


def check_query_vectors(run: Path, sample: Corpus) -> None:
    """Raise AssertionError if the questions' vectors before training have changed by more than another machine's sums
    could: inner products rounded to eighths, none of which lies within 2e-6 of where that rounds up. Products rather
    than vectors, since a principal component's sign depends on the number of threads; theirs differ by 6e-7 at most.
    """
    encoder = read_query_encoder(run / parts.QUERY_ENCODER, device="cpu")
    vectors = encoder.encode([question.text for question in sample.questions]).astype(np.float64)
    eighths = 8 * vectors[:16] @ vectors.T  # (16, questions)
    assert np.abs(eighths % 1 - 0.5).min() > 8 * 2e-6
    assert hashlib.sha256(np.rint(eighths).astype("<i1").tobytes()).hexdigest() == QUERY_VECTORS


def check_attention() -> None:
    """Raise AssertionError if a layer gives other vectors than QABISAR's equations 1 and 2, read literally."""
    torch.manual_seed(0)
    layer = QabisarLayer(4, n_heads=2, n_edge_types=2)
    for parameter in layer.parameters():
        torch.nn.init.normal_(parameter)
    nodes = torch.randn(4, 4)
    edges = ((1, 0, 0), (2, 0, 1), (3, 0, 1), (0, 1, 0), (3, 2, 1))  # source, target, edge type
    sources, targets, types = (torch.tensor(ends) for ends in zip(*edges, strict=True))
    with torch.no_grad():
        found = layer(nodes, Block(sources, targets, types, torch.arange(3), n_inputs=4))
        own, sent = layer.target_projection(nodes), layer.source_projection(nodes)
        kinds = layer.edge_projection(layer.edge_embeddings.weight)
        for node in range(3):
            neighbours = [(sent[source], kinds[kind]) for source, target, kind in edges if target == node]
            for head, part in enumerate((slice(0, 2), slice(2, 4))):
                logits = [
                    layer.source_attention[head] @ torch.nn.functional.leaky_relu(source[part], 0.2)
                    + layer.edge_attention[head] @ torch.nn.functional.leaky_relu(kind[part], 0.2)
                    for source, kind in [(sent[node], kinds[-1]), *neighbours]
                ]
                weights = torch.softmax(torch.stack(logits), dim=0)
                values = torch.stack([own[node, part], *(source[part] for source, _ in neighbours)])
                assert torch.allclose(found[node, part], weights @ values + layer.bias[part], atol=1e-5)


def check_mask(blocks: Blocks, graph: LegalGraph) -> None:
    """Raise AssertionError unless a batch's blocks hide the edges between its own questions and the articles, both ways
    and in every layer, and those of other questions can be seen."""
    seen: set[int] = set()
    rows = torch.cat([blocks.input_nodes[node_type] for node_type in NODE_TYPES])
    for layer in blocks.layers:
        outputs = rows[layer.own_inputs]
        for number, (source, _, target) in enumerate(graph.edge_types):
            if {source, target} == {ARTICLE, QUESTION}:
                of_type = layer.edge_types == number
                questions = rows[layer.sources[of_type]] if source == QUESTION else outputs[layer.targets[of_type]]
                seen.update(questions.tolist())
        rows = outputs
    assert seen
    assert not seen.intersection(blocks.output_nodes[QUESTION].tolist())


class SampledError(Exception):
    """Ends a training with the first blocks that it samples."""


def first_blocks(train: Callable[..., Path], *settings: str) -> Blocks:
    """Return the blocks of the first batch on which the graph encoder trains."""
    sample_blocks = BlockSampler.sample

    def sample_once(*args, **options) -> None:
        raise SampledError(sample_blocks(*args, **options))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(BlockSampler, "sample", sample_once)
        with pytest.raises(SampledError) as sampled:
            train("qabisar", *settings)
    return sampled.value.args[0]


def mean_of_the_neighbourhood(layer: QabisarLayer, nodes: torch.Tensor, block: Block) -> torch.Tensor:
    """Return what the layer would without attention: the mean over a node's neighbours and itself."""
    own, sent = layer.target_projection(block.own(nodes)), layer.source_projection(nodes)
    counts = 1 + torch.bincount(block.targets, minlength=block.n_outputs)
    return own.index_add(0, block.targets, sent[block.sources]) / counts.unsqueeze(1) + layer.bias


def with_shuffled_labels(corpus: Corpus) -> Corpus:
    """Return the corpus with each training question's articles given to another one."""
    train = corpus.split("train")
    order = np.random.default_rng(0).permutation(len(train))
    labels = {question.question_id: train[row].article_ids for question, row in zip(train, order, strict=True)}
    questions = (
        replace(question, article_ids=labels.get(question.question_id, question.article_ids))
        for question in corpus.questions
    )
    return replace(corpus, questions=tuple(questions))


def figures_of(run: Path, sample: Corpus) -> dict[str, Figures]:
    """Return what a run finds, by split."""
    retriever = Retriever.load(run, device="cpu")
    figures = {}
    for split in ("dev", "test"):
        questions = sample.split(split)
        rankings = retriever.rank([question.text for question in questions], len(sample.articles))
        labels = [list(rows) for rows in sample.label_rows(questions)]
        found = [np.isin(ranked.rows, relevant) for ranked, relevant in zip(rankings, labels, strict=True)]
        recalls = [recall(hits, len(relevant), cut=10) for hits, relevant in zip(found, labels, strict=True)]
        precisions = [average_precision(hits, len(relevant)) for hits, relevant in zip(found, labels, strict=True)]
        figures[split] = Figures(float(np.mean(recalls)), float(np.mean(precisions)))
    return figures
