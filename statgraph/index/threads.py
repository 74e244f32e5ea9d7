"""How many threads FAISS takes for a search."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def threads_for(n_queries: int) -> Iterator[None]:
    """Let the calling thread's FAISS searches take no more threads than there are queries.

    FAISS gives a thread whole queries: with fewer of these the others only wait, by spinning, and take the processor
    from whoever computes, such as the threads of torch that have just encoded the question. OpenMP keeps the number for
    each thread of the process apart, so no other search is slowed.
    """
    import faiss

    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(max(1, min(n_queries, before)))
    try:
        yield
    finally:
        faiss.omp_set_num_threads(before)
