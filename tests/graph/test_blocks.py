from collections import Counter

import pytest
import torch

from statgraph.config import GnnConfig
from statgraph.graph.blocks import BlockSampler, whole_graph_block
from statgraph.graph.build import LegalGraph, build_graph
from statgraph.graph.dgl_loader import load_dgl
from statgraph.graph.gnn.encoder import GraphEncoder
from statgraph.graph.relations import CITES, NODE_TYPES

ALL_RELATIONS = ("tree", "bipartite", "order")
CITATION_TYPES = {CITES.forward_type, CITES.reverse_type}
NONE = torch.empty(0, dtype=torch.int64)


@pytest.fixture(scope="module")
def dense_graph(random_corpus) -> LegalGraph:
    """60 articles, 20 questions that cite 12 each: an article has four questions on average."""
    return build_graph(random_corpus(60, 20, cited=12), ALL_RELATIONS)


def rows(*numbers: int) -> torch.Tensor:
    return torch.tensor(numbers, dtype=torch.int64)


def citations(edges) -> set[tuple[int, int]]:
    """Return (question, article) of the question-article edges, whichever way they run."""
    return {(s, t) if kind == CITES.forward_type else (t, s) for kind, s, t in edges if kind in CITATION_TYPES}


def into(edges, nodes) -> set:
    """Return the edges that end in one of the nodes, given as (type, row)."""
    return {edge for edge in edges if (edge[0][2], edge[2]) in nodes}


def expected_layers(edges, seeds, n_layers) -> list[set]:
    """Return each layer's edges of a full neighbourhood, walked back by hand from the seeds."""
    nodes = {(node_type, row) for node_type, numbers in seeds.items() for row in numbers.tolist()}
    layers = []
    for _ in range(n_layers):
        layers.insert(0, into(edges, nodes))
        nodes |= {(edge_type[0], source) for edge_type, source, _ in layers[0]}
    return layers


def random_encoder(graph: LegalGraph, n_layers: int) -> GraphEncoder:
    torch.manual_seed(3)
    config = GnnConfig(layers=n_layers, heads=3, dropout=0.3, first_gate=0.7)
    encoder = GraphEncoder(config, width=12, n_edge_types=len(graph.edge_types))
    for parameter in encoder.parameters():
        torch.nn.init.normal_(parameter, std=0.5)
    return encoder.eval()


def test_block_of_one_question(town, layer_edges):
    graph = build_graph(town)
    blocks = BlockSampler(graph, fanouts=[-1], target_edges="keep").sample({"question": rows(2)})
    assert layer_edges(graph, blocks) == [[(CITES.reverse_type, 3, 2)]]  # q3 cites L3
    assert {name: found.tolist() for name, found in blocks.input_nodes.items()} == {
        "article": [3],
        "heading": [],
        "question": [2],
    }
    (layer,) = blocks.layers
    assert (layer.n_inputs, layer.n_outputs) == (2, 1)
    assert (layer.sources.tolist(), layer.targets.tolist(), layer.edge_types.tolist()) == ([0], [0], [0])
    assert layer.own_inputs.tolist() == [1]


@pytest.mark.parametrize("n_layers", [1, 2, 3])
@pytest.mark.parametrize("target_edges", ["mask", "keep"])
def test_full_neighbourhood_is_exact(dense_graph, edges_of, layer_edges, n_layers, target_edges):
    seeds = {"article": rows(7, 3), "question": rows(5, 2), "heading": rows(1)}
    edges = edges_of(dense_graph)
    if target_edges == "mask":
        edges = {edge for edge in edges if not {question for question, _ in citations([edge])} & {5, 2}}
    sampler = BlockSampler(dense_graph, fanouts=[-1] * n_layers, target_edges=target_edges)
    found = layer_edges(dense_graph, sampler.sample(seeds))
    assert [set(layer) for layer in found] == expected_layers(edges, seeds, n_layers)
    assert [len(set(layer)) for layer in found] == [len(layer) for layer in found]


@pytest.mark.parametrize("n_layers", [1, 2, 3])
@pytest.mark.parametrize("relations", [ALL_RELATIONS, ("tree", "bipartite"), ("tree",), ("bipartite",), ()])
def test_blocks_give_what_the_whole_graph_gives(random_corpus, relations, n_layers):
    graph = build_graph(random_corpus(60, 20, cited=5), relations)
    encoder = random_encoder(graph, n_layers)
    vectors = {node_type: torch.randn(graph.node_counts[node_type], 12) for node_type in NODE_TYPES}
    everything = torch.cat([vectors[node_type] for node_type in NODE_TYPES])
    seeds = {"article": rows(40, 2, 17), "heading": rows(3), "question": rows(9, 0)}
    blocks = BlockSampler(graph, fanouts=[-1] * n_layers, target_edges="keep").sample(seeds)
    inputs = torch.cat([vectors[node_type][blocks.input_nodes[node_type]] for node_type in NODE_TYPES])
    with torch.no_grad():
        sampled = encoder(inputs, blocks.layers)
        whole = encoder(everything, [whole_graph_block(graph)] * n_layers)
    places = torch.cat([seeds["article"], seeds["heading"] + 60, seeds["question"] + 60 + len(graph.headings)])
    assert torch.allclose(sampled, whole[places], atol=1e-5)


