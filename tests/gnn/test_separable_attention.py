import torch

from statgraph.gnn.qabisar_layer import QabisarLayer
from statgraph.gnn.separable_attention import separable_attention


def test_gradients_are_those_of_small_steps(random_layer, random_block, node_vectors):
    layer, block = random_layer(QabisarLayer), random_block()

    def of(nodes, source_weight, target_weight, source_attention, type_logits, bias):
        return separable_attention(
            nodes,
            block,
            source_weight=source_weight,
            target_weight=target_weight,
            source_attention=source_attention,
            type_logits=type_logits,
            bias=bias,
        )

    inputs = (
        node_vectors(),
        layer.source_projection.weight.detach(),
        layer.target_projection.weight.detach(),
        layer.source_attention.detach(),
        node_vectors(4, 2, seed=3),
        layer.bias.detach(),
    )
    assert torch.autograd.gradcheck(of, [tensor.clone().requires_grad_() for tensor in inputs])
