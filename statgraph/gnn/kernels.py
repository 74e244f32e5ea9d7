"""The two sums of attention over a graph, formed on a CPU without a vector for each edge."""

from __future__ import annotations

import torch
from torch.autograd.function import once_differentiable
from torch.nn import functional

from statgraph.graph.blocks import Block

NEGATIVE_SLOPE = 0.2  # of LeakyReLU in every attention
_EDGES = 1024  # whose vectors are formed at a time: few enough to stay in the cache from one operation to the next


def runs_here(vectors: torch.Tensor) -> bool:
    """Return whether the work is done on a CPU at full precision, where these ways are twice as fast as autograd's."""
    return vectors.device.type == "cpu" and vectors.dtype in (torch.float32, torch.float64)


def weighted_sums(values: torch.Tensor, weights: torch.Tensor, block: Block) -> torch.Tensor:
    """Return the sum of each output's neighbours under the weights of its edges, (outputs, heads, head width).

    On a CPU at full precision no vector of an edge is formed, and sums go in a fixed order whatever the number of
    threads.

    Args:
        values: (inputs, heads, head width).
        weights: (edges, heads).
    """
    if runs_here(values) and values.dtype == weights.dtype:
        return _BagSums.apply(values.contiguous(), weights, block)
    messages = values[block.sources] * weights.unsqueeze(-1)  # (edges, heads, head width)
    return messages.new_zeros(block.n_outputs, *values.shape[1:]).index_add(0, block.targets, messages)


class _BagSums(torch.autograd.Function):
    """The sums by bags of (output, head), and their gradient by bags of (input, head): autograd's own, which sums by
    the rows of a table, is several times slower."""

    @staticmethod
    def forward(ctx, values, weights, block):
        ctx.save_for_backward(values, weights)
        ctx.block = block
        return _summed(values, weights, bags_of(block, "targets", weights.shape[1]))

    @staticmethod
    @once_differentiable
    def backward(ctx, gradient):
        (values, weights), block = ctx.saved_tensors, ctx.block
        n_heads, head_width = values.shape[1:]
        gradient = gradient.contiguous()
        values_gradient = _summed(gradient, weights, bags_of(block, "sources", n_heads))
        rows, starts, slots = bags_of(block, "targets", n_heads)
        bag_of_entry = (block.targets.unsqueeze(1) * n_heads + torch.arange(n_heads)).flatten()
        entries = torch.empty_like(rows).scatter_(0, slots, bag_of_entry.to(rows.dtype))
        products = torch.ops.aten._embedding_bag_per_sample_weights_backward(
            gradient.view(-1, head_width), values.view(-1, head_width), rows, starts, entries, 0
        )  # (entries,)
        return values_gradient, products[slots].view_as(weights), None


def _summed(table: torch.Tensor, weights: torch.Tensor, bags: tuple[torch.Tensor, ...]) -> torch.Tensor:
    """Return the bags' sums (nodes, heads, head width) of a table (other nodes, heads, head width)."""
    rows, starts, slots = bags
    laid_out = torch.empty_like(weights).view(-1).scatter_(0, slots, weights.reshape(-1))
    sums = functional.embedding_bag(
        rows, table.view(-1, table.shape[2]), starts, mode="sum", per_sample_weights=laid_out
    )
    return sums.view(-1, *table.shape[1:])


