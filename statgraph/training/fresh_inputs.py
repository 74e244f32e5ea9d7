"""The inputs of a block, some of them encoded afresh."""

from __future__ import annotations

import numpy as np
import torch


def with_fresh(old: torch.Tensor, nodes: torch.Tensor, fresh: torch.Tensor, fresh_nodes: np.ndarray) -> torch.Tensor:
    """Return the vectors of a block's input nodes (nodes, width), the fresh ones in place of the old where there are.

    Args:
        old: (nodes, width), the vectors of the bank.
        nodes: (nodes,), the rows of the input nodes.
        fresh: (fresh nodes, width), with gradients; not all of them need be among the inputs.
        fresh_nodes: (fresh nodes,), their rows, sorted.
    """
    if np.array_equal(nodes[: len(fresh)].numpy(), fresh_nodes):  # where one process has a whole batch, they come first
        return torch.cat([fresh, old[len(fresh) :]])
    places = np.searchsorted(fresh_nodes, nodes.numpy()).clip(max=len(fresh_nodes) - 1)
    known = np.flatnonzero(fresh_nodes[places] == nodes.numpy())
    own, given = (torch.from_numpy(rows).to(old.device) for rows in (known, places[known]))
    return old.index_copy(0, own, fresh[given].to(old.dtype))
