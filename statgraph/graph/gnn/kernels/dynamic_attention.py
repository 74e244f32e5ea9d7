"""Attention whose logit depends on both ends of an edge at once, in one step that forms the edges' vectors in parts."""

from __future__ import annotations

from typing import Any

import torch
from torch.autograd.function import once_differentiable
from torch.nn import functional

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
    types: torch.Tensor | None = None,
) -> torch.Tensor:
    """Return out_i = sum_j alpha_ij Wt x_j + bias for each output node, itself among the j, heads side by side.

    alpha_ij is the softmax, over j, of a . LeakyReLU(Ws x_i + Wt x_j + t_ij), t being the vector of the edge's type
    where there are `types`: see `GatV2Layer` and `QabisarV2Layer`. The sums in brackets are formed for a thousand edges
    at a time, again for the gradient: nothing of (edges, width) is ever kept. Sums go in a fixed order whatever the
    number of threads.

    Args:
        nodes: (inputs, width) on a CPU, float32 or float64.
        source_weight: Wt, (out width, width).
        target_weight: Ws, (out width, width).
        attention: a, (heads, head width).
        bias: (out width,).
        types: (edge types + 1, out width), the node's own last; None where edge types are not used.

    Returns:
        (outputs, out width).
    """
    bags = head_bags(block, len(attention), looped=True)
    if types is None:
        types = nodes.new_empty(0, len(source_weight))
    return _DynamicAttention.apply(nodes, source_weight, target_weight, attention, bias, types, block, bags)


class _DynamicAttention(torch.autograd.Function):  # type: ignore[misc]
    """The step and its gradient, worked out by hand. With g the gradient of an edge's logit and z the sum of its two
    ends and its type, each of these gets g a LeakyReLU'(z); only a's factor is left out until the edges are summed,
    since by LeakyReLU(z) = z LeakyReLU'(z) the gradient of a is the product of the vectors with those very sums."""

    @staticmethod
    def forward(
        ctx: Any,
        nodes: torch.Tensor,
        source_weight: torch.Tensor,
        target_weight: torch.Tensor,
        attention: torch.Tensor,
        bias: torch.Tensor,
        types: torch.Tensor,
        block: Block,
        bags: HeadBags,
    ) -> torch.Tensor:
        head_width = attention.shape[1]
        n_inputs, width = len(nodes), len(source_weight)
        n_ends = n_inputs + block.n_outputs
        table = nodes.new_empty(n_ends + len(types), width)  # the sources' side, the targets', the types'
        torch.mm(nodes, source_weight.T, out=table[:n_inputs])
        torch.mm(block.own(nodes), target_weight.T, out=table[n_inputs:n_ends])
        table[n_ends:] = types
        ends = _ends(bags, block, len(types))
        to_logits = block_diagonal(attention)  # (width, heads)
        logits = nodes.new_empty(len(ends), len(attention))
        for edges in chunks(len(ends), _EDGES):
            leaky = functional.leaky_relu_(_added(table, ends[edges]), NEGATIVE_SLOPE)
            torch.mm(leaky, to_logits, out=logits[edges])
        weights = bag_softmax(logits, bags)
        sums = incoming_sums(table[:n_inputs].view(-1, head_width), weights, bags)
        ctx.save_for_backward(nodes, source_weight, target_weight, attention, table, weights)
        ctx.block, ctx.bags, ctx.sums, ctx.ends = block, bags, sums, ends
        return sums[0].detach().view(-1, width).add_(bias)

    @staticmethod
    @once_differentiable  # type: ignore[untyped-decorator]
    def backward(ctx: Any, out_gradient: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        nodes, source_weight, target_weight, attention, table, weights = ctx.saved_tensors
        bags, ends, head_width = ctx.bags, ctx.ends, attention.shape[1]
        by_head = out_gradient.contiguous().view(-1, head_width)
        sources, targets, types = table.split(
            [len(nodes), ctx.block.n_outputs, len(table) - len(nodes) - ctx.block.n_outputs]
        )
        logit_gradient = logit_gradients(by_head, ctx.sums, weights, bags)
        target_sums = _slope_sums(table, ends, logit_gradient, bags.incoming.bounds)  # (outputs, width)
        order = bags.outgoing_edges
        source_sums = _slope_sums(table, ends[order], logit_gradient[order], bags.outgoing.bounds)  # (inputs, width)
        type_sums = _sums_of_types(table, ends, logit_gradient, len(types))

        flat_attention = attention.flatten()
        attention_gradient = _products(types, type_sums)
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
            type_sums.mul_(flat_attention),
            None,
            None,
        )


def _ends(bags: HeadBags, block: Block, n_types: int) -> torch.Tensor:
    """Return the table's rows of both ends of each incoming edge, (outputs + edges, 2), and of its type where there are
    types, the node's own the last of them: (outputs + edges, 3)."""
    rows = [bags.logit_inputs, block.n_inputs + bags.targets]
    if n_types:
        # An own edge has the type -1.
        rows.append(block.n_inputs + block.n_outputs + bags.edge_types % n_types)
    return torch.stack(rows, dim=1).to(bags.incoming.rows.dtype)


def _added(table: torch.Tensor, ends: torch.Tensor) -> torch.Tensor:
    """Return the sum of the vectors of each edge's ends and type, (edges, width)."""
    return functional.embedding_bag(ends, table, mode="sum")


def _sums_of_types(table: torch.Tensor, ends: torch.Tensor, logit_gradient: torch.Tensor, n_types: int) -> torch.Tensor:
    """Return each edge type's sum of its edges' g LeakyReLU'(z), (edge types, width)."""
    if not n_types:
        return table.new_zeros(0, table.shape[1])
    types, order = torch.sort(ends[:, 2].long() - (len(table) - n_types), stable=True)
    bounds = torch.searchsorted(types, torch.arange(n_types + 1))
    return _slope_sums(table, ends[order], logit_gradient[order], bounds)


def _slope_sums(
    table: torch.Tensor, ends: torch.Tensor, logit_gradient: torch.Tensor, bounds: torch.Tensor
) -> torch.Tensor:
    """Return each node's sum of its edges' g LeakyReLU'(z), (nodes, width); the edges sorted by the node, those of node
    i from `bounds[i]` on."""
    n_edges, n_heads = logit_gradient.shape
    sums = table.new_zeros(len(bounds) - 1, table.shape[1])
    places = torch.arange(min(_EDGES, n_edges), dtype=ends.dtype)
    starts = bounds[:-1].to(ends.dtype)
    cuts = torch.arange(0, n_edges, _EDGES)
    # A chunk may begin and end in the middle of a node's edges: the node gets its sum in parts.
    firsts = (torch.searchsorted(bounds, cuts, right=True) - 1).tolist()
    lasts = torch.searchsorted(bounds, (cuts + _EDGES).clamp(max=n_edges)).tolist()
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
