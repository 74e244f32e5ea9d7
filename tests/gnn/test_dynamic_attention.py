import torch

from statgraph.gnn.dynamic_attention import dynamic_attention
from statgraph.gnn.gatv2_layer import GatV2Layer


def test_gradients_are_those_of_small_steps(random_layer, random_block, node_vectors):
    layer, block = random_layer(GatV2Layer), random_block()

    def of(nodes, source_weight, target_weight, attention, bias):
        return dynamic_attention(
            nodes, block, source_weight=source_weight, target_weight=target_weight, attention=attention, bias=bias
        )

    inputs = (
        node_vectors(),
        layer.source_projection.weight.detach(),
        layer.target_projection.weight.detach(),
        layer.attention.detach(),
        layer.bias.detach(),
    )
    assert torch.autograd.gradcheck(of, [tensor.clone().requires_grad_() for tensor in inputs])
