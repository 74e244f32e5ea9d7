import copy
import dataclasses
import re
from contextlib import nullcontext
from pathlib import Path

import pytest
import torch
from torch.func import functional_call

from statgraph.errors import UsageError
from statgraph.graph.gnn.message_passing import by_head
from statgraph.registry import LAYERS

ATTENTION_LAYERS = ("qabisar", "qabisar-v2", "gatv2", "gat")

GUIDE = Path(__file__).parents[3] / "docs" / "extending.md"
OF_THE_GUIDE = "guide_layer:MaximumLayer"
NAMES = (*LAYERS.built_in, OF_THE_GUIDE)

each_layer = pytest.mark.parametrize("name", NAMES)


@pytest.fixture(scope="module", autouse=True)
def guide_layer(tmp_path_factory):
    """Make the guide's layer a module outside the package, named as a user would."""
    folder = tmp_path_factory.mktemp("layers")
    (folder / "guide_layer.py").write_text(re.search(r"```python\n(.*?)```", GUIDE.read_text(), re.DOTALL)[1])
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        patch.setenv(LAYERS.VARIABLE, "guide_layer")
        yield


@pytest.fixture(params=NAMES)
def layer(request, random_layer):
    return random_layer(LAYERS.load(request.param))


@pytest.fixture
def block(random_block):
    return random_block()


@pytest.fixture
def nodes(node_vectors):
    return node_vectors()


def test_no_edges_and_no_nodes(layer, nodes, block_of):
    out = layer(nodes, block_of([], n_inputs=7, own_inputs=[6, 0]))
    assert torch.isfinite(out).all()
    assert torch.allclose(out[1:], layer(nodes[:1], block_of([], n_inputs=1)), atol=1e-12)
    assert layer(nodes[:0], block_of([], n_inputs=0)).shape == (0, 6)
    assert layer(nodes, block_of([], n_inputs=7, own_inputs=[])).shape == (0, 6)


@each_layer
def test_gradients(name, random_layer, random_block, node_vectors):
    layer, block = random_layer(LAYERS.load(name), width=4), random_block(n_edges=9)
    names = [parameter for parameter, _ in layer.named_parameters()]
    values = [parameter.detach().clone().requires_grad_() for parameter in layer.parameters()]

    def forward(nodes, *parameters):
        return functional_call(layer, dict(zip(names, parameters, strict=True)), (nodes, block))

    assert torch.autograd.gradcheck(forward, (node_vectors(width=4).requires_grad_(), *values))


def test_new_numbers_for_the_nodes_change_nothing_else(layer, block, nodes):
    generator = torch.Generator().manual_seed(0)
    input_order, output_order = torch.randperm(7, generator=generator), torch.randperm(5, generator=generator)
    new_input, new_output = input_order.argsort(), output_order.argsort()  # old place -> new place
    renumbered = dataclasses.replace(
        block,
        sources=new_input[block.sources],
        targets=new_output[block.targets],
        own_inputs=new_input[block.own_inputs[output_order]],
    )
    assert torch.allclose(layer(nodes[input_order], renumbered), layer(nodes, block)[output_order], atol=1e-12)


@each_layer
def test_no_parameter_is_left_as_memory_had_it(name):
    deterministic = torch.are_deterministic_algorithms_enabled()
    torch.use_deterministic_algorithms(True)  # fills what is not initialised with NaN
    try:
        layer = LAYERS.load(name)(6, n_heads=2, n_edge_types=3)
    finally:
        torch.use_deterministic_algorithms(deterministic)
    assert [of for of, parameter in layer.named_parameters() if not torch.isfinite(parameter).all()] == []


# By which projections a neighbour and the node itself give their vectors.
@pytest.mark.parametrize(
    ("name", "of_neighbour", "of_itself"),
    [
        ("qabisar", "source_projection", "target_projection"),
        ("qabisar-v2", "source_projection", "source_projection"),
        ("gatv2", "source_projection", "source_projection"),
        ("gat", "projection", "projection"),
    ],
)
def test_attention_weights_are_what_the_layer_sums_with(
    name, of_neighbour, of_itself, random_layer, random_block, node_vectors
):
    layer, block, nodes = random_layer(LAYERS.load(name)), random_block(), node_vectors()
    edge_weights, own_weights = layer.attention_weights(nodes, block)
    assert (edge_weights.shape, own_weights.shape) == ((16, 2), (5, 2))
    sums = own_weights.index_add(0, block.targets, edge_weights)
    assert torch.allclose(sums, torch.ones_like(sums), atol=1e-12)
    sources = by_head(getattr(layer, of_neighbour)(nodes), 2)
    own = by_head(getattr(layer, of_itself)(nodes[block.own_inputs]), 2)
    messages = sources[block.sources] * edge_weights.unsqueeze(-1)
    summed = (own * own_weights.unsqueeze(-1)).index_add(0, block.targets, messages).flatten(1)
    assert torch.allclose(layer(nodes, block), summed + layer.bias, atol=1e-10)


@each_layer
def test_heads_divide_the_width_where_there_are_any(name):
    with pytest.raises(UsageError, match=r"gnn\.heads: .*10.*3") if name in ATTENTION_LAYERS else nullcontext():
        LAYERS.load(name)(10, n_heads=3, n_edge_types=1)


@each_layer
def test_bfloat16_autocast_comes_close(name, random_layer, random_block, node_vectors):
    layer, block = random_layer(LAYERS.load(name), width=8, dtype=torch.float32), random_block()
    nodes = node_vectors(width=8).float()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        mixed = layer(nodes, block)
    exact = layer(nodes, block)
    assert torch.nn.functional.cosine_similarity(mixed.float(), exact).min() > 0.98


@pytest.mark.cuda
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@each_layer
def test_cuda_gives_what_the_cpu_gives(name, random_layer, random_block, node_vectors):
    device = torch.device("cuda")
    layer, block, nodes = random_layer(LAYERS.load(name)), random_block(n_edges=200), node_vectors()
    on_cuda = copy.deepcopy(layer).to(device)
    here, there = nodes.clone().requires_grad_(), nodes.to(device).requires_grad_()
    out, out_on_cuda = layer(here, block), on_cuda(there, block.to(device))
    out.square().sum().backward()
    out_on_cuda.square().sum().backward()
    assert torch.allclose(out_on_cuda.cpu(), out, atol=1e-10)
    assert torch.allclose(there.grad.cpu(), here.grad, atol=1e-8)
