"""Choosing where tensors live and which precision a device computes fast."""

from __future__ import annotations

from statgraph.errors import UsageError

DEVICES = ("auto", "cpu", "cuda")


def pick_device(name: str = "auto"):
    """Return the torch device for `auto` (CUDA where there is one), `cpu` or `cuda`.

    Raises:
        UsageError: if the name is not known, or `cuda` is asked for where there is none.
    """
    import torch

    if name not in DEVICES:
        raise UsageError(f"device '{name}' is not known; use one of {', '.join(DEVICES)}")
    available = torch.cuda.is_available()
    if name == "cuda" and not available:
        raise UsageError("device 'cuda' was asked for, but torch sees no CUDA device; use --device cpu")
    return torch.device("cuda" if available and name != "cpu" else "cpu")


def inference_dtype(device):
    """Return the dtype in which frozen transformers run: bfloat16 where the hardware multiplies it, else float32."""
    import torch

    if device.type == "cuda":
        return torch.bfloat16 if torch.cuda.is_bf16_supported() else torch.float32
    return torch.bfloat16 if torch.cpu._is_amx_tile_supported() else torch.float32
