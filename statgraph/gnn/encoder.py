"""The graph encoder: graph layers with residual connections over the vectors of the text encoders; its file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional

from statgraph.artifacts import read_tensors, replaced_file, write_tensors
from statgraph.config import GnnConfig
from statgraph.dropout import dropout
from statgraph.errors import RunError, StatgraphError, UsageError, described, reason_of
from statgraph.graph.blocks import Block
from statgraph.registry import LAYERS
from statgraph.settings import check_settings

_ACTIVATIONS = {"none": lambda update: update, "relu": functional.relu}


class GraphEncoder(nn.Module):
    """Enriches node vectors with those of their L-hop neighbourhood (QABISAR, section 2.2).

    Each layer adds to its input: h <- h + gate * dropout(sigma(layer(h))), sigma being the activation. The layers'
    projections start as the identity (see `QabisarLayer`), so that training begins from a smoothing of the text
    encoders' vectors over the graph, and not from noise: with a few hundred questions that start is most of the gain.

    Args:
        config: the layers, their heads, dropout, activation and first gates.
        width: components of a node vector.
        n_edge_types: relations of the graph, reverses included.
        unit_length: whether the vectors that come out have length 1, as where the similarity is the cosine.

    Raises:
        UsageError: if a setting is out of range, the layer is unknown, or the heads do not divide the width.
    """

    def __init__(self, config: GnnConfig, *, width: int, n_edge_types: int, unit_length: bool = True):
        super().__init__()
        check_settings(config, "gnn")
        layer = LAYERS.load(config.layer)
        self.layers = nn.ModuleList(
            layer(width, n_heads=config.heads, n_edge_types=n_edge_types) for _ in range(config.layers)
        )
        self.gates = nn.Parameter(torch.full((config.layers,), float(config.first_gate)))
        self.dropout = config.dropout
        self._activation = _ACTIVATIONS[config.activation]
        self.unit_length = unit_length

    @property
    def needs_whole_graph(self) -> bool:
        """Return whether a layer looks at more than the edges that end in a node, so that blocks give other vectors."""
        return any(getattr(layer, "counts_outgoing_edges", False) for layer in self.layers)

    def forward(self, nodes: torch.Tensor, blocks: Sequence[Block]) -> torch.Tensor:
        """Return vectors (outputs of the last block, width) from the inputs' (inputs, width).

        Raises:
            ValueError: if the blocks are not as many as the layers, or the vectors as the inputs of the first.
        """
        if len(blocks) != len(self.layers):
            raise ValueError(f"expected one block for each of {len(self.layers)} layers (got {len(blocks)})")
        if len(nodes) != blocks[0].n_inputs:
            raise ValueError(f"expected one vector for each of {blocks[0].n_inputs} inputs (got {len(nodes)})")
        nodes = self._passed(nodes, blocks)
        return functional.normalize(nodes, dim=1) if self.unit_length else nodes

    def last_attention(self, nodes: torch.Tensor, blocks: Sequence[Block]) -> tuple[torch.Tensor, torch.Tensor] | None:
        """Return the last layer's attention, (edge weights (edges, heads), own weights (outputs, heads)), over its own
        block; None where the layer has none. The arguments are those of `forward`."""
        weights_of = getattr(self.layers[-1], "attention_weights", None)
        return None if weights_of is None else weights_of(self._passed(nodes, blocks[:-1]), blocks[-1])

    def _passed(self, nodes: torch.Tensor, blocks: Sequence[Block]) -> torch.Tensor:
        """Return the vectors behind the first layers, as many as there are blocks."""
        for layer, gate, block in zip(self.layers, self.gates, blocks, strict=False):
            update = dropout(self._activation(layer(nodes, block)), self.dropout, self.training)
            nodes = torch.addcmul(block.own(nodes), update, gate)
        return nodes


def check_layer(config: GnnConfig, *, width: int | None) -> None:
    """Raise an error if the layer cannot be used: it does not take the width or the heads, or, where it is not
    statgraph's own, does not give two nodes with an edge between them a vector each.

    Args:
        width: components of a node vector; None where not known yet, then the layer is only imported.

    Raises:
        UsageError: if the layer is unknown, or does not take these shapes.
        DependencyError: if it cannot be imported.
    """
    layer = LAYERS.load(config.layer)
    if width is None:
        return
    if config.layer in LAYERS.built_in:
        with torch.device("meta"):  # the shapes alone
            layer(width, n_heads=config.heads, n_edge_types=1)
        return
    remedy = "docs/extending.md says what a layer is"
    ends = torch.tensor([1]), torch.tensor([0])
    block = Block(*ends, edge_types=torch.tensor([0]), own_inputs=torch.tensor([0, 1]), n_inputs=2)
    try:
        with torch.random.fork_rng(devices=[]), torch.no_grad():  # as if it had not been tried
            out = layer(width, n_heads=config.heads, n_edge_types=1)(torch.ones(2, width), block)
            shape = tuple(out.shape)
    except StatgraphError:
        raise
    except Exception as error:  # somebody's own code, which can raise anything
        raise UsageError(
            f"gnn.layer: '{config.layer}' failed when it was tried ({described(error)}); {remedy}"
        ) from error
    if shape != (2, width):
        raise UsageError(f"gnn.layer: '{config.layer}' gave vectors of shape {shape}, not {(2, width)}; {remedy}")


def write_graph_encoder(encoder: GraphEncoder, path: Path) -> None:
    """Write the weights of a graph encoder, as safetensors."""
    with replaced_file(path) as staging:
        write_tensors(staging, encoder.state_dict())


def read_graph_encoder(
    path: Path, config: GnnConfig, *, width: int, n_edge_types: int, unit_length: bool
) -> GraphEncoder:
    """Return the graph encoder that was trained with this configuration, ready for inference on the CPU.

    Raises:
        RunError: if its weights are missing or damaged, or those of another one.
    """
    remedy = "train the run again"
    encoder = GraphEncoder(config, width=width, n_edge_types=n_edge_types, unit_length=unit_length)
    try:
        encoder.load_state_dict(read_tensors(path, remedy=remedy))
    except RuntimeError as error:
        raise RunError(f"{path}: not the graph encoder of this run ({reason_of(error)}); {remedy}") from None
    return encoder.eval()
