"""Dropout on a CPU at a fraction of its price: torch draws a mask one random number a place, one after the other, which
can take longer than the layer that it follows."""

from __future__ import annotations

import math

import torch
from torch import nn
from torch.nn import functional
from torch.overrides import TorchFunctionMode

_DRAWS = 2**16  # the values of 16 random bits
_LANES = 4  # places that a random number of 64 bits decides


def dropout(values: torch.Tensor, share: float, training: bool = True) -> torch.Tensor:
    """Return values with a share of them left out by chance and the others scaled up, so that their mean stays; torch's
    own where nothing or all is left out, outside training, and on other devices.

    Masks come from torch's generator, so that a seed decides them.
    """
    if not training or not 0 < share < 1 or values.device.type != "cpu":
        return functional.dropout(values, share, training)
    mask, factor = kept(values.shape, share, values.dtype)
    return values * mask * factor


def kept(shape: torch.Size, share: float, dtype: torch.dtype) -> tuple[torch.Tensor, float]:
    """Return (mask, factor): 1 for the places that stay and 0 for those left out, and what they are multiplied by. The
    share, below 1, is met to a multiple of 2**-16."""
    count = math.prod(shape)
    below = min(round(share * _DRAWS), _DRAWS - 1)
    # The whole range, since each of the 64 bits is used.
    numbers = torch.empty(-(-count // _LANES), dtype=torch.int64).random_(-(2**63), None)
    bits = numbers.view(torch.int16)[:count].view(shape)
    # In the type that it is multiplied with: a mask of booleans takes several times as long.
    return torch.ge(bits, below - _DRAWS // 2, out=torch.empty(shape, dtype=dtype)), _DRAWS / (_DRAWS - below)


class CheapDropout(TorchFunctionMode):
    """While it is entered, what torch calls `dropout` and `scaled_dot_product_attention` with dropout is computed here.

    The distribution is torch's, with the share rounded as in `statgraph.dropout.kept`; seeds and recomputation for a
    gradient hold.
    """

    def __torch_function__(self, function, types, args=(), kwargs=None):
        """Return what the function gives, or stands for it."""
        kwargs = kwargs or {}
        if function is nn.functional.dropout:
            return _dropout(*args, **kwargs)
        if function is nn.functional.scaled_dot_product_attention and len(args) == 3 and _has_dropout_alone(**kwargs):
            return _attention(*args, **kwargs)
        return function(*args, **kwargs)


def _dropout(values: torch.Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> torch.Tensor:
    return nn.functional.dropout(values, p, training, inplace) if inplace else dropout(values, p, training)


def _has_dropout_alone(*, dropout_p: float = 0.0, is_causal: bool = False, enable_gqa: bool = False, **others) -> bool:
    return 0 < dropout_p < 1 and not is_causal and not enable_gqa


def _attention(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    *,
    attn_mask: torch.Tensor | None = None,
    dropout_p: float,
    scale: float | None = None,
    **others,
) -> torch.Tensor:
    return _DroppedAttention.apply(query, key, value, attn_mask, dropout_p, scale or query.shape[-1] ** -0.5)


class _DroppedAttention(torch.autograd.Function):
    """Attention over (texts, heads, tokens, width), some of its weights left out.

    Scores and softmax are in float32, as in torch; the weights are kept for the gradient in the values' precision.
    """

    @staticmethod
    def forward(ctx, query, key, value, attn_mask, share, scale):
        with torch.autocast("cpu", enabled=False):
            scores = (query.float() * scale) @ key.float().transpose(-1, -2)  # (texts, heads, tokens, tokens)
            if attn_mask is not None:
                scores = scores.masked_fill_(~attn_mask, -torch.inf) if _is_bool(attn_mask) else scores + attn_mask
            weights = torch.softmax(scores, dim=-1).to(value.dtype)
            mask, factor = kept(weights.shape, share, weights.dtype)
            ctx.save_for_backward(query, key, value, weights, mask)
            ctx.scale, ctx.factor = scale, factor
            return ((weights * mask) @ value) * factor

    @staticmethod
    def backward(ctx, grad):
        query, key, value, weights, mask = ctx.saved_tensors
        grad = grad * ctx.factor
        grad_value = (weights * mask).transpose(-1, -2) @ grad
        grad_weights = (grad @ value.transpose(-1, -2)).mul_(mask)
        grad_scores = torch._softmax_backward_data(grad_weights, weights, -1, weights.dtype)
        grad_query = (grad_scores @ key) * ctx.scale
        grad_key = (grad_scores.transpose(-1, -2) @ query) * ctx.scale
        return grad_query, grad_key, grad_value, None, None, None


def _is_bool(mask: torch.Tensor) -> bool:
    return mask.dtype == torch.bool