@pytest.mark.parametrize("n_outputs", [1, 40, 60])
def test_first_outputs_are_the_first_of_the_whole(dense_graph, n_outputs):
    whole = whole_graph_block(dense_graph)
    first = whole.first_outputs(n_outputs)
    assert (first.n_inputs, first.n_outputs) == (whole.n_inputs, n_outputs)
    assert max(first.targets.tolist()) < n_outputs
    encoder, nodes = random_encoder(dense_graph, 2), torch.randn(whole.n_inputs, 12)
    with torch.no_grad():
        expected = encoder(nodes, [whole, whole])[:n_outputs]
        assert torch.allclose(encoder(nodes, [whole, first]), expected, atol=1e-5)


def test_same_seed_same_blocks_on_any_number_of_threads(random_corpus):
    # With threads of its own DGL numbers nodes in the order in which these meet them: it takes a batch of this size.
    graph = build_graph(random_corpus(6000, 1000, cited=8))
    sampler = BlockSampler(graph, fanouts=[4, -1], citation_dropout=0.3)
    seeds = {"article": torch.arange(5999, 4000, -1), "question": torch.arange(300)}
    threads = torch.get_num_threads()
    drawn = []
    try:
        for n_threads in (1, 4, 4, 2):
            torch.set_num_threads(n_threads)
            load_dgl().seed(5)
            drawn.append(sampler.sample(seeds, generator=torch.Generator().manual_seed(1)))
            assert torch.get_num_threads() == load_dgl().utils.get_num_threads() == n_threads
    finally:
        torch.set_num_threads(threads)
    for blocks in drawn[1:]:
        assert all(blocks.input_nodes[name].equal(drawn[0].input_nodes[name]) for name in NODE_TYPES)
        for layer, first in zip(blocks.layers, drawn[0].layers, strict=True):
            assert layer.sources.equal(first.sources)
            assert layer.targets.equal(first.targets)
            assert layer.edge_types.equal(first.edge_types)


def test_fanouts_limit_neighbours_per_node_and_relation(dense_graph, edges_of, layer_edges):
    seeds = {"article": torch.arange(60), "heading": rows(0, 1, 2)}
    found = layer_edges(dense_graph, BlockSampler(dense_graph, fanouts=[1, 3]).sample(seeds))
    degrees = Counter((edge_type, target) for edge_type, _, target in edges_of(dense_graph))
    assert max(degrees.values()) > 3
    for layer, fanout in zip(found, [1, 3], strict=True):
        kept = Counter((edge_type, target) for edge_type, _, target in layer)
        assert len(layer) == len(set(layer))
        assert all(count == min(fanout, degrees[place]) for place, count in kept.items())
    seeded = {(node_type, row) for node_type, numbers in seeds.items() for row in numbers.tolist()}
    assert kept.keys() == {(edge_type, target) for edge_type, target in degrees if (edge_type[2], target) in seeded}


def test_hidden_citations_take_no_places(dense_graph, edges_of, layer_edges):
    asked = set(range(0, 20, 2))
    sampler = BlockSampler(dense_graph, fanouts=[2])
    (found,) = layer_edges(
        dense_graph, sampler.sample({"article": torch.arange(60)}, target_questions=torch.tensor(sorted(asked)))
    )
    left = Counter(article for question, article in citations(edges_of(dense_graph)) if question not in asked)
    kept = Counter(target for edge_type, _, target in found if edge_type == CITES.forward_type)
    assert kept == Counter({article: min(2, count) for article, count in left.items()})


@pytest.mark.parametrize("fanout", [-1, 3])
def test_mask_hides_the_batchs_own_citations_and_no_others(dense_graph, edges_of, layer_edges, fanout):
    asked = {4, 11, 0}
    seeds = {"article": torch.arange(60), "question": rows(*asked)}
    found = layer_edges(dense_graph, BlockSampler(dense_graph, fanouts=[fanout] * 3).sample(seeds))
    for layer in found:
        assert not {question for question, _ in citations(layer)} & asked
    if fanout == -1:
        others = {pair for pair in citations(edges_of(dense_graph)) if pair[0] not in asked}
        # Into articles in every layer; back into the other questions in all but the last, which has no such output.
        assert [citations(layer) for layer in found] == [others] * 3
        kinds = [{edge[0] for edge in layer} & CITATION_TYPES for layer in found]
        assert kinds == [CITATION_TYPES, CITATION_TYPES, {CITES.forward_type}]


