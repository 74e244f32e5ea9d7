import threading

import numpy as np
import pytest

from statgraph.corpus.allowed_rows import AllowedRows
from statgraph.index import coded_scan
from statgraph.index.coded_scan import CodedScan
from statgraph.index.exact_scan import ExactScan


@pytest.fixture
def at_once(monkeypatch):
    """Make codes for the first search and of few vectors, take few candidates, and never give up."""
    monkeypatch.setattr(coded_scan, "_SEARCHES_BEFORE", 0)
    monkeypatch.setattr(coded_scan, "_LEAST_VALUES", 0)
    monkeypatch.setattr(coded_scan, "_CANDIDATES_LEAST", 8)
    monkeypatch.setattr(coded_scan, "_TRIED_QUERIES", 1 << 30)


@pytest.fixture
def routes(monkeypatch):
    """Return the list of what searches do: how many candidates by codes for how many queries, or a product."""
    taken = []
    best_by_codes, best = CodedScan._best_by_codes, ExactScan._best

    def spied_codes(scan, codes, queries, depth, n_candidates):
        taken.append((n_candidates, len(queries)))
        return best_by_codes(scan, codes, queries, depth, n_candidates)

    def spied_product(scan, queries, depth, allowed):
        taken.append(("product", len(queries)))
        return best(scan, queries, depth, allowed)

    monkeypatch.setattr(CodedScan, "_best_by_codes", spied_codes)
    monkeypatch.setattr(ExactScan, "_best", spied_product)
    return taken


@pytest.fixture
def made(monkeypatch):
    """Return the list of the vectors that codes were made of."""
    vectors_coded = []
    vector_codes = coded_scan.VectorCodes
    monkeypatch.setattr(
        coded_scan, "VectorCodes", lambda vectors: vectors_coded.append(vectors) or vector_codes(vectors)
    )
    return vectors_coded


def same(found: tuple[np.ndarray, np.ndarray], expected: tuple[np.ndarray, np.ndarray]) -> bool:
    """Return whether scores and rows are the same to the last bit."""
    return all(a.dtype == b.dtype and a.tobytes() == b.tobytes() for a, b in zip(found, expected, strict=True))


def random(rng):
    return rng.standard_normal((2000, 40))


def clustered(rng):
    return rng.standard_normal((9, 40))[rng.integers(9, size=2000)] + 0.05 * rng.standard_normal((2000, 40))


def nearly_equal(rng):
    return rng.standard_normal(40) * (1 + rng.integers(-2, 3, size=(2000, 40)) * 2.0**-23)


def each_several_times(rng):
    return np.repeat(rng.standard_normal((150, 40)), 13, axis=0)


def all_equal(rng):
    return np.ones((500, 40))


def tied(rng):
    return rng.integers(-1, 2, size=(2000, 6))


def of_any_length(rng):
    return rng.standard_normal((2000, 40)) * np.geomspace(1e-3, 1e3, 2000)[:, None]


def constant_in_some_dimensions(rng):
    return np.where(np.arange(40) % 3, rng.standard_normal((2000, 40)), 1e3)


def one_dimension(rng):
    return rng.standard_normal((2000, 1))


def huge(rng):
    return rng.standard_normal((2000, 40)) * 1e18


def too_huge(rng):
    return rng.standard_normal((2000, 40)) * 1e37


def tiny(rng):
    return rng.standard_normal((2000, 40)) * 1e-28


def below_normal(rng):
    return rng.standard_normal((2000, 40)) * 1e-40


def few(rng):
    return rng.standard_normal((70, 40))


def not_numbers(rng):
    vectors = rng.standard_normal((500, 40))
    vectors[7, 3], vectors[100], vectors[250, 1] = np.nan, np.nan, np.inf
    return vectors


KINDS = [random, clustered, nearly_equal, each_several_times, all_equal, tied, of_any_length, huge, too_huge, tiny]
KINDS += [constant_in_some_dimensions, one_dimension, below_normal, few, not_numbers]


@pytest.mark.filterwarnings("ignore:overflow encountered", "ignore:invalid value encountered")
@pytest.mark.parametrize("length", [1e-10, 1, 1e10])
@pytest.mark.parametrize("kind", KINDS)
def test_it_is_the_product_to_the_last_bit(at_once, kind, length):
    rng = np.random.default_rng(1)
    vectors = kind(rng).astype(np.float32)
    queries = (length * rng.standard_normal((12, vectors.shape[1]))).astype(np.float32)
    queries[0] = 0
    queries[1] = np.nan_to_num(vectors[5], posinf=0) / (np.nanmax(np.abs(vectors)) + 1e-45)
    exact, scan = ExactScan(vectors), CodedScan(vectors)
    for k in (1, 2, 10, 60):
        for n_queries in (1, 3, 4, 12):
            for start in range(0, 12, n_queries):
                asked = queries[start : start + n_queries]
                assert same(scan.search(asked, k), exact.search(asked, k))


