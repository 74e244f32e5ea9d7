import math

import pytest
import torch

from statgraph.config import GnnConfig
from statgraph.errors import RunError
from statgraph.graph.gnn.encoder import GraphEncoder, read_graph_encoder, write_graph_encoder
from statgraph.registry import LAYERS


def new_encoder(*, width: int = 4, **changed) -> GraphEncoder:
    return GraphEncoder(GnnConfig(**{"heads": 2, "dropout": 0.0, **changed}), width=width, n_edge_types=3)


@pytest.fixture
def encoder_of():
    """Return a function that makes an encoder, its attention even: all logits are 0."""

    def make(**changed) -> GraphEncoder:
        torch.manual_seed(4)
        encoder = new_encoder(**changed)
        with torch.no_grad():
            for layer in encoder.layers:
                layer.source_attention.zero_()
                layer.edge_attention.zero_()
        return encoder

    return make


@pytest.fixture
def path(block_of):
    """Return two nodes, the second of which points at the first."""
    return block_of([(1, 0, 0)], n_inputs=2)


EAST_AND_NORTH = torch.tensor([[1.0, 0.0], [0.0, 1.0]])


@pytest.mark.parametrize(
    ("gate", "first"),
    [
        (0.0, (1.0, 0.0)),
        (1.0, (1.5, 0.5)),  # (1, 0) + ((1, 0) + (0, 1)) / 2
        (0.5, (1.25, 0.25)),
    ],
)
def test_one_layer_smooths(encoder_of, path, gate, first):
    encoder = encoder_of(width=2, heads=1, layers=1, first_gate=gate)
    length = math.hypot(*first)
    assert encoder(EAST_AND_NORTH, [path]).tolist() == [
        pytest.approx([component / length for component in first]),
        pytest.approx([0.0, 1.0]),
    ]


def test_an_activation_stands_behind_the_layer_and_not_behind_the_sum(encoder_of, path):
    # The first node's update is ((-1, 0) + (0, 1)) / 2 = (-.5, .5), of which the ReLU leaves (0, .5).
    nodes = torch.tensor([[-1.0, 0.0], [0.0, 1.0]])
    plain, cut = (encoder_of(width=2, heads=1, layers=1, activation=name)(nodes, [path]) for name in ("none", "relu"))
    assert plain[0].tolist() == pytest.approx([-1.5 / math.sqrt(2.5), 0.5 / math.sqrt(2.5)])
    assert cut[0].tolist() == pytest.approx([-1 / math.sqrt(1.25), 0.5 / math.sqrt(1.25)])


def test_two_layers_smooth_twice(encoder_of, path):
    # After the first layer (1.5, 0.5) and (0, 2); after the second (1.5, 0.5) + (1.5, 2.5) / 2 = (2.25, 1.75).
    out = encoder_of(width=2, heads=1)(EAST_AND_NORTH, [path, path])
    length = math.hypot(2.25, 1.75)
    assert out.tolist() == [pytest.approx([2.25 / length, 1.75 / length]), pytest.approx([0.0, 1.0])]


def test_blocks_narrow_to_the_outputs(encoder_of, block_of):
    # Nodes a, b, c in a chain c -> b -> a: the first block computes b and a, the second a alone.
    blocks = [
        block_of([(2, 0, 0), (1, 1, 0)], n_inputs=3, own_inputs=[1, 0]),
        block_of([(0, 0, 0)], n_inputs=2, own_inputs=[1]),
    ]
    a, b, c = torch.eye(4)[:3]
    after_b, after_a = b + (b + c) / 2, a + (a + b) / 2
    expected = after_a + (after_a + after_b) / 2
    assert torch.allclose(encoder_of()(torch.stack([a, b, c]), blocks), (expected / expected.norm()).unsqueeze(0))


def test_dropout_leaves_the_residual_whole(random_block):
    encoder = new_encoder(layers=1, dropout=0.999999).train()
    nodes, block = torch.nn.functional.normalize(torch.randn(7, 4), dim=1), random_block()
    assert torch.allclose(encoder(nodes, [block]), nodes[block.own_inputs], atol=1e-6)


def test_without_residuals_a_layer_takes_the_place_of_its_input(encoder_of, path):
    # (1, 0) and (0, 1) become (.5, .5) and (0, 1), then (.25, .75) and (0, 1).
    encoder = encoder_of(width=2, heads=1, residual=False)
    out = encoder(EAST_AND_NORTH, [path, path])
    assert out.tolist() == [
        pytest.approx([0.25 / math.sqrt(0.625), 0.75 / math.sqrt(0.625)]),
        pytest.approx([0.0, 1.0]),
    ]
    assert encoder.gates is None


