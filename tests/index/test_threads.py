from concurrent.futures import ThreadPoolExecutor

import faiss
import pytest

from statgraph.index.threads import threads_for


@pytest.fixture(autouse=True)
def four_threads():
    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(4)
    yield
    faiss.omp_set_num_threads(before)


@pytest.mark.parametrize(("n_queries", "threads"), [(0, 1), (1, 1), (3, 3), (64, 4)])
def test_no_more_threads_than_queries(n_queries, threads):
    with threads_for(n_queries):
        assert faiss.omp_get_max_threads() == threads
    assert faiss.omp_get_max_threads() == 4


def test_the_number_is_back_after_an_error():
    with pytest.raises(ValueError, match=r"^no$"), threads_for(1):
        raise ValueError("no")
    assert faiss.omp_get_max_threads() == 4


def test_other_threads_keep_theirs():
    with ThreadPoolExecutor(1) as other:
        before = other.submit(faiss.omp_get_max_threads).result()
        other.submit(faiss.omp_set_num_threads, before + 1).result()
        with threads_for(1):
            assert other.submit(faiss.omp_get_max_threads).result() == before + 1
