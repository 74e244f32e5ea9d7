import functools
import math

import pytest
import torch

from statgraph.graph.dgl_loader import load_dgl
from statgraph.graph.gnn.qabisar import QabisarLayer
from statgraph.registry import LAYERS


def leaky(vector: torch.Tensor) -> torch.Tensor:
    return torch.where(vector > 0, vector, 0.2 * vector)


def attended(layer, nodes, block, logit_of, values_of) -> torch.Tensor:
    """Return an attention layer's output as its formula reads, node by node and head by head.

    `logit_of(head, part, i, j, kind)` is the logit of input j for input i over an edge of that type (None for i
    itself), `values_of(part, j, kind)` what j gives; `part` is the head's slice of the width.
    """
    width = len(layer.bias)
    out = torch.empty(block.n_outputs, width, dtype=nodes.dtype)
    edges = list(zip(block.sources.tolist(), block.targets.tolist(), block.edge_types.tolist(), strict=True))
    for head in range(layer.n_heads):
        size = width // layer.n_heads
        part = slice(head * size, (head + 1) * size)
        for output, i in enumerate(block.own_inputs.tolist()):
            around = [(i, None)] + [(j, kind) for j, target, kind in edges if target == output]
            alpha = torch.softmax(torch.stack([logit_of(head, part, i, j, kind) for j, kind in around]), dim=0)
            out[output, part] = sum(
                weight * values_of(part, j, kind) for weight, (j, kind) in zip(alpha, around, strict=True)
            )
    return out + layer.bias


def gat_formula(layer, nodes, block) -> torch.Tensor:
    """alpha_ij = softmax_j( LeakyReLU([at || as] . [W x_i || W x_j]) )"""

    def logit(head, part, i, j, kind):
        a = torch.cat([layer.target_attention[head], layer.source_attention[head]])
        return leaky(a @ torch.cat([layer.projection.weight[part] @ nodes[node] for node in (i, j)]))

    return attended(layer, nodes, block, logit, lambda part, j, kind: layer.projection.weight[part] @ nodes[j])


def gatv2_formula(layer, nodes, block) -> torch.Tensor:
    """alpha_ij = softmax_j( a . LeakyReLU(Ws x_i + Wt x_j) )"""
    w_s, w_t = layer.target_projection.weight, layer.source_projection.weight
    return attended(
        layer, nodes, block,
        lambda head, part, i, j, kind: layer.attention[head] @ leaky(w_s[part] @ nodes[i] + w_t[part] @ nodes[j]),
        lambda part, j, kind: w_t[part] @ nodes[j],
    )  # fmt: skip


def qabisar_v2_formula(layer, nodes, block) -> torch.Tensor:
    """alpha_ij = softmax_j( a . LeakyReLU(Ws x_i + Wt x_j + We e_ij) )"""
    w_s, w_t, types = layer.target_projection.weight, layer.source_projection.weight, layer.edge_embeddings

    def logit(head, part, i, j, kind):
        edge_type = types[-1 if kind is None else kind, part]
        return layer.attention[head] @ leaky(w_s[part] @ nodes[i] + w_t[part] @ nodes[j] + edge_type)

    return attended(layer, nodes, block, logit, lambda part, j, kind: w_t[part] @ nodes[j])


def qabisar_formula(layer, nodes, block, target_attention=None) -> torch.Tensor:
    """alpha_ij = softmax_j( a . LeakyReLU([Ws x_i || Wt x_j || We e_ij]) ), the target's part of `a` included."""
    w_s, w_t, w_e = layer.target_projection.weight, layer.source_projection.weight, layer.edge_projection.weight

    def logit(head, part, i, j, kind):
        embedding = layer.edge_embeddings.weight[-1 if kind is None else kind]
        joined = torch.cat([w_s[part] @ nodes[i], w_t[part] @ nodes[j], w_e[part] @ embedding])
        target = torch.zeros_like(layer.source_attention[head]) if target_attention is None else target_attention[head]
        return torch.cat([target, layer.source_attention[head], layer.edge_attention[head]]) @ leaky(joined)

    return attended(layer, nodes, block, logit, lambda part, j, kind: (w_s if kind is None else w_t)[part] @ nodes[j])


