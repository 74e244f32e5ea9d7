"""A linear map as a module of a sentence-transformers folder."""

from __future__ import annotations

import torch


def dense_module(weight: torch.Tensor, bias: torch.Tensor):
    """Return sentence-transformers' Dense, without activation, for a map (width out, width in), (width out,)."""
    from sentence_transformers.sentence_transformer.modules import Dense

    dense = Dense(weight.shape[1], weight.shape[0], activation_function=torch.nn.Identity())
    dense.linear.load_state_dict({"weight": weight.cpu(), "bias": bias.cpu()})
    return dense
