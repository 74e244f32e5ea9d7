"""A block's edges as bags, one for each node and head: how torch's `embedding_bag` sums a neighbourhood."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from statgraph.graph.blocks import Block
from statgraph.graph.dgl_loader import single_threaded


@dataclass(frozen=True)
class Bags:
    """Entries in groups: each bag's lie side by side, in the order of the bags.

    Attributes:
        rows: (entries,) int32 or int64, the row of the summed table that an entry takes, a row for each node and head.
        starts: (bags,) of the same dtype, where each bag begins.
        slots: (edges, heads) int64, where an edge's entry for a head lies.
        bounds: (nodes + 1,) int64, where the edges of each node begin, and the number of edges.
    """

    rows: torch.Tensor
    starts: torch.Tensor
    slots: torch.Tensor
    bounds: torch.Tensor

    def laid_out(self, edge_values: torch.Tensor) -> torch.Tensor:
        """Return values (edges, heads) in the order of the entries, (entries,)."""
        return torch.empty_like(edge_values).view(-1).scatter_(0, self.slots.view(-1), edge_values.reshape(-1))

    def by_edge(self, entry_values: torch.Tensor) -> torch.Tensor:
        """Return values (entries,) as (edges, heads)."""
        return entry_values.gather(0, self.slots.view(-1)).view_as(self.slots)


@dataclass(frozen=True)
class HeadBags:
    """The bags of a block under a number of heads, each output node counted as a neighbour of its own.

    `incoming` has the edges sorted by target, a node's own edge first; `outgoing` sorted by source, to sum gradients
    the other way.

    Attributes:
        incoming: bags of (output, head) over the table that is summed, (outputs + edges) edges.
        logit_inputs: (outputs + edges,) int64, the input that decides each incoming edge's logit.
        edge_types: (outputs + edges,) int64; -1 for a node's own edge.
        targets: (outputs + edges,) int64.
        outgoing: bags of (input, head) over the outputs.
        outgoing_edges: where each outgoing edge lies among the incoming, int64.
    """

    incoming: Bags
    logit_inputs: torch.Tensor
    edge_types: torch.Tensor
    targets: torch.Tensor
    outgoing: Bags
    outgoing_edges: torch.Tensor

    @property
    def own_edges(self) -> torch.Tensor:
        """Return where each output's own edge lies among the incoming, (outputs,)."""
        return self.incoming.bounds[:-1]


def head_bags(block: Block, n_heads: int, *, looped: bool = False) -> HeadBags:
    """Return the bags of a block, worked out once for it.

    Where a node gives itself something else than its neighbours, the table holds the inputs and, behind them, a row for
    each output's own edge, and outgoing are the block's edges alone. `looped`, it is a neighbour like any other: the
    table holds the inputs, and own edges are among the outgoing.
    """
    key = n_heads, looped
    if key not in block.head_bags:
        # Many short operations: on a machine with other work threads wait for each other longer than they work.
        with single_threaded():
            block.head_bags[key] = _head_bags(block, n_heads, looped=looped)
    bags: HeadBags = block.head_bags[key]
    return bags


def _head_bags(block: Block, n_heads: int, *, looped: bool) -> HeadBags:
    outputs = torch.arange(block.n_outputs)
    all_targets = torch.cat([outputs, block.targets])
    logit_inputs = torch.cat([block.own_inputs, block.sources])
    # A stable sort keeps the own edges, which come first here, first in each bag.
    targets, order = torch.sort(all_targets, stable=True)
    table_rows = logit_inputs if looped else torch.cat([block.n_inputs + outputs, block.sources])
    incoming = _bags(targets, table_rows[order], block.n_outputs, n_heads)
    place = torch.empty_like(order).scatter_(0, order, torch.arange(len(order)))  # of each edge among the incoming
    going_out = slice(0 if looped else block.n_outputs, None)
    sources, by_source = torch.sort(logit_inputs[going_out], stable=True)
    return HeadBags(
        incoming=incoming,
        logit_inputs=logit_inputs[order],
        edge_types=torch.cat([torch.full_like(outputs, -1), block.edge_types])[order],
        targets=targets,
        outgoing=_bags(sources, all_targets[going_out][by_source], block.n_inputs, n_heads),
        outgoing_edges=place[going_out][by_source],
    )


def _bags(nodes: torch.Tensor, rows: torch.Tensor, n_nodes: int, n_heads: int) -> Bags:
    """Return the bags of (node, head) for edges sorted by the node that sums them; `rows` is what each adds to it."""
    heads = torch.arange(n_heads)
    sizes = torch.bincount(nodes, minlength=n_nodes)
    bounds = torch.zeros(n_nodes + 1, dtype=torch.int64)
    torch.cumsum(sizes, 0, out=bounds[1:])
    # Before an edge lie all entries of the nodes before, those of its node's heads before, and its elder siblings'.
    first = torch.arange(len(nodes)) + bounds[nodes] * (n_heads - 1)
    slots = first.unsqueeze(1) + sizes[nodes].unsqueeze(1) * heads  # (edges, heads)
    dtype = torch.int32 if (int(rows.max()) + 1 if len(rows) else 0) * n_heads < 2**31 > slots.numel() else torch.int64
    entry_rows = (rows.unsqueeze(1) * n_heads + heads).to(dtype)
    starts = bounds[:-1].unsqueeze(1) * n_heads + sizes.unsqueeze(1) * heads
    return Bags(
        rows=torch.empty(slots.numel(), dtype=dtype).scatter_(0, slots.view(-1), entry_rows.view(-1)),
        starts=starts.to(dtype).view(-1),
        slots=slots,
        bounds=bounds,
    )
