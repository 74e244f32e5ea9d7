"""The parts of attention over bags on a CPU: softmax over a node's edges, weighted sums, their gradients."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch.nn import functional

from statgraph.graph.blocks import Block
from statgraph.graph.gnn.kernels.head_bags import HeadBags

NEGATIVE_SLOPE = 0.2  # of LeakyReLU in every attention


def runs_here(nodes: torch.Tensor, block: Block) -> bool:
    """Return whether attention over bags can run: on a CPU, at full precision."""
    return nodes.device.type == "cpu" and nodes.dtype in (torch.float32, torch.float64) and block.n_outputs > 0


def bag_softmax(logits: torch.Tensor, bags: HeadBags) -> torch.Tensor:
    """Return weights (outputs + edges, heads) that sum to one over the edges of each output; overwrites `logits`."""
    targets, n_outputs = bags.targets, len(bags.own_edges)
    index = targets.unsqueeze(1).expand_as(logits)
    peak = logits[bags.own_edges].scatter_reduce_(0, index, logits, "amax")  # (outputs, heads)
    weights = logits.sub_(peak[targets]).exp_()
    total = weights.new_zeros(n_outputs, weights.shape[1]).index_add_(0, targets, weights)
    return weights.div_(total[targets])


def incoming_sums(table: torch.Tensor, weights: torch.Tensor, bags: HeadBags) -> tuple[torch.Tensor, torch.Tensor]:
    """Return each output's sum of a table's rows by head, (outputs x heads, head width), under the weights (outputs +
    edges, heads), and these as they are summed, (entries,), for `logit_gradients`."""
    incoming = bags.incoming
    with torch.enable_grad():  # a forward of torch.autograd.Function runs without
        entry_weights = incoming.laid_out(weights).requires_grad_()
        return _sum_bags(table, incoming.rows, incoming.starts, entry_weights), entry_weights


def logit_gradients(
    out_gradient: torch.Tensor, sums: tuple[torch.Tensor, torch.Tensor], weights: torch.Tensor, bags: HeadBags
) -> torch.Tensor:
    """Return the gradient of the logits (outputs + edges, heads) from that of the `incoming_sums`, by output and
    head."""
    # Of the weights: the products of the sums' gradient and of the rows they weigh.
    (entry_gradient,) = torch.autograd.grad(*sums, out_gradient, retain_graph=True)
    weighted = bags.incoming.by_edge(entry_gradient).mul_(weights)
    total = weighted.new_zeros(len(bags.own_edges), weighted.shape[1]).index_add_(0, bags.targets, weighted)
    return weighted.sub_(total[bags.targets].mul_(weights))


def outgoing_sums(
    out_gradient: torch.Tensor, weights: torch.Tensor, bags: HeadBags, chunk: int
) -> Iterator[tuple[slice, torch.Tensor]]:
    """Yield, for so many inputs at a time, which they are and the gradient that reaches them through the sums,
    (inputs of the chunk, width), from that of the sums, (outputs x heads, head width)."""
    outgoing, n_heads = bags.outgoing, weights.shape[1]
    entry_weights = outgoing.laid_out(weights[bags.outgoing_edges])
    for rows in chunks(len(outgoing.bounds) - 1, chunk):
        entries = slice(*(n_heads * outgoing.bounds[[rows.start, rows.stop]]).tolist())
        starts = outgoing.starts[n_heads * rows.start : n_heads * rows.stop] - entries.start
        gradient = _sum_bags(out_gradient, outgoing.rows[entries], starts, entry_weights[entries])
        yield rows, gradient.view(rows.stop - rows.start, -1)


def own_projection_gradient(
    projected_gradient: Callable[[slice], torch.Tensor],
    nodes: torch.Tensor,
    block: Block,
    weight: torch.Tensor,
    node_gradient: torch.Tensor | None,
    chunk: int,
) -> torch.Tensor:
    """Return the gradient (out width, width) of a projection of the output nodes, and add theirs to that of the nodes.

    Args:
        projected_gradient: gives the gradient (outputs of the chunk, width) of so many projected nodes.
        nodes: (inputs, width), what is projected, the outputs among them.
        block: gives the positions of the outputs among the inputs.
        weight: (out width, width).
        node_gradient: (inputs, width), or None where the nodes need none.
        chunk: how many nodes are worked on at a time.
    """
    weight_gradient = torch.zeros_like(weight)
    for rows in chunks(block.n_outputs, chunk):
        gradient = projected_gradient(rows)
        weight_gradient.addmm_(gradient.T, nodes[rows if block.keeps_all else block.own_inputs[rows]])
        if node_gradient is None:
            continue
        if block.keeps_all:
            node_gradient[rows].addmm_(gradient, weight)
        else:
            node_gradient.index_add_(0, block.own_inputs[rows], gradient @ weight)
    return weight_gradient


def chunks(n_rows: int, size: int) -> list[slice]:
    """Return the rows as slices of a size, the last one shorter."""
    return [slice(start, min(start + size, n_rows)) for start in range(0, n_rows, size)]


def block_diagonal(attention: torch.Tensor) -> torch.Tensor:
    """Return (width, heads) that takes a vector to its product with each head's attention, from (heads, head width)."""
    return torch.block_diag(*attention).T.contiguous()


def _sum_bags(table: torch.Tensor, rows: torch.Tensor, starts: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    """Return each bag's weighted sum of the table's rows, (bags, head width)."""
    return functional.embedding_bag(rows, table, starts, mode="sum", per_sample_weights=weights)