def neighbours(block, output: int) -> list[int]:
    """Return an output's neighbours, as places among the inputs, one an edge."""
    edges = zip(block.sources.tolist(), block.targets.tolist(), strict=True)
    return [source for source, target in edges if target == output]


def gcn_formula(layer, nodes, block) -> torch.Tensor:
    """out_i = W sum_j x_j / sqrt(in_i out_j), i among the j"""
    out = torch.zeros(block.n_outputs, len(layer.bias), dtype=nodes.dtype)
    for output, own in enumerate(block.own_inputs.tolist()):
        around = [own, *neighbours(block, output)]
        for j in around:
            out_j = 1 + block.sources.tolist().count(j)
            out[output] += layer.projection.weight @ nodes[j] / math.sqrt(len(around) * out_j)
    return out + layer.bias


def summed_formula(layer, nodes, block, *, mean: bool) -> torch.Tensor:
    """out_i = W1 x_i + W2 sum_j x_j, or the mean over j"""
    out = nodes[block.own_inputs] @ layer.own_projection.weight.T + layer.bias
    for output in range(block.n_outputs):
        if around := neighbours(block, output):
            total = nodes[around].sum(dim=0) / (len(around) if mean else 1)
            out[output] += layer.neighbour_projection.weight @ total
    return out


FORMULAS = {
    "qabisar": qabisar_formula,
    "qabisar-v2": qabisar_v2_formula,
    "gatv2": gatv2_formula,
    "gat": gat_formula,
    "gcn": gcn_formula,
    "graphsage": functools.partial(summed_formula, mean=True),
    "k-gnn": functools.partial(summed_formula, mean=False),
}


@pytest.mark.parametrize("name", LAYERS.built_in)
@pytest.mark.parametrize(
    ("width", "out_width", "n_heads"), [(6, 6, 1), (6, 6, 2), (6, 6, 6), (1, 1, 1), (3, 8, 2), (8, 3, 3)]
)
def test_the_formula_node_by_node(name, random_layer, random_block, node_vectors, width, out_width, n_heads):
    layer = random_layer(LAYERS.load(name), width, n_heads, out_width=out_width)
    block, nodes = random_block(), node_vectors(width=width)
    assert torch.allclose(layer(nodes, block), FORMULAS[name](layer, nodes, block), atol=1e-10)


# What DGL's layer of the same paper calls the parameters: theirs -> ours; it gives no bias but GAT's and GCN's.
DGL_PARAMETERS = {
    "gat": {"fc.weight": "projection.weight", "attn_l": "source_attention", "attn_r": "target_attention"},
    "gatv2": {"fc_src.weight": "source_projection.weight", "fc_dst.weight": "target_projection.weight"},
    "gcn": {"weight": "projection.weight"},
    "graphsage": {"fc_self.weight": "own_projection.weight", "fc_neigh.weight": "neighbour_projection.weight"},
    "k-gnn": {"weight": "neighbour_projection.weight"},
}
DGL_PARAMETERS["gatv2"]["attn"] = "attention"


@pytest.mark.parametrize("name", DGL_PARAMETERS)
def test_dgl_gives_the_same(name, random_layer, dgl_graph, node_vectors):
    looped, plain, block = dgl_graph
    layer, nodes, conv = random_layer(LAYERS.load(name)), node_vectors(), load_dgl().nn.pytorch
    theirs = {
        "gat": lambda: conv.GATConv(6, 3, 2, bias=False),
        "gatv2": lambda: conv.GATv2Conv(6, 3, 2, bias=False),
        "gcn": lambda: conv.GraphConv(6, 6, norm="both", bias=False),
        "graphsage": lambda: conv.SAGEConv(6, 6, "mean", bias=False),
        "k-gnn": lambda: conv.GraphConv(6, 6, norm="none", bias=False, allow_zero_in_degree=True),
    }[name]().double()
    with torch.no_grad():
        for their_name, our_name in DGL_PARAMETERS[name].items():
            ours, copied = layer.get_parameter(our_name), theirs.get_parameter(their_name)
            copied.copy_(ours.T if their_name == "weight" else ours.view_as(copied))
    out = theirs(looped if name in ("gat", "gatv2", "gcn") else plain, nodes).flatten(1) + layer.bias
    if name == "k-gnn":  # DGL's has no part for the node itself
        out = out + layer.own_projection(nodes)
    assert torch.allclose(layer(nodes, block), out, atol=1e-10)


