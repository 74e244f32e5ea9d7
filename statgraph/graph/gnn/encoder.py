"""The graph encoder: a stack of graph layers over the vectors of the text encoders; its file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional

from statgraph.artifacts import read_tensors, replaced_file, write_tensors
from statgraph.config import GnnConfig
from statgraph.errors import (
    DependencyError,
    RunError,
    StatgraphError,
    UsageError,
    damaged_run,
    described,
    marked,
    reason_of,
)
from statgraph.graph.blocks import Block
from statgraph.registry import LAYERS
from statgraph.runs.run import RunFolder
from statgraph.settings import check_settings

_ACTIVATIONS: Mapping[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "none": lambda update: update,
    "relu": functional.relu,
}


class GraphEncoder(nn.Module):  # type: ignore[misc]
    """Enriches node vectors with those of their L-hop neighbourhood (QABISAR, section 2.2).

    Each layer adds to its input: h <- h + gate * dropout(sigma(layer(h))), sigma being the activation. The layers'
    projections start as the identity (see `QabisarLayer`), so that training begins from a smoothing of the text
    encoders' vectors over the graph, and not from noise: with a few hundred questions that start is most of the gain.

    Without residual connections (G-DSR, section 3.2, equation 7) a layer's output takes the place of its input:
    h <- dropout(sigma(layer(h))), and h <- layer(h) for the last, whose vectors are compared with those of questions,
    which have negative components. Between the layers they may then be wider.

    Args:
        config: the layers, their heads, dropout, activation, residual connections, widths and start.
        width: components of a node vector.
        n_edge_types: relations of the graph, reverses included.
        unit_length: whether the vectors that come out have length 1, as where the similarity is the cosine.

    Raises:
        UsageError: if a setting is out of range, the layer is unknown, or the heads do not divide the width.
    """

    gates: nn.Parameter | None

    def __init__(self, config: GnnConfig, *, width: int, n_edge_types: int, unit_length: bool = True):
        super().__init__()
        check_settings(config, "gnn")
        layer = LAYERS.load(config.layer)
        self.layers = nn.ModuleList(
            layer(before, n_heads=config.heads, n_edge_types=n_edge_types, **_out_width(before, after))
            for before, after in pairwise(widths_of(config, width))
        )
        if config.start == "random":
            for projection in self.layers.modules():
                if isinstance(projection, nn.Linear):
                    nn.init.xavier_uniform_(projection.weight)
        first_gates = torch.full((config.layers,), float(config.first_gate))
        self.gates = nn.Parameter(first_gates) if config.residual else None
        self.dropout = config.dropout
        self._activation = _ACTIVATIONS[config.activation]
        self.unit_length = unit_length

    @property
    def needs_whole_graph(self) -> bool:
        """Return whether a layer looks at more than the edges that end in a node, so that blocks give other vectors."""
        return any(getattr(layer, "counts_outgoing_edges", False) for layer in self.layers)

    @property
    def has_attention(self) -> bool:
        """Return whether the last layer weighs its neighbours by attention."""
        return hasattr(self.layers[-1], "attention_weights")  # a layer of another package need not have it

    def forward(self, nodes: torch.Tensor, blocks: Sequence[Block]) -> torch.Tensor:
        """Return vectors (outputs of the last block, width) from the inputs' (inputs, width); a block a layer."""
        nodes = self._passed(nodes, blocks)
        return functional.normalize(nodes, dim=1) if self.unit_length else nodes

    def last_attention(self, nodes: torch.Tensor, blocks: Sequence[Block]) -> tuple[torch.Tensor, torch.Tensor] | None:
        """Return the last layer's attention, (edge weights (edges, heads), own weights (outputs, heads)), over its own
        block; None where the layer has none. The arguments are those of `forward`."""
        if not self.has_attention:
            return None
        edge_weights, own_weights = self.layers[-1].attention_weights(self._passed(nodes, blocks[:-1]), blocks[-1])
        return edge_weights, own_weights

    def _passed(self, nodes: torch.Tensor, blocks: Sequence[Block]) -> torch.Tensor:
        """Return the vectors behind the first layers, as many as there are blocks."""
        for place, (layer, block) in enumerate(zip(self.layers, blocks, strict=False)):
            update = layer(nodes, block)
            if self.gates is not None or place + 1 < len(self.layers):
                update = functional.dropout(self._activation(update), self.dropout, self.training)
            nodes = update if self.gates is None else torch.addcmul(block.own(nodes), update, self.gates[place])
        return nodes


def widths_of(config: GnnConfig, width: int) -> list[int]:
    """Return the components of the vectors before the first layer, between the layers and behind the last."""
    return [width, *[width * config.expansion] * (config.layers - 1), width]


def _out_width(before: int, after: int) -> dict[str, int]:
    """Return the layer's argument for another output width; users' own layers may not take one."""
    return {} if before == after else {"out_width": after}


def check_layers_of(run: RunFolder) -> None:
    """Raise RunError if a graph layer that a run names cannot be imported, or may not: see `LayerRegistry`."""
    try:
        for layer in run.config.graph_layers:
            LAYERS.load(layer)
    except (DependencyError, UsageError) as error:
        raise RunError(f"{run.folder}: {marked(error)}") from error


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
    for before, after in dict.fromkeys(pairwise(widths_of(config, width))):
        _check_shapes(layer, config, before, after)


def _check_shapes(layer: Callable[..., nn.Module], config: GnnConfig, before: int, after: int) -> None:
    """Raise an error if a layer does not take vectors of one width to those of another."""
    made_of = {"n_heads": config.heads, "n_edge_types": 1, **_out_width(before, after)}
    if config.layer in LAYERS.built_in:
        with torch.device("meta"):  # the shapes alone
            layer(before, **made_of)
        return
    remedy = "docs/extending.md says what a layer is"
    ends = torch.tensor([1]), torch.tensor([0])
    block = Block(*ends, edge_types=torch.tensor([0]), own_inputs=torch.tensor([0, 1]), n_inputs=2)
    try:
        with torch.random.fork_rng(devices=[]), torch.no_grad():  # as if it had not been tried
            out = layer(before, **made_of)(torch.ones(2, before), block)
            shape = tuple(out.shape)
    except StatgraphError:
        raise
    except Exception as error:  # somebody's own code, which can raise anything
        raise UsageError(
            f"gnn.layer: '{config.layer}' failed when it was tried ({described(error)}); {remedy}"
        ) from error
    if shape != (2, after):
        raise UsageError(f"gnn.layer: '{config.layer}' gave vectors of shape {shape}, not {(2, after)}; {remedy}")


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
    encoder = GraphEncoder(config, width=width, n_edge_types=n_edge_types, unit_length=unit_length)
    try:
        encoder.load_state_dict(read_tensors(path))
    except RuntimeError as error:
        raise damaged_run(f"{path}: not the graph encoder of this run ({reason_of(error)})") from None
    encoder.eval()
    return encoder
