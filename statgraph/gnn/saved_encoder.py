"""A trained graph encoder's weights on disk."""

from __future__ import annotations

from pathlib import Path

from statgraph.artifacts import replaced_file
from statgraph.config import GnnConfig
from statgraph.errors import RunError
from statgraph.gnn.encoder import GraphEncoder


def write_graph_encoder(encoder: GraphEncoder, path: Path) -> None:
    """Write the weights of a graph encoder, as safetensors."""
    from safetensors.torch import save_file

    with replaced_file(path) as staging:
        save_file({name: tensor.detach().cpu() for name, tensor in encoder.state_dict().items()}, staging)


def read_graph_encoder(
    path: Path, config: GnnConfig, *, width: int, n_edge_types: int, unit_length: bool
) -> GraphEncoder:
    """Return the graph encoder that was trained with this configuration, ready for inference on the CPU.

    Raises:
        RunError: if its weights are missing or damaged, or those of another one.
    """
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    encoder = GraphEncoder(config, width=width, n_edge_types=n_edge_types, unit_length=unit_length)
    try:
        encoder.load_state_dict(load_file(path))
    except FileNotFoundError:
        raise RunError(f"{path}: missing; train the run again") from None
    except (SafetensorError, RuntimeError) as error:
        reason = str(error).strip().partition("\n")[0]
        raise RunError(f"{path}: not the graph encoder of this run ({reason}); train the run again") from None
    return encoder.eval()