def test_scores_that_overflow_are_those_of_the_product(at_once, routes):
    rng = np.random.default_rng(2)
    vectors = np.abs(huge(rng)).astype(np.float32)
    scores, rows = CodedScan(vectors).search(np.full((1, 40), 1e21, dtype=np.float32), 3)
    assert scores.tolist() == [[np.inf] * 3]
    assert rows.tolist() == [[0, 1, 2]]
    assert routes[-1] == ("product", 1)


@pytest.mark.filterwarnings("ignore:overflow encountered", "ignore:invalid value encountered")
@pytest.mark.parametrize("kind", [too_huge, not_numbers])
def test_vectors_without_a_finite_length_are_never_coded(at_once, made, kind):
    scan = CodedScan(kind(np.random.default_rng(3)).astype(np.float32))
    scan.search(np.ones((1, 40), dtype=np.float32), 3)
    assert not made


def test_vectors_that_are_too_wide_are_never_coded(at_once, made, monkeypatch, unit_vectors):
    monkeypatch.setattr(coded_scan, "_WIDEST", 7)
    for width in (7, 8):
        CodedScan(unit_vectors(600, width, seed=4)).search(unit_vectors(1, width, seed=5), 3)
    assert [vectors.shape[1] for vectors in made] == [7]


def test_codes_suffice_for_most_questions(at_once, routes, unit_vectors):
    vectors, queries = unit_vectors(5000, 64, seed=1), unit_vectors(40, 64, seed=2)
    scan = CodedScan(vectors)
    for query in queries:
        scan.search(query[None], 10)
    assert sum(route == (40, 1) for route in routes) > 30
    routes.clear()
    scan.search(queries[:4], 10)
    assert routes[0] == (40, 4)


@pytest.mark.parametrize("place", [0, 1500, 3000])
def test_an_article_that_its_code_hides_is_found(at_once, routes, place):
    # The query's code is (127, 0): all articles on the second axis score alike by code, and the greatest height, 127,
    # is the second best. The candidates have 96, between half of the ceiling of the others and all of it.
    vectors = np.full((3001, 2), [0, 96], dtype=np.float32)
    vectors[place] = [0, 127]
    vectors[[700, 701, 702]] = [[127, 0], [-127, 0], [0, -127]]
    query = np.array([[127, 0.499]], dtype=np.float32)
    scores, rows = CodedScan(vectors).search(query, 2)
    assert rows.tolist() == [[700, place]]
    assert scores[0] == pytest.approx([127 * 127, 127 * 0.499])
    assert routes == [(8, 1), (32, 1), ("product", 1)]


def test_more_candidates_come_before_the_product(at_once, routes):
    # 20 articles with the same best code, then far lesser ones: 8 candidates say nothing, 32 are enough.
    vectors = np.concatenate([np.linspace(126.6, 127, 20), np.linspace(-127, 100, 500)])[:, None].astype(np.float32)
    scores, rows = CodedScan(vectors).search(np.ones((1, 1), dtype=np.float32), 2)
    assert rows.tolist() == [[19, 18]]
    assert scores.tolist() == vectors[[19, 18], 0][None].tolist()
    assert routes == [(8, 1), (32, 1)]


def test_only_the_questions_that_are_open_go_on(at_once, routes):
    # The first query is across all vectors: each ties. The second is along them.
    vectors = np.stack([np.zeros(600), np.linspace(-127, 127, 600)], axis=1).astype(np.float32)
    vectors[0, 0] = -1
    queries = np.array([[1, 0], [0, 1]], dtype=np.float32)
    scores, rows = CodedScan(vectors).search(queries, 2)
    assert rows.tolist() == [[1, 2], [599, 598]]
    assert scores[0].tolist() == [0, 0]
    assert routes == [(8, 2), (32, 1), ("product", 1)]


def test_a_tie_across_the_ceiling_goes_by_row(at_once):
    # Equal vectors that stand last and first: whichever the codes find, the lowest rows are the best.
    rng = np.random.default_rng(5)
    vectors = rng.standard_normal((900, 8)).astype(np.float32)
    vectors[3:6] = vectors[860:] = 5
    assert CodedScan(vectors).search(np.ones((1, 8), dtype=np.float32), 2)[1].tolist() == [[3, 4]]