# Two nodes and an edge from 1 to 0, or three and edges from 1 and 2 to 0; parameters that are not named are left as
# they start. LN3 picks the first component and weighs it by ln 3.
LN3 = [[math.log(3), 0.0]]


@pytest.mark.parametrize(
    ("name", "parameters", "nodes", "expected"),
    [
        # All logits are 0 but the source's: its first component is 1 for node 1 and 0 for node 0, so 3 to 1.
        ("qabisar", {"source_attention": LN3, "edge_attention": [[0.0, 0.0]]}, [[0, 4], [1, 8]], [[0.75, 7], [1, 8]]),
        # For node 0, itself gets LeakyReLU(-ln 3 + ln 3) = 0 and node 1 gets -ln 3 + 3 ln 3 = ln 9: 1 to 9.
        (
            "gat",
            {"source_attention": LN3, "target_attention": [[-math.log(3), 0.0]]},
            [[1, 10], [3, 20]],
            [[2.8, 19], [3, 20]],
        ),
        # The logit is ln 3 LeakyReLU of the sum of the first components, -1 and 2: 0.2 * -2 ln 3 for node 0, ln 3.
        (
            "gatv2",
            {"attention": LN3},
            [[-1, 4], [2, 8]],
            [[(2 * 3 - 3**-0.4) / (3**-0.4 + 3), (8 * 3 + 4 * 3**-0.4) / (3**-0.4 + 3)], [2, 8]],
        ),
        # As above, but an edge's type adds 1 and a node's own takes 3 away: 0.2 * -5 ln 3 for node 0, ln 9 for node 1.
        (
            "qabisar-v2",
            {"attention": LN3, "edge_embeddings": [[1.0, 0.0], [-3.0, 0.0]]},
            [[-1, 4], [2, 8]],
            [[(2 * 9 - 3**-1) / (3**-1 + 9), (8 * 9 + 4 * 3**-1) / (3**-1 + 9)], [2, 8]],
        ),
        # Half of 8 and half of the mean of 2 and 6; nodes 1 and 2 have no neighbour: half of themselves.
        ("graphsage", {}, [[8], [2], [6]], [[6], [1], [3]]),
        # 8 + 0.5 (2 + 6).
        ("k-gnn", {"neighbour_projection.weight": [[0.5]]}, [[8], [2], [6]], [[12], [2], [6]]),
        # Degrees, the nodes themselves counted: 3 in node 0 and 1 in the others, 1 out of node 0 and 2 out of the rest.
        ("gcn", {}, [[8], [2], [6]], [[8 / math.sqrt(3) + 8 / math.sqrt(6)], [2 / math.sqrt(2)], [6 / math.sqrt(2)]]),
    ],
)
def test_worked_by_hand(name, parameters, nodes, expected, block_of):
    layer = LAYERS.load(name)(len(nodes[0]), n_heads=1, n_edge_types=1)
    with torch.no_grad():
        for parameter, values in parameters.items():
            layer.get_parameter(parameter).copy_(torch.tensor(values))
    block = block_of([(source, 0, 0) for source in range(1, len(nodes))], n_inputs=len(nodes))
    assert torch.allclose(
        layer(torch.tensor(nodes, dtype=torch.float32), block), torch.tensor(expected, dtype=torch.float32), atol=1e-5
    )


@pytest.mark.parametrize("target_scale", [1.0, 30.0])
def test_the_targets_scalar_cancels(random_layer, random_block, node_vectors, target_scale):
    layer, block, nodes = random_layer(QabisarLayer), random_block(), node_vectors()
    target_attention = target_scale * node_vectors(2, 3, seed=5)
    assert torch.allclose(layer(nodes, block), qabisar_formula(layer, nodes, block, target_attention), atol=1e-10)