@pytest.mark.parametrize("layer", LAYERS.built_in)
def test_wider_layers_start_as_the_others_do(block_of, layer):
    block = block_of([(1, 0, 0), (2, 1, 0), (0, 2, 0)], n_inputs=3)
    nodes, widths = torch.randn(3, 4, generator=torch.Generator().manual_seed(0)), []
    plain, wide = (
        new_encoder(layer=layer, layers=3, residual=False, expansion=expansion, heads=1) for expansion in (1, 3)
    )
    for layer_of_wide in wide.layers:
        layer_of_wide.register_forward_hook(lambda _, __, out: widths.append(out.shape[1]))
    out = wide(nodes, [block] * 3)
    assert widths == [12, 12, 4]
    if layer in ("gcn", "graphsage", "k-gnn"):  # attention starts at random
        assert torch.allclose(out, plain(nodes, [block] * 3), atol=1e-6)


# G-DSR, table 4: the parameters of each layer, three of them over vectors of 768 components.
@pytest.mark.parametrize(
    ("layer", "millions"), [("gcn", 14), ("gat", 14), ("graphsage", 28), ("k-gnn", 28), ("gatv2", 28)]
)
def test_the_papers_width_has_the_papers_number_of_parameters(layer, millions):
    with torch.device("meta"):
        encoder = new_encoder(layer=layer, layers=3, heads=8, residual=False, expansion=4, width=768)
    assert round(sum(parameter.numel() for parameter in encoder.parameters()) / 1e6) == millions


@pytest.mark.parametrize("layer", ["qabisar", "qabisar-v2", "gatv2", "gat"])
def test_the_last_attention_is_that_of_the_last_layer(random_block, block_of, layer):
    torch.manual_seed(4)
    encoder = new_encoder(layer=layer, first_gate=0.5)
    first, last = random_block(), block_of([(1, 0, 2), (4, 0, 1), (2, 1, 0)], n_inputs=5, own_inputs=[0, 3])
    nodes = torch.randn(7, 4)
    between = nodes[first.own_inputs] + 0.5 * encoder.layers[0](nodes, first)
    edges, own = encoder.last_attention(nodes, [first, last])
    expected_edges, expected_own = encoder.layers[1].attention_weights(between, last)
    assert torch.equal(edges, expected_edges)
    assert torch.equal(own, expected_own)
    assert torch.allclose(edges[0] + edges[1] + own[0], torch.ones(2))


@pytest.mark.parametrize("layer", ["gcn", "graphsage", "k-gnn"])
def test_a_layer_without_attention_has_no_last_attention(path, layer):
    encoder = new_encoder(layer=layer)
    assert encoder.last_attention(torch.zeros(2, 4), [path, path]) is None


CONFIG = GnnConfig(layer="gcn", layers=2, heads=1, dropout=0.5)
SHAPE = {"width": 4, "n_edge_types": 3, "unit_length": True}


@pytest.fixture
def saved(tmp_path):
    """Return (path, encoder) of an encoder whose gates are 0.25 and 4."""
    encoder = GraphEncoder(CONFIG, **SHAPE)
    encoder.gates.data = torch.tensor([0.25, 4.0])
    write_graph_encoder(encoder, tmp_path / "graph.safetensors")
    return tmp_path / "graph.safetensors", encoder


def test_it_comes_back_with_its_weights_and_without_dropout(saved, block_of):
    path, encoder = saved
    read = read_graph_encoder(path, CONFIG, **SHAPE)
    assert read.gates.tolist() == [0.25, 4.0]
    nodes, block = torch.randn(3, 4), block_of([(0, 1, 0), (2, 1, 1)], n_inputs=3)
    assert torch.equal(read(nodes, [block, block]), encoder.eval()(nodes, [block, block]))


@pytest.mark.parametrize(
    ("name", "width", "reason"),
    [
        ("none", 4, "not readable"),
        ("graph.safetensors", 6, "not the graph encoder of this run"),
        ("damaged", 4, "not readable"),
    ],
)
def test_another_or_a_damaged_file_is_refused(saved, name, width, reason):
    saved[0].with_name("damaged").write_bytes(b"\xff" * 64)
    with pytest.raises(RunError, match=rf"{name}: {reason}.*; train the run again"):
        read_graph_encoder(saved[0].with_name(name), CONFIG, **SHAPE | {"width": width})