def test_among_some_it_is_the_product(at_once, routes, made, unit_vectors):
    vectors, queries = unit_vectors(600, 8, seed=6), unit_vectors(1, 8, seed=7)
    allowed = AllowedRows.checked(range(0, 600, 2), len(vectors))
    assert same(CodedScan(vectors).search(queries, 5, allowed), ExactScan(vectors).search(queries, 5, allowed))
    assert [route for route, _ in routes] == ["product", "product"]
    assert not made


@pytest.mark.parametrize(
    ("n_queries", "k", "by_codes"), [(4, 2, True), (5, 2, False), (1, 18, True), (1, 19, False), (0, 2, False)]
)
def test_many_queries_or_hits_go_to_the_product(at_once, routes, unit_vectors, n_queries, k, by_codes):
    # 4 times 18 candidates are not more than an eighth of 600.
    CodedScan(unit_vectors(600, 8, seed=8)).search(unit_vectors(n_queries, 8, seed=9), k)
    assert (bool(routes) and routes[0][0] == max(8, 4 * k)) == by_codes


def test_codes_are_made_by_the_eighth_search_of_a_few_queries(made, unit_vectors):
    vectors, queries = unit_vectors(1 << 14, 64, seed=10), unit_vectors(9, 64, seed=11)
    scan = CodedScan(vectors)
    for times in range(7):
        scan.search(queries[:1], 5)
        scan.search(queries, 5)  # many: they are not counted
        scan.search(queries[:1], 5, AllowedRows.checked(range(0, 1 << 14, 3), 1 << 14))
        assert not made, times
    for _ in range(3):
        assert same(scan.search(queries[:1], 5), ExactScan(vectors).search(queries[:1], 5))
        assert len(made) == 1


def test_few_vectors_are_never_coded(made, unit_vectors):
    scan = CodedScan(unit_vectors((1 << 14) - 1, 64, seed=12))
    for _ in range(20):
        scan.search(unit_vectors(1, 64, seed=13), 5)
    assert not made


def test_other_threads_go_on_while_one_makes_the_codes(at_once, routes, monkeypatch, unit_vectors):
    vectors, queries = unit_vectors(600, 8, seed=14), unit_vectors(1, 8, seed=15)
    begun, go_on, n_made = threading.Event(), threading.Event(), []
    vector_codes = coded_scan.VectorCodes

    def slow(vectors):
        n_made.append(1)
        begun.set()
        assert go_on.wait(timeout=20)
        return vector_codes(vectors)

    monkeypatch.setattr(coded_scan, "VectorCodes", slow)
    scan, expected, found = CodedScan(vectors), ExactScan(vectors).search(queries, 5), []
    routes.clear()
    maker = threading.Thread(target=lambda: found.append(scan.search(queries, 5)))
    maker.start()
    assert begun.wait(timeout=20)
    assert same(scan.search(queries, 5), expected)
    assert routes == [("product", 1)]
    assert maker.is_alive()
    go_on.set()
    maker.join(timeout=20)
    assert same(found[0], expected)
    assert same(scan.search(queries, 5), expected)
    assert routes[1:] == [(20, 1), (20, 1)]
    assert len(n_made) == 1


def test_many_threads_at_once(monkeypatch, made, unit_vectors):
    monkeypatch.setattr(coded_scan, "_LEAST_VALUES", 0)
    vectors, queries = unit_vectors(3000, 24, seed=16), unit_vectors(60, 24, seed=17)
    scan, exact = CodedScan(vectors), ExactScan(vectors)
    expected = [exact.search(query[None], 10) for query in queries]
    wrong, together = [], threading.Barrier(6)

    def ask():
        together.wait()
        for query, result in zip(queries, expected, strict=True):
            if not same(scan.search(query[None], 10), result):
                wrong.append(query)

    threads = [threading.Thread(target=ask) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert len(made) == 1


def test_codes_that_prove_little_are_given_up(at_once, routes, made, monkeypatch):
    # One vector is a thousand times as long as the others, whose codes are all but the same.
    monkeypatch.setattr(coded_scan, "_TRIED_QUERIES", 6)
    rng = np.random.default_rng(18)
    vectors = rng.standard_normal((2000, 16)).astype(np.float32)
    vectors[9] *= 1e3
    queries = rng.standard_normal((9, 16)).astype(np.float32)
    scan, exact = CodedScan(vectors), ExactScan(vectors)
    for query in queries:
        routes.clear()
        assert same(scan.search(query[None], 5), exact.search(query[None], 5))
    assert [route for route, _ in routes] == ["product", "product"]  # its own and the other's
    assert len(made) == 1
    assert scan._codes is None
