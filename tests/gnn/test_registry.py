import pytest
import torch

from statgraph.errors import UsageError
from statgraph.gnn.qabisar_layer import QabisarLayer
from statgraph.gnn.registry import LAYERS, layer_of


def test_qabisar_is_known():
    assert layer_of("qabisar") is QabisarLayer


@pytest.mark.parametrize("name", LAYERS)
def test_every_layer_maps_inputs_to_outputs(name, random_block):
    layer = layer_of(name)(8, n_heads=2, n_edge_types=3)
    block = random_block()
    out = layer(torch.randn(block.n_inputs, 8), block)
    assert out.shape == (block.n_outputs, 8)
    assert torch.isfinite(out).all()


def test_an_unknown_layer_is_refused():
    with pytest.raises(UsageError) as refused:
        layer_of("gatt")
    assert str(refused.value) == f"gnn.layer: 'gatt' is not known; choose from {', '.join(LAYERS)}"
