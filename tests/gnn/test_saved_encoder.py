import pytest
import torch

from statgraph.config import GnnConfig
from statgraph.errors import RunError
from statgraph.gnn.encoder import GraphEncoder
from statgraph.gnn.saved_encoder import read_graph_encoder, write_graph_encoder

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


def test_a_missing_file_is_one_line(tmp_path):
    with pytest.raises(RunError) as refused:
        read_graph_encoder(tmp_path / "none", CONFIG, **SHAPE)
    assert str(refused.value) == f"{tmp_path / 'none'}: missing; train the run again"


def test_weights_of_another_width_are_refused(saved):
    with pytest.raises(RunError, match="not the graph encoder of this run"):
        read_graph_encoder(saved[0], CONFIG, **SHAPE | {"width": 6})


def test_a_damaged_file_is_refused(saved):
    saved[0].write_bytes(b"\xff" * 64)
    with pytest.raises(RunError, match=r"not the graph encoder of this run .*; train the run again"):
        read_graph_encoder(saved[0], CONFIG, **SHAPE)
