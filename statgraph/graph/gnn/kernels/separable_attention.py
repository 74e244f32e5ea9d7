"""Attention whose logit is a scalar of the source and one of the edge type, in one step that forms no edge vectors."""

from __future__ import annotations

from typing import Any

import torch
from torch.autograd.function import once_differentiable

from statgraph.graph.blocks import Block
from statgraph.graph.gnn.kernels.bag_attention import (
    NEGATIVE_SLOPE,
    bag_softmax,
    block_diagonal,
    chunks,
    incoming_sums,
    logit_gradients,
    outgoing_sums,
    own_projection_gradient,
)
from statgraph.graph.gnn.kernels.head_bags import HeadBags, head_bags

# What is worked on at a time: few enough rows to stay in the cache from one operation to the next.
_CHUNK = 8192


def separable_attention(
    nodes: torch.Tensor,
    block: Block,
    *,
    source_weight: torch.Tensor,
    target_weight: torch.Tensor,
    source_attention: torch.Tensor,
    type_logits: torch.Tensor,
    bias: torch.Tensor,
) -> torch.Tensor:
    """Return out_i = alpha_ii Ws x_i + sum_j alpha_ij Wt x_j + bias for each output node, heads side by side.

    alpha_ij is the softmax, over j, of a . LeakyReLU(Wt x_j) + b(type of the edge): see `QabisarLayer`. Of the edges
    only scalars are ever formed, one a head; the vectors are summed as bags. Sums go in a fixed order whatever the
    number of threads.

    Args:
        nodes: (inputs, width) on a CPU, float32 or float64.
        source_weight: Wt, (out width, width).
        target_weight: Ws, (out width, width).
        source_attention: a, (heads, head width).
        type_logits: b, (edge types + 1, heads), the node's own last.
        bias: (out width,).

    Returns:
        (outputs, out width).
    """
    bags = head_bags(block, len(source_attention))
    return _SeparableAttention.apply(
        nodes, source_weight, target_weight, source_attention, type_logits, bias, block, bags
    )


class _SeparableAttention(torch.autograd.Function):  # type: ignore[misc]
    """The step and its gradient, worked out by hand: autograd would keep or form (nodes, width) tensors for each
    operation, and write them to memory that has to be fetched from the system each time."""

    @staticmethod
    def forward(
        ctx: Any,
        nodes: torch.Tensor,
        source_weight: torch.Tensor,
        target_weight: torch.Tensor,
        source_attention: torch.Tensor,
        type_logits: torch.Tensor,
        bias: torch.Tensor,
        block: Block,
        bags: HeadBags,
    ) -> torch.Tensor:
        n_heads, head_width = source_attention.shape
        n_inputs, width = len(nodes), len(source_weight)
        table = nodes.new_empty(n_inputs + block.n_outputs, width)
        torch.mm(block.own(nodes), target_weight.T, out=table[n_inputs:])
        to_logits = block_diagonal(source_attention)  # (width, heads)
        source_logits = nodes.new_empty(n_inputs, n_heads)
        leaky = nodes.new_empty(min(_CHUNK, n_inputs), width)
        for rows in chunks(n_inputs, _CHUNK):
            projected = torch.mm(nodes[rows], source_weight.T, out=table[rows])
            torch.mm(_leaky(projected, leaky), to_logits, out=source_logits[rows])
        weights = bag_softmax(source_logits[bags.logit_inputs] + type_logits[bags.edge_types], bags)
        sums = incoming_sums(table.view(-1, head_width), weights, bags)
        ctx.save_for_backward(nodes, source_weight, target_weight, source_attention, type_logits, table, weights)
        ctx.block, ctx.bags, ctx.sums = block, bags, sums
        return sums[0].detach().view(-1, width).add_(bias)

    @staticmethod
    @once_differentiable  # type: ignore[untyped-decorator]
    def backward(ctx: Any, out_gradient: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        nodes, source_weight, target_weight, source_attention, type_logits, table, weights = ctx.saved_tensors
        bags = ctx.bags
        head_width = source_attention.shape[1]
        n_inputs, width = len(nodes), len(source_weight)
        out_gradient = out_gradient.contiguous()
        by_head = out_gradient.view(-1, head_width)

        logit_gradient = logit_gradients(by_head, ctx.sums, weights, bags)
        source_gradient = weights.new_zeros(n_inputs, weights.shape[1])
        source_gradient.index_add_(0, bags.logit_inputs, logit_gradient)  # (inputs, heads)
        type_gradient = torch.zeros_like(type_logits).index_add_(0, bags.edge_types % len(type_logits), logit_gradient)

        from_logits = block_diagonal(source_attention).T.contiguous()  # (heads, width)
        attention_gradient = torch.zeros_like(from_logits)
        source_weight_gradient = torch.zeros_like(source_weight)
        node_gradient = torch.empty_like(nodes) if ctx.needs_input_grad[0] else None
        leaky, through_logits = (nodes.new_empty(min(_CHUNK, n_inputs), width) for _ in range(2))
        for rows, gradient in outgoing_sums(by_head, weights, bags, _CHUNK):
            projected, scalars = table[rows], source_gradient[rows]
            attention_gradient.addmm_(scalars.T, _leaky(projected, leaky))
            through = torch.mm(scalars, from_logits, out=through_logits[: len(projected)])
            gradient += torch.ops.aten.leaky_relu_backward(through, projected, NEGATIVE_SLOPE, False)
            source_weight_gradient.addmm_(gradient.T, nodes[rows])
            if node_gradient is not None:
                torch.mm(gradient, source_weight, out=node_gradient[rows])

        n_heads = len(source_attention)
        own_weights = weights[bags.own_edges].unsqueeze(-1)
        target_weight_gradient = own_projection_gradient(
            lambda rows: (out_gradient[rows].view(-1, n_heads, head_width) * own_weights[rows]).flatten(1),
            nodes,
            ctx.block,
            target_weight,
            node_gradient,
            _CHUNK,
        )
        return (
            node_gradient,
            source_weight_gradient,
            target_weight_gradient,
            _diagonal_blocks(attention_gradient, n_heads),
            type_gradient,
            out_gradient.sum(dim=0),
            None,
            None,
        )


def _leaky(vectors: torch.Tensor, out: torch.Tensor) -> torch.Tensor:
    return torch.ops.aten.leaky_relu.out(vectors, NEGATIVE_SLOPE, out=out[: len(vectors)])


def _diagonal_blocks(gradient: torch.Tensor, n_heads: int) -> torch.Tensor:
    """Return (heads, head width), the part of (heads, width) that each head's attention has to do with."""
    return torch.diagonal(gradient.view(n_heads, n_heads, -1), dim1=0, dim2=1).T.contiguous()
