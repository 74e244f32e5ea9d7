"""A linear map whose weight is laid out for the CPU's matrix units once, where a plain one is laid out at each call."""

from __future__ import annotations

from collections.abc import Callable


def packed_linear(weight, bias, *, gelu: bool = False) -> Callable:
    """Return the function x -> x weight^T + bias, (rows, width in) -> (rows, width out), with GELU behind it if asked.

    oneDNN's layout of the weight is what torch's compiler freezes models into; a torch without it multiplies plainly.

    Args:
        weight: (width out, width in), float32 or bfloat16, on the CPU.
        bias: (width out,).
    """
    import torch
    from torch.nn import functional

    if not _has_onednn():

        def plain(hidden):
            widened = functional.linear(hidden, weight, bias)
            return functional.gelu(widened) if gelu else widened

        return plain
    packed = torch.ops.mkldnn._reorder_linear_weight(weight, None)
    linear, after = torch.ops.mkldnn._linear_pointwise.default, "gelu" if gelu else "none"

    def multiplied(hidden):
        return linear(hidden, packed, bias, after, [], "none")

    return multiplied


def _has_onednn() -> bool:
    import torch

    operators = torch.ops.mkldnn
    return torch.backends.mkldnn.is_available() and all(
        hasattr(operators, name) for name in ("_reorder_linear_weight", "_linear_pointwise")
    )