def bags_of(block: Block, end: str, n_heads: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return bags of (node, head) over the edges at one end, `targets` or `sources`, those of a bag side by side:
    (entries,) the row of (node at the other end, head) that an entry takes, (bags,) where each begins, and
    (edges x heads,) int64, where the entries of each edge lie."""
    key = ("bags", end, n_heads)
    if key not in block.derived:
        nodes, others, n_nodes = block.targets, block.sources, block.n_outputs
        if end == "sources":
            nodes, others, n_nodes = block.sources, block.targets, block.n_inputs
        heads = torch.arange(n_heads)
        sizes = torch.bincount(nodes, minlength=n_nodes)
        bounds = sizes.cumsum(0) - sizes
        order = nodes.argsort(stable=True)
        place = torch.empty_like(order).scatter_(0, order, torch.arange(len(order)))
        # Before an edge lie all entries of the nodes before, those of its node's heads before, and its elder siblings'.
        first = place + bounds[nodes] * (n_heads - 1)
        slots = (first.unsqueeze(1) + sizes[nodes].unsqueeze(1) * heads).flatten()  # (edges x heads,)
        rows = (others.unsqueeze(1) * n_heads + heads).flatten()
        starts = (bounds.unsqueeze(1) * n_heads + sizes.unsqueeze(1) * heads).flatten()
        block.derived[key] = torch.empty_like(rows).scatter_(0, slots, rows), starts, slots
    return block.derived[key]


def leaky_scalars(vectors: torch.Tensor, attention: torch.Tensor) -> torch.Tensor:
    """Return a . LeakyReLU(v) for each vector and head: (vectors, heads) from (vectors, heads, head width)."""
    return (functional.leaky_relu(vectors, NEGATIVE_SLOPE) * attention).sum(dim=-1)


def edge_logits(
    sources: torch.Tensor, targets: torch.Tensor, types: torch.Tensor | None, attention: torch.Tensor, block: Block
) -> torch.Tensor:
    """Return a . LeakyReLU(t_i + s_j + e_ij) for each edge and head, (edges, heads).

    On a CPU the sums in brackets are formed for a thousand edges at a time, and again for the gradient.

    Args:
        sources: (inputs, heads, head width).
        targets: (outputs, heads, head width).
        types: (edge types or more, heads, head width), or None where edge types are not used.
        attention: a, (heads, head width).
    """
    if runs_here(sources):
        return _EdgeLogits.apply(sources, targets, types, attention, block)
    return leaky_scalars(_sums(sources, targets, types, block, slice(None)), attention)


class _EdgeLogits(torch.autograd.Function):
    """With g the gradient of an edge's logit and z the sum of its two ends and its type, each of these gets
    g a LeakyReLU'(z); only a's factor is left out until the edges are summed, since by LeakyReLU(z) = z LeakyReLU'(z)
    the gradient of a is the sum of z times the rest."""

    @staticmethod
    def forward(ctx, sources, targets, types, attention, block):
        ctx.save_for_backward(sources, targets, types, attention)
        ctx.block = block
        to_logits = torch.block_diag(*attention).T.contiguous()  # (width, heads)
        logits = sources.new_empty(len(block.sources), len(attention))
        for start in range(0, len(logits), _EDGES):
            edges = slice(start, start + _EDGES)
            sums = functional.leaky_relu_(_sums(sources, targets, types, block, edges), NEGATIVE_SLOPE)
            torch.mm(sums.flatten(1), to_logits, out=logits[edges])
        return logits

    @staticmethod
    @once_differentiable
    def backward(ctx, gradient):
        (sources, targets, types, attention), block = ctx.saved_tensors, ctx.block
        ends = {"sources": sources, "targets": targets} | ({} if types is None else {"edge_types": types})
        gradients = {name: torch.zeros_like(vectors) for name, vectors in ends.items()}
        attention_gradient = torch.zeros_like(attention)
        for start in range(0, len(gradient), _EDGES):
            edges = slice(start, start + _EDGES)
            sums = _sums(sources, targets, types, block, edges)
            slopes = torch.ops.aten.leaky_relu_backward(
                gradient[edges].unsqueeze(-1).expand_as(sums), sums, NEGATIVE_SLOPE, False
            )
            attention_gradient += (sums * slopes).sum(dim=0)
            for name, total in gradients.items():
                total.flatten(1).index_add_(0, getattr(block, name)[edges], slopes.flatten(1))
        for total in gradients.values():
            total.mul_(attention)
        return gradients["sources"], gradients["targets"], gradients.get("edge_types"), attention_gradient, None


def _sums(
    sources: torch.Tensor, targets: torch.Tensor, types: torch.Tensor | None, block: Block, edges: slice
) -> torch.Tensor:
    """Return the sums of the vectors of some edges' ends and types, (edges, heads, head width)."""
    parts = [(sources, block.sources), (targets, block.targets), (types, block.edge_types)]
    flat = [vectors.flatten(1).index_select(0, rows[edges]) for vectors, rows in parts if vectors is not None]
    return sum(flat[1:], flat[0]).unflatten(1, sources.shape[1:])