def test_target_questions_are_hidden_instead_of_the_seeds(town, layer_edges):
    graph = build_graph(town)
    sampler = BlockSampler(graph, fanouts=[-1])
    everything = {"article": torch.arange(6), "question": torch.arange(3)}
    (found,) = layer_edges(graph, sampler.sample(everything, target_questions=rows(0)))
    assert citations(found) == {(1, 0), (2, 3)}
    (found,) = layer_edges(graph, sampler.sample({"article": torch.arange(6)}, target_questions=rows(1, 2)))
    assert citations(found) == {(0, 0), (0, 1)}
    (found,) = layer_edges(graph, sampler.sample(everything, target_questions=NONE))
    assert citations(found) == {(0, 0), (0, 1), (1, 0), (2, 3)}


@pytest.mark.parametrize("fanout", [-1, 100])
@pytest.mark.parametrize("target_edges", ["mask", "keep"])
def test_citing_texts_of_the_batchs_own_questions_are_hidden_with_them(cited_town, layer_edges, fanout, target_edges):
    graph = build_graph(cited_town, ("citing",))
    sampler = BlockSampler(graph, fanouts=[fanout, fanout], target_edges=target_edges)
    everything = {"article": torch.arange(16), "citing": torch.arange(2)}

    def cited(*asked):
        (found, _) = layer_edges(graph, sampler.sample(everything, target_questions=rows(*asked)))
        edges = {(kind[0], source, target) for kind, source, target in found if "cit" in kind[1]}
        forward = {edge[1:] for edge in edges if edge[0] == "citing"}
        assert edges == {("citing", *pair) for pair in forward} | {("article", *pair[::-1]) for pair in forward}
        return forward

    # guide-1 belongs to question 0, guide-2 to none.
    assert cited(0) == ({(1, 5)} if target_edges == "mask" else {(0, 0), (0, 1), (1, 5)})
    assert cited(1, 2) == {(0, 0), (0, 1), (1, 5)}


def test_dropout_hides_citing_texts_too(cited_town, layer_edges):
    graph = build_graph(cited_town, ("citing",))
    sampler = BlockSampler(graph, fanouts=[-1], citation_dropout=1.0)
    assert layer_edges(graph, sampler.sample({"article": torch.arange(16)})) == [[]]


@pytest.mark.parametrize("fanout", [-1, 100])
def test_one_batch_leaves_no_mask_for_the_next(town, layer_edges, fanout):
    graph = build_graph(town)
    sampler = BlockSampler(graph, fanouts=[fanout])
    articles = torch.arange(6)
    sampler.sample({"article": articles, "question": rows(0, 1, 2)})
    assert len(citations(layer_edges(graph, sampler.sample({"article": articles}))[0])) == 4
    assert list(graph.heterograph.edges["cites"].data) == []  # the graph itself is never written to


def test_dropout_hides_an_articles_citations_all_or_none(dense_graph, edges_of, layer_edges):
    sampler = BlockSampler(dense_graph, fanouts=[-1, -1], target_edges="keep", citation_dropout=0.5)
    seeds = {"article": torch.arange(60), "question": torch.arange(20)}
    cited = Counter(article for _, article in citations(edges_of(dense_graph)))
    hidden_counts = []
    for seed in range(4):
        found = layer_edges(dense_graph, sampler.sample(seeds, generator=torch.Generator().manual_seed(seed)))
        for layer in found:
            kept = Counter(article for _, article in citations(layer))
            assert all(count == cited[article] for article, count in kept.items())
        hidden_counts.append(len(cited) - len(kept))
    assert all(15 < count < 45 for count in hidden_counts)  # of 60, each hidden with chance one half
    assert len(set(hidden_counts)) > 1


@pytest.mark.parametrize("seeds", [{}, {"article": NONE}, {"article": rows(3)}, {"article": rows(3), "heading": NONE}])
def test_types_without_seeds_have_no_outputs(dense_graph, seeds):
    blocks = BlockSampler(dense_graph, fanouts=[-1, -1]).sample(seeds)
    n_articles = len(seeds.get("article", NONE))
    counts = {name: len(found) for name, found in blocks.output_nodes.items()}
    assert counts == {"article": n_articles, "heading": 0, "question": 0}
    assert blocks.layers[-1].n_outputs == n_articles
    assert n_articles or [layer.n_inputs for layer in blocks.layers] == [0, 0]


def test_of_a_pair_only_its_own_edge_is_hidden(town, layer_edges):
    graph = build_graph(town)
    everything = {"article": torch.arange(6), "question": torch.arange(3)}

    def cited(pairs):
        sampler = BlockSampler(graph, fanouts=[-1], target_edges="pair")
        target = torch.tensor(pairs, dtype=torch.int64).reshape(-1, 2)
        (found,) = layer_edges(graph, sampler.sample(everything, target_pairs=target))
        return set(citations(found))

    every = cited([])
    assert len(every) == 4
    for pair in every:
        assert cited([pair, pair]) == every - {pair}
