"""A corpus of two interleaved codes, counted by hand, and random ones for what no hand counts."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch

from statgraph.graph.blocks import Blocks
from statgraph.graph.build import LegalGraph
from statgraph.law.catalogue import sample_folder
from statgraph.law.records import Article, Corpus, Question
from statgraph.law.store import read_corpus

LAMP, WELL, GENERAL, HOURS = "Lamp Code", "Well Code", "General", "Hours"

Edge = tuple[tuple[str, str, str], int, int]


@pytest.fixture
def town() -> Corpus:
    """Six articles under five headings, two of them called "General"; three training questions, one dev, one test."""
    paths = {
        "L1": (LAMP, GENERAL),
        "W1": (WELL, GENERAL),
        "L2": (LAMP, GENERAL, HOURS),
        "L3": (LAMP, GENERAL),
        "W2": (WELL,),
        "L4": (LAMP, GENERAL, HOURS),
    }
    return Corpus(
        name="town",
        language="en",
        licence="CC0",
        source="written for the tests",
        articles=tuple(
            Article(article_id, f"Art. {article_id}", "Lamps burn.", path, order)
            for order, (article_id, path) in enumerate(paths.items())
        ),
        questions=(
            Question("q0", "Who lights the lamps and covers the wells?", "train", ("L1", "W1")),
            Question("q1", "Who lights the lamps?", "train", ("L1",)),
            Question("q2", "When do lamps burn?", "dev", ("L2",)),
            Question("q3", "Who mends lamps?", "train", ("L3",)),
            Question("q4", "Who digs wells?", "test", ("W2",)),
        ),
    )


@pytest.fixture(scope="session")
def sample() -> Corpus:
    return read_corpus(sample_folder())


@pytest.fixture(scope="session")
def random_corpus() -> Callable[..., Corpus]:
    """Return a function that makes a corpus of three levels whose questions cite articles at random."""

    def make(n_articles: int, n_questions: int, *, cited: int, seed: int = 0) -> Corpus:
        rng = np.random.default_rng(seed)
        articles = tuple(
            Article(f"A{row}", "Art.", "Text.", (f"C{row % 2}", f"B{row // 9}", f"S{row // 3}"), row)
            for row in range(n_articles)
        )
        labels = [rng.choice(n_articles, cited, replace=False) for _ in range(n_questions)]
        questions = tuple(
            Question(f"q{row}", "Who?", "train", tuple(f"A{article}" for article in rows))
            for row, rows in enumerate(labels)
        )
        return Corpus("random", "en", "CC0", "drawn", articles, questions)

    return make


@pytest.fixture(scope="session")
def edges_of() -> Callable[[LegalGraph], set[Edge]]:
    """Return a function that lists a graph's edges as (edge type, source row, target row)."""

    def edges(graph: LegalGraph) -> set[Edge]:
        return {
            (edge_type, source, target)
            for edge_type in graph.edge_types
            for source, target in zip(*_rows(graph.heterograph.edges(etype=edge_type)), strict=True)
        }

    return edges


@pytest.fixture(scope="session")
def layer_edges() -> Callable[[LegalGraph, Blocks], list[list[Edge]]]:
    """Return a function that lists, for each layer of a batch, its edges as (edge type, source row, target row).

    It follows the numbering from `input_nodes` through `own_inputs` to `output_nodes` and checks that all agree.
    """

    def edges(graph: LegalGraph, blocks: Blocks) -> list[list[Edge]]:
        found = []
        nodes = _named(blocks.input_nodes)
        for layer in blocks.layers:
            assert layer.n_inputs == len(nodes)
            outputs = [nodes[place] for place in layer.own_inputs.tolist()]
            found.append([])
            for source, target, number in zip(*_rows((layer.sources, layer.targets, layer.edge_types)), strict=True):
                (source_type, source_row), (target_type, target_row) = nodes[source], outputs[target]
                edge_type = graph.edge_types[number]
                assert (edge_type[0], edge_type[2]) == (source_type, target_type)
                found[-1].append((edge_type, source_row, target_row))
            nodes = outputs
        assert nodes == _named(blocks.output_nodes)
        return found

    return edges


def _rows(tensors: tuple[torch.Tensor, ...]) -> list[list[int]]:
    return [tensor.tolist() for tensor in tensors]


def _named(rows: dict[str, torch.Tensor]) -> list[tuple[str, int]]:
    return [(node_type, row) for node_type, of_type in rows.items() for row in of_type.tolist()]
