"""A linear map's matrix as codes of a byte, and what makes the columns of its input alike for it."""

from __future__ import annotations

import numpy as np

_LARGEST = 127
_SHARE_OF_INPUT = 0.7  # of the differences between columns that the matrix takes over
_LEAST = 1e-5


def smoothing(ranges: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return what each column of a map's input is divided by, and that of its weight multiplied, (width in,) float32.

    Outputs stay what they are: s_j = max|x_j|^a / max|w_j|^(1 - a) (Xiao et al., 2023, SmoothQuant, eq. 4).

    Args:
        ranges: the largest magnitude of each column of the input, (width in,).
        weight: (width out, width in).
    """
    largest = np.abs(weight).max(axis=0)
    return np.maximum(ranges, _LEAST) ** _SHARE_OF_INPUT / np.maximum(largest, _LEAST) ** (1 - _SHARE_OF_INPUT)


def row_codes(weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (codes (rows, columns) int8, scales (rows,) float32) of a matrix: a value is `scale * code`, to half a
    scale; a row's scale is a 127th of its largest magnitude."""
    scales = np.abs(weight).max(axis=1) / _LARGEST
    scales[scales == 0] = 1.0  # of a row of zeros
    return np.rint(weight / scales[:, None]).astype(np.int8), scales
