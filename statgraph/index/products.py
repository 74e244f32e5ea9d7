"""Inner products of questions with many vectors, by whichever routine leaves the processor to others afterwards."""

from __future__ import annotations

import sys

import numpy as np

_FEW_QUERIES = 20
_FEW_VALUES = 1 << 21  # 5,461 vectors of 384: a question takes a tenth of a millisecond, no thread is worth waking


def inner_products(queries: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """Return (queries, vectors) float32 of queries (queries, width) and vectors (vectors, width), float32 in order.

    Their last bits depend on the routine. torch's is taken where torch is loaded, as by an encoder: its threads are
    those that have just encoded the question. Threads of any other library go on spinning for the next product: after
    one of numpy's the next question took twice as long to encode. Few questions are therefore left to FAISS's loop, on
    one thread, and numpy multiplies where there are many.
    """
    few_values = vectors.size <= _FEW_VALUES
    if not few_values and sys.modules.get("torch") is not None:
        import torch  # another thread may just be importing it: this waits until it has

        with torch.no_grad():
            return (torch.tensor(queries) @ torch.from_numpy(vectors).T).numpy()
    if few_values or len(queries) < _FEW_QUERIES:
        return _by_loop(queries, vectors)
    return queries @ vectors.T


def products_by_row(queries: np.ndarray, vectors: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return each query's inner products with the vectors of its own rows, float32, as `rows` (queries, rows) int64.

    FAISS compares one pair at a time, so that a product is the same to the last bit wherever the pair stands; queries
    share its threads. That of a row below 0 means nothing.
    """
    import faiss

    products = np.empty(rows.shape, dtype=np.float32)
    arrays = (products, np.ascontiguousarray(queries), vectors, np.ascontiguousarray(rows))
    faiss.fvec_inner_products_by_idx(*(faiss.swig_ptr(array) for array in arrays), vectors.shape[1], *rows.shape)
    return products


def _by_loop(queries: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    import faiss

    products = np.empty((len(queries), len(vectors)), dtype=np.float32)
    for query, row in zip(queries, products, strict=True):
        faiss.fvec_inner_products_ny(*(faiss.swig_ptr(array) for array in (row, query, vectors)), *vectors.shape[::-1])
    return products
