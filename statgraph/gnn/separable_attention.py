"""Attention whose logit is a scalar of the source and one of the edge type, in one step that forms no edge vectors."""

from __future__ import annotations

import torch
from torch.autograd.function import once_differentiable
from torch.nn import functional

from statgraph.gnn.attention import NEGATIVE_SLOPE
from statgraph.gnn.head_bags import HeadBags, head_bags
from statgraph.graph.blocks import Block

# What is worked on at a time: few enough rows to stay in the cache from one operation to the next.
_CHUNK = 8192
_SUM = 0  # the number of embedding_bag's mode


def runs_here(nodes: torch.Tensor, block: Block) -> bool:
    """Return whether `separable_attention` takes these: on a CPU, at full precision."""
    return nodes.device.type == "cpu" and nodes.dtype in (torch.float32, torch.float64) and block.n_outputs > 0


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
        source_weight: Wt, (width, width).
        target_weight: Ws, (width, width).
        source_attention: a, (heads, head width).
        type_logits: b, (edge types + 1, heads), the node's own last.
        bias: (width,).

    Returns:
        (outputs, width).
    """
    bags = head_bags(block, len(source_attention))
    return _SeparableAttention.apply(
        nodes, source_weight, target_weight, source_attention, type_logits, bias, block.own_inputs, bags
    )


class _SeparableAttention(torch.autograd.Function):
    """The step and its gradient, worked out by hand: autograd would keep or form (nodes, width) tensors for each
    operation, and write them to memory that has to be fetched from the system anew each time."""

    @staticmethod
    def forward(ctx, nodes, source_weight, target_weight, source_attention, type_logits, bias, own_inputs, bags):
        n_heads, head_width = source_attention.shape
        n_inputs, width = nodes.shape
        table = nodes.new_empty(n_inputs + len(own_inputs), width)
        own_nodes = nodes if _same_nodes(own_inputs, n_inputs) else nodes[own_inputs]
        torch.mm(own_nodes, target_weight.T, out=table[n_inputs:])
        to_logits = _block_diagonal(source_attention)  # (width, heads)
        source_logits = nodes.new_empty(n_inputs, n_heads)
        leaky = nodes.new_empty(min(_CHUNK, n_inputs), width)
        for rows in _chunks(n_inputs):
            projected = torch.mm(nodes[rows], source_weight.T, out=table[rows])
            torch.mm(_leaky(projected, leaky), to_logits, out=source_logits[rows])
        weights = _softmax(source_logits[bags.logit_inputs] + type_logits[bags.edge_types], bags)
        incoming = bags.incoming
        out = _sum_bags(table.view(-1, head_width), incoming.rows, incoming.starts, incoming.laid_out(weights))
        ctx.save_for_backward(nodes, source_weight, target_weight, source_attention, type_logits, table, weights)
        ctx.own_inputs, ctx.bags = own_inputs, bags
        return out.view(-1, width).add_(bias)

    @staticmethod
    @once_differentiable
    def backward(ctx, out_gradient):
        nodes, source_weight, target_weight, source_attention, type_logits, table, weights = ctx.saved_tensors
        bags, own_inputs = ctx.bags, ctx.own_inputs
        head_width = source_attention.shape[1]
        n_inputs, width = nodes.shape
        out_gradient = out_gradient.contiguous()
        by_head = out_gradient.view(-1, head_width)

        logit_gradient = _logit_gradient(by_head, table.view(-1, head_width), weights, bags)
        source_gradient = weights.new_zeros(n_inputs, weights.shape[1])
        source_gradient.index_add_(0, bags.logit_inputs, logit_gradient)  # (inputs, heads)
        type_gradient = torch.zeros_like(type_logits).index_add_(0, bags.edge_types % len(type_logits), logit_gradient)

        outgoing = bags.outgoing
        entry_weights = outgoing.laid_out(weights[bags.outgoing_edges])
        from_logits = _block_diagonal(source_attention).T.contiguous()  # (heads, width)
        attention_gradient = torch.zeros_like(from_logits)
        source_weight_gradient = torch.zeros_like(source_weight)
        node_gradient = torch.empty_like(nodes) if ctx.needs_input_grad[0] else None
        leaky, through_logits = (nodes.new_empty(min(_CHUNK, n_inputs), width) for _ in range(2))
        n_heads = len(source_attention)
        for rows in _chunks(n_inputs):
            entries = slice(*(n_heads * outgoing.bounds[[rows.start, rows.stop]]).tolist())
            starts = outgoing.starts[n_heads * rows.start : n_heads * rows.stop] - entries.start
            gradient = _sum_bags(by_head, outgoing.rows[entries], starts, entry_weights[entries]).view(-1, width)
            projected, scalars = table[rows], source_gradient[rows]
            attention_gradient.addmm_(scalars.T, _leaky(projected, leaky))
            through = torch.mm(scalars, from_logits, out=through_logits[: len(projected)])
            gradient += torch.ops.aten.leaky_relu_backward(through, projected, NEGATIVE_SLOPE, False)
            source_weight_gradient.addmm_(gradient.T, nodes[rows])
            if node_gradient is not None:
                torch.mm(gradient, source_weight, out=node_gradient[rows])

        own_weights = weights[bags.own_edges]
        target_weight_gradient = torch.zeros_like(target_weight)
        same_nodes = _same_nodes(own_inputs, n_inputs)
        for rows in _chunks(len(own_inputs)):
            gradient = out_gradient[rows].view(-1, n_heads, head_width) * own_weights[rows].unsqueeze(-1)
            gradient = gradient.view(-1, width)
            target_weight_gradient.addmm_(gradient.T, nodes[rows if same_nodes else own_inputs[rows]])
            if node_gradient is None:
                continue
            if same_nodes:
                node_gradient[rows].addmm_(gradient, target_weight)
            else:
                node_gradient.index_add_(0, own_inputs[rows], gradient @ target_weight)
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


def _softmax(logits: torch.Tensor, bags: HeadBags) -> torch.Tensor:
    """Return weights (outputs + edges, heads) that sum to one over the edges of each output; overwrites `logits`."""
    targets, n_outputs = bags.targets, len(bags.own_edges)
    index = targets.unsqueeze(1).expand_as(logits)
    peak = logits[bags.own_edges].scatter_reduce_(0, index, logits, "amax")  # (outputs, heads)
    weights = logits.sub_(peak[targets]).exp_()
    total = weights.new_zeros(n_outputs, weights.shape[1]).index_add_(0, targets, weights)
    return weights.div_(total[targets])


def _logit_gradient(
    out_gradient: torch.Tensor, table: torch.Tensor, weights: torch.Tensor, bags: HeadBags
) -> torch.Tensor:
    """Return the gradient of the logits (outputs + edges, heads) from that of the sums, (outputs x heads, head width).

    A weight's gradient is the product of the sum's and of the row that it weighs, which torch has an operation for.
    """
    incoming = bags.incoming
    entry_gradient = torch.ops.aten._embedding_bag_per_sample_weights_backward(
        out_gradient, table, incoming.rows, incoming.starts, bags.bag_of_entry, _SUM
    )
    weighted = incoming.by_edge(entry_gradient).mul_(weights)
    total = weighted.new_zeros(len(bags.own_edges), weighted.shape[1]).index_add_(0, bags.targets, weighted)
    return weighted.sub_(total[bags.targets].mul_(weights))


def _sum_bags(table: torch.Tensor, rows: torch.Tensor, starts: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    """Return each bag's weighted sum of the table's rows, (bags, head width)."""
    return functional.embedding_bag(rows, table, starts, mode="sum", per_sample_weights=weights)


def _chunks(n_rows: int) -> list[slice]:
    return [slice(start, min(start + _CHUNK, n_rows)) for start in range(0, n_rows, _CHUNK)]


def _same_nodes(own_inputs: torch.Tensor, n_inputs: int) -> bool:
    """Return whether the outputs are the inputs, in their order."""
    return len(own_inputs) == n_inputs and torch.equal(own_inputs, torch.arange(n_inputs))


def _leaky(vectors: torch.Tensor, out: torch.Tensor) -> torch.Tensor:
    return torch.ops.aten.leaky_relu.out(vectors, NEGATIVE_SLOPE, out=out[: len(vectors)])


def _block_diagonal(attention: torch.Tensor) -> torch.Tensor:
    """Return (width, heads) that takes a vector to its product with each head's attention, from (heads, head width)."""
    return torch.block_diag(*attention).T.contiguous()


def _diagonal_blocks(gradient: torch.Tensor, n_heads: int) -> torch.Tensor:
    """Return (heads, head width), the part of (heads, width) that each head's attention has to do with."""
    return torch.diagonal(gradient.view(n_heads, n_heads, -1), dim1=0, dim2=1).T.contiguous()
