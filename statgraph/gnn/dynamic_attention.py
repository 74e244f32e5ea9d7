"""Attention whose logit depends on both ends of an edge at once, in one step that forms the edges' vectors in parts."""

from __future__ import annotations

import torch
from torch.autograd.function import once_differentiable
from torch.nn import functional

from statgraph.gnn.bag_attention import (
    IncomingSums,
    bag_softmax,
    block_diagonal,
    chunks,
    logit_gradients,
    outgoing_sums,
    own_projection_gradient,
)
from statgraph.gnn.head_bags import Bags, HeadBags, looped_head_bags
from statgraph.gnn.message_passing import NEGATIVE_SLOPE
from statgraph.graph.blocks import Block

# What is worked on at a time: few enough vectors to stay in the cache from one operation to the next.
_EDGES, _NODES = 1024, 8192


def dynamic_attention(
    nodes: torch.Tensor,
    block: Block,
    *,
    source_weight: torch.Tensor,
    target_weight: torch.Tensor,
    attention: torch.Tensor,
    bias: torch.Tensor,
) -> torch.Tensor:
    """Return out_i = sum_j alpha_ij Wt x_j + bias for each output node, itself among the j, heads side by side.

    alpha_ij is the softmax, over j, of a . LeakyReLU(Ws x_i + Wt x_j): see `GatV2Layer`. The sums in brackets are
    formed for a thousand edges at a time, again for the gradient: nothing of (edges, width) is ever kept. Sums go in
    a fixed order whatever the number of threads.

    Args:
        nodes: (inputs, width) on a CPU, float32 or float64.
        source_weight: Wt, (width, width).
        target_weight: Ws, (width, width).
        attention: a, (heads, head width).
        bias: (width,).

    Returns:
        (outputs, width).
    """
    bags = looped_head_bags(block, len(attention))
    return _DynamicAttention.apply(nodes, source_weight, target_weight, attention, bias, block, bags)


class _DynamicAttention(torch.autograd.Function):
    """The step and its gradient, worked out by hand. With g the gradient of an edge's logit and z the sum of its two
    ends, both ends get g a LeakyReLU'(z); only a's factor is left out until the edges are summed, since by
    LeakyReLU(z) = z LeakyReLU'(z) the gradient of a is the product of the nodes' vectors with those very sums."""

    @staticmethod
    def forward(ctx, nodes, source_weight, target_weight, attention, bias, block, bags):
        head_width = attention.shape[1]
        n_inputs, width = nodes.shape
        table = nodes.new_empty(n_inputs + block.n_outputs, width)  # the sources' side, then the targets'
        torch.mm(nodes, source_weight.T, out=table[:n_inputs])
        torch.mm(block.own(nodes), target_weight.T, out=table[n_inputs:])
        ends = _ends(bags, n_inputs)
        to_logits = block_diagonal(attention)  # (width, heads)
        logits = nodes.new_empty(len(ends), len(attention))
        for edges in chunks(len(ends), _EDGES):
            leaky = functional.leaky_relu_(_added(table, ends[edges]), NEGATIVE_SLOPE)
            torch.mm(leaky, to_logits, out=logits[edges])
        weights = bag_softmax(logits, bags)
        sums = IncomingSums.of(table[:n_inputs].view(-1, head_width), weights, bags)
        ctx.save_for_backward(nodes, source_weight, target_weight, attention, table, weights)
        ctx.block, ctx.bags, ctx.sums = block, bags, sums
        return sums.sums.detach().view(-1, width).add_(bias)

    @staticmethod
    @once_differentiable
    def backward(ctx, out_gradient):
        nodes, source_weight, target_weight, attention, table, weights = ctx.saved_tensors
        bags, n_inputs, head_width = ctx.bags, len(nodes), attention.shape[1]
        by_head = out_gradient.contiguous().view(-1, head_width)
        sources, targets = table[:n_inputs], table[n_inputs:]
        logit_gradient = logit_gradients(by_head, ctx.sums, weights, bags)
        ends = _ends(bags, n_inputs)
        target_sums = _slope_sums(table, ends, logit_gradient, bags.incoming)  # (outputs, width)
        order = bags.outgoing_edges
        source_sums = _slope_sums(table, ends[order], logit_gradient[order], bags.outgoing)  # (inputs, width)

        flat_attention = attention.flatten()
        attention_gradient = torch.zeros_like(flat_attention)
        source_weight_gradient = torch.zeros_like(source_weight)
        node_gradient = torch.empty_like(nodes) if ctx.needs_input_grad[0] else None
        for rows, gradient in outgoing_sums(by_head, weights, bags, _NODES):
            attention_gradient += _products(sources[rows], source_sums[rows])
            gradient.addcmul_(source_sums[rows], flat_attention)
            source_weight_gradient.addmm_(gradient.T, nodes[rows])
            if node_gradient is not None:
                torch.mm(gradient, source_weight, out=node_gradient[rows])
        for rows in chunks(len(targets), _NODES):
            attention_gradient += _products(targets[rows], target_sums[rows])
        target_weight_gradient = own_projection_gradient(
            lambda rows: target_sums[rows].mul_(flat_attention),
            nodes,
            ctx.block,
            target_weight,
            node_gradient,
            _NODES,
        )
        return (
            node_gradient,
            source_weight_gradient,
            target_weight_gradient,
            attention_gradient.view_as(attention),
            out_gradient.sum(dim=0),
            None,
            None,
        )


def _ends(bags: HeadBags, n_inputs: int) -> torch.Tensor:
    """Return the table's rows of both ends of each incoming edge, (outputs + edges, 2)."""
    return torch.stack([bags.logit_inputs, n_inputs + bags.targets], dim=1).to(bags.incoming.rows.dtype)


def _added(table: torch.Tensor, ends: torch.Tensor) -> torch.Tensor:
    """Return the sum of the vectors of both ends of each edge, (edges, width)."""
    return functional.embedding_bag(ends, table, mode="sum")


def _slope_sums(table: torch.Tensor, ends: torch.Tensor, logit_gradient: torch.Tensor, bags: Bags) -> torch.Tensor:
    """Return each node's sum of its edges' g LeakyReLU'(z), (nodes, width); the edges sorted by the node."""
    n_edges, n_heads = logit_gradient.shape
    sums = table.new_zeros(len(bags.bounds) - 1, table.shape[1])
    places = torch.arange(min(_EDGES, n_edges), dtype=ends.dtype)
    starts = bags.bounds[:-1].to(ends.dtype)
    cuts = torch.arange(0, n_edges, _EDGES)
    # A chunk may begin and end in the middle of a node's edges: the node gets its sum in parts.
    firsts = (torch.searchsorted(bags.bounds, cuts, right=True) - 1).tolist()
    lasts = torch.searchsorted(bags.bounds, (cuts + _EDGES).clamp(max=n_edges)).tolist()
    for edges, first, last in zip(chunks(n_edges, _EDGES), firsts, lasts, strict=True):
        slopes = _added(table, ends[edges])
        by_head = slopes.view(len(slopes), n_heads, -1)
        torch.ops.aten.leaky_relu_backward.grad_input(
            logit_gradient[edges].unsqueeze(-1), by_head, NEGATIVE_SLOPE, False, grad_input=by_head
        )
        begins = (starts[first:last] - edges.start).clamp_(min=0)
        sums[first:last] += functional.embedding_bag(places[: len(slopes)], slopes, begins, mode="sum")
    return sums


def _products(vectors: torch.Tensor, sums: torch.Tensor) -> torch.Tensor:
    """Return the sum over the nodes of their vectors times their sums, (width,)."""
    return (vectors * sums).sum(dim=0)
