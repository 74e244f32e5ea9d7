"""Graph layers by name. A new one is a file of its own and a line here."""

from __future__ import annotations

from collections.abc import Callable

from torch import nn

from statgraph.errors import UsageError
from statgraph.gnn.gat_layer import GatLayer
from statgraph.gnn.gatv2_layer import GatV2Layer
from statgraph.gnn.gcn_layer import GcnLayer
from statgraph.gnn.graphsage_layer import GraphSageLayer
from statgraph.gnn.k_gnn_layer import KGnnLayer
from statgraph.gnn.qabisar_layer import QabisarLayer

LAYERS: dict[str, Callable[..., nn.Module]] = {
    "qabisar": QabisarLayer,
    "gatv2": GatV2Layer,
    "gat": GatLayer,
    "gcn": GcnLayer,
    "graphsage": GraphSageLayer,
    "k-gnn": KGnnLayer,
}


def layer_of(name: str) -> Callable[..., nn.Module]:
    """Return the constructor `(width, *, n_heads, n_edge_types) -> layer` of a name.

    Raises:
        UsageError: if the name is not known.
    """
    if name not in LAYERS:
        raise UsageError(f"gnn.layer: '{name}' is not known; choose from {', '.join(LAYERS)}")
    return LAYERS[name]
