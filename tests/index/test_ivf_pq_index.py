import shutil
from dataclasses import replace

import numpy as np
import pytest

from statgraph.config import IndexConfig, IvfPqConfig
from statgraph.corpus.allowed_rows import AllowedRows
from statgraph.errors import RunError
from statgraph.index import ivf_pq_index
from statgraph.index.article_index import ArticleIndex

SETTINGS = IvfPqConfig(lists=20, probes=6, rerank=100)
CONFIG = IndexConfig("ivf-pq", ivf_pq=SETTINGS)


@pytest.fixture
def built():
    """Return a function that builds the index of vectors with some settings."""

    def build(vectors: np.ndarray, *, unit_length: bool = True, **settings: object) -> ArticleIndex:
        config = replace(CONFIG, ivf_pq=replace(SETTINGS, **settings))
        ids = [f"a{row}" for row in range(len(vectors))]
        return ArticleIndex.build(vectors, ids, device="cpu", unit_length=unit_length, config=config)

    return build


@pytest.fixture
def saved(tmp_path, built, clustered):
    """Return the folder of an index of 500 articles."""
    built(clustered(500, 0, seed=6)[0]).save(tmp_path / "index")
    return tmp_path / "index"


def test_few_vectors_are_ranked_by_hand(built, compass):
    vectors = np.concatenate([compass, np.repeat(compass[3:4], 15, axis=0)])  # and fifteen more that look south
    scores, rows = built(vectors, lists=2).search(np.array([[0.6, 0.8]], dtype=np.float32), 3)
    assert rows.tolist() == [[4, 1, 0]]  # north-east, north, east
    assert scores[0] == pytest.approx([1.4 * np.sqrt(0.5), 0.8, 0.6])


@pytest.mark.parametrize(("precision", "tolerance"), [("float32", 1e-6), ("float16", 1e-3)])
def test_it_finds_nearly_all_of_the_best(built, clustered, exact_best, recall, precision, tolerance):
    vectors, queries = clustered(3000, 50, seed=1)
    scores, rows = built(vectors, precision=precision).search(queries, 20)
    assert recall(exact_best(vectors, queries, 20)[1], rows) >= 0.95
    assert scores == pytest.approx(np.einsum("qkd,qd->qk", vectors[rows], queries), abs=tolerance)
    assert (scores.dtype, rows.dtype) == (np.float32, np.int64)
    assert all(len(set(found)) == 20 for found in rows.tolist())


def test_candidates_are_ranked_anew(built, clustered, exact_best, recall, monkeypatch):
    vectors, queries = clustered(3000, 50, seed=1)
    best = exact_best(vectors, queries, 20)[1]
    monkeypatch.setattr(ivf_pq_index, "CANDIDATES_PER_HIT", 1)
    few, many = (built(vectors, probes=20, code_bytes=1, rerank=n).search(queries, 20)[1] for n in (20, 1500))
    assert recall(best, few) < 0.6  # a byte says little of sixteen components
    assert recall(best, many) > 0.95


def test_candidates_that_hardly_can_be_among_the_best_are_not_compared(built, compass):
    # The first two of eight gain 0.1 and 0.3 on their codes: 0.2 on average, 0.1 of deviation, so 0.8 at most. East
    # scores 1, north-east 0.75 as the second of them.
    vectors = np.concatenate([compass, np.repeat(compass[3:4], 15, axis=0)])  # east, north, west, south, north-east
    vectors[4] = [0.75, np.sqrt(1 - 0.75**2)]
    index = built(vectors, lists=2)._index
    candidates = np.array([[0, 4, 1, 2, 5, 0, 4, -1]])
    by_codes = np.array([[0.9, 0.45, 0.21, 0.19, -0.04, -0.06, -5, -np.inf]], dtype=np.float32)
    queries = np.array([[1, 0]], dtype=np.float32)
    best = [1, 0.75, 0, -np.inf, -np.inf, -np.inf, -np.inf, -np.inf]
    assert index._compared(queries, by_codes, candidates, 1)[0] == pytest.approx(best, abs=1e-6)
    best = [1, 0.75, 0, -1, 0, -np.inf, -np.inf, -np.inf]
    assert index._compared(queries, by_codes, candidates, 2)[0] == pytest.approx(best, abs=1e-6)


def test_candidates_that_were_not_found_hide_no_others(built, compass):
    vectors = np.concatenate([compass, np.repeat(compass[3:4], 15, axis=0)])
    candidates, by_codes = np.array([[4, -1, -1, -1, -1, -1, -1, -1]]), np.full((1, 8), -np.inf, dtype=np.float32)
    by_codes[0, 0] = 0.5
    scores = built(vectors, lists=2)._index._compared(np.array([[1, 0]], dtype=np.float32), by_codes, candidates, 2)
    assert scores[0] == pytest.approx([np.sqrt(0.5), *[-np.inf] * 7])


@pytest.mark.parametrize("k", [1, 10, 25])
def test_nothing_is_lost_for_not_being_compared(built, clustered, monkeypatch, k):
    vectors, queries = clustered(3000, 50, seed=1)
    compared = []
    products = ivf_pq_index.inner_products
    monkeypatch.setattr(
        ivf_pq_index, "inner_products", lambda *given: compared.append((given[2] >= 0).sum()) or products(*given)
    )
    index = built(vectors)
    some, n_some = index.search(queries, k), sum(compared)
    monkeypatch.setattr(ivf_pq_index, "_DEVIATIONS", np.inf)
    compared.clear()
    every, n_every = index.search(queries, k), sum(compared)
    assert n_some < n_every == 50 * 100
    for one, other in zip(some, every, strict=True):
        assert (one == other).all()


def test_copies_of_the_best_go_by_row(built, unit_vectors):
    # All candidates gain the same on their codes, and a hundred of four hundred are compared first.
    vectors = unit_vectors(900, 16, seed=3)
    copies = np.arange(100, 900, 2)
    for seed in range(5):
        vectors[copies] = unit_vectors(1, 16, seed=10 + seed)
        _, rows = built(vectors, lists=4, probes=4, rerank=400).search(vectors[100:101], 100)
        assert rows[0].tolist() == copies[:100].tolist()


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_a_sample_is_read_in_pieces(monkeypatch, dtype):
    forgotten = []
    monkeypatch.setattr(ivf_pq_index, "forget_pages", forgotten.append)
    monkeypatch.setattr(ivf_pq_index, "_SAMPLE_PIECE", 30)
    vectors = np.arange(1000).reshape(500, 2).astype(dtype)
    sample = ivf_pq_index._sample(vectors, 100)
    assert (sample.shape, sample.dtype, len(forgotten)) == ((100, 2), dtype, 4)
    assert (np.diff(sample[:, 0]) > 0).all()
    assert (sample[:, 1] - sample[:, 0] == 1).all()
    assert (ivf_pq_index._sample(vectors, 500) == vectors).all()


def test_more_probes_find_more(built, clustered, exact_best, recall):
    vectors, queries = clustered(3000, 50, seed=1)
    best = exact_best(vectors, queries, 50)[1]
    one, all_ = (built(vectors, probes=probes).search(queries, 50)[1] for probes in (1, 20))
    assert recall(best, one) < recall(best, all_)


def test_vectors_of_any_length_are_found_by_inner_product(built, clustered, exact_best, recall):
    vectors, queries = clustered(3000, 50, seed=2)
    vectors *= np.random.default_rng(3).uniform(0.5, 2, size=(3000, 1)).astype(np.float32)
    scores, rows = built(vectors, unit_length=False).search(queries, 20)
    expected_scores, expected_rows = exact_best(vectors, queries, 20)
    assert recall(expected_rows, rows) >= 0.95
    assert scores[:, 0] == pytest.approx(expected_scores[:, 0], abs=1e-5)


@pytest.mark.parametrize("k", [1, 60, 125, 400, 500])
def test_as_many_are_found_as_were_asked_for(built, clustered, exact_best, k):
    # One probe reads some 25 articles: deeper rankings are searched exactly, those of a quarter or more from the start.
    vectors, queries = clustered(500, 5, seed=4)
    scores, rows = built(vectors, probes=1).search(queries, k)
    assert rows.shape == scores.shape == (5, k)
    assert all(len(set(found)) == k and min(found) >= 0 for found in rows.tolist())
    if k >= 125:
        assert (rows == exact_best(vectors, queries, k)[1]).all()


def test_no_query_gives_no_rows(built, clustered):
    scores, rows = built(clustered(500, 0, seed=5)[0]).search(np.empty((0, 16), dtype=np.float32), 3)
    assert scores.shape == rows.shape == (0, 3)


def test_the_same_vectors_give_the_same_index(built, clustered):
    vectors, queries = clustered(1000, 20, seed=7)
    for once, again in zip(built(vectors).search(queries, 10), built(vectors).search(queries, 10), strict=True):
        assert (once == again).all()


@pytest.mark.parametrize("precision", ["float32", "float16"])
def test_it_comes_back_from_its_folder(tmp_path, built, clustered, precision):
    vectors, queries = clustered(500, 4, seed=5)
    index = built(vectors, precision=precision)
    index.save(tmp_path / "index")
    names = ["ids.json", "index.faiss", "manifest.json", "vectors.npy"]
    assert sorted(path.name for path in (tmp_path / "index").iterdir()) == names
    loaded = ArticleIndex.load(tmp_path / "index", device="cpu")
    assert (loaded.kind, len(loaded), loaded.width, loaded.precision) == ("ivf-pq", 500, 16, precision)
    assert (loaded.vectors == vectors.astype(precision)).all()
    for before, after in zip(index.search(queries, 30), loaded.search(queries, 30), strict=True):
        assert (before == after).all()


def test_saving_over_the_folder_it_was_read_from(saved, clustered):
    # The vectors of the old folder stay mapped while the new one takes its place.
    vectors, queries = clustered(500, 0, seed=6)[0], clustered(500, 5, seed=8)[1]
    loaded = ArticleIndex.load(saved, device="cpu")
    loaded.rebuilt(CONFIG).save(saved)
    again = ArticleIndex.load(saved, device="cpu")
    assert (again.vectors == vectors).all()
    assert (again.search(queries, 5)[1] == loaded.search(queries, 5)[1]).all()


def test_from_flat_and_back_nothing_is_lost(unit_vectors):
    vectors, queries = unit_vectors(300, 12, seed=9), unit_vectors(6, 12, seed=10)
    flat = ArticleIndex.build(vectors, [str(row) for row in range(300)], device="cpu")
    again = flat.rebuilt(CONFIG).rebuilt(IndexConfig("flat"), device="cpu")
    assert (again.kind, again.article_ids) == ("flat", flat.article_ids)
    for before, after in zip(flat.search(queries, 20), again.search(queries, 20), strict=True):
        assert (before == after).all()


def refused(folder, said: str) -> None:
    with pytest.raises(RunError, match=f"^{folder}/{said}") as error:
        ArticleIndex.load(folder, device="cpu")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("name", ["index.faiss", "ids.json", "manifest.json", "vectors.npy"])
def test_a_missing_file_is_refused(saved, name):
    (saved / name).unlink()
    refused(saved, f"{name}: missing; ")


@pytest.mark.parametrize("name", ["index.faiss", "vectors.npy"])
@pytest.mark.parametrize("kept", [0, 3, 1000])
def test_a_file_that_was_cut_off_is_refused(saved, name, kept):
    (saved / name).write_bytes((saved / name).read_bytes()[:kept])
    refused(saved, f"{name}: (damaged|not readable)")


def test_codes_of_another_index_are_refused(saved, built, clustered, tmp_path):
    built(clustered(400, 0, seed=1)[0]).save(tmp_path / "other")
    shutil.copy(tmp_path / "other" / "index.faiss", saved / "index.faiss")
    refused(saved, r"vectors\.npy: float32 of shape \(500, 16\) where ")


def test_a_damaged_vector_is_refused_once_it_is_found(saved, clustered):
    vectors = np.load(saved / "vectors.npy", allow_pickle=False)
    query = vectors[3:4].copy()
    vectors[3] = np.nan
    np.save(saved / "vectors.npy", vectors, allow_pickle=False)
    with pytest.raises(RunError, match=r"^index: vectors.npy holds a vector that is not finite; "):
        ArticleIndex.load(saved, device="cpu").search(query, 5)


def test_lists_are_searched_for_allowed_rows(built, clustered, exact_best, recall, monkeypatch):
    monkeypatch.setattr(ivf_pq_index, "COMPARED_MOST", 0)
    vectors, queries = clustered(3000, 50, seed=1)
    allowed = AllowedRows.of_mask(np.random.default_rng(2).random(3000) < 0.2)
    scores, rows = built(vectors).search(queries, 20, allowed)
    assert recall(allowed.rows[exact_best(vectors[allowed.mask], queries, 20)[1]], rows) >= 0.95
    assert np.isin(rows, allowed.rows).all()
    assert scores == pytest.approx(np.einsum("qkd,qd->qk", vectors[rows], queries), abs=1e-6)


@pytest.mark.parametrize(
    ("n_candidates", "read"),
    [(5, [4, 2, 7, -1, -1]), (10, [4, 2, 7, -1, -1]), (11, [4, 2, 7, 0, -1]), (100, [4, 2, 7, 0, 9])],
)
def test_lists_that_score_little_are_not_read(built, clustered, monkeypatch, n_candidates, read):
    # The mean of all centres scores 0.1, the nearest 1.1: a fifth of the way is 0.3. The first three lists hold 20
    # articles, twice 10 candidates; the first four 25.
    index = built(clustered(500, 0, seed=6)[0], probes=5)._index
    scores, lists = np.array([[1.1, 0.9, 0.31, 0.29, -1.0]], dtype=np.float32), np.array([[4, 2, 7, 0, 9]])
    monkeypatch.setattr(ivf_pq_index, "exact_search", lambda _, asked, depth: (scores[:, :depth], lists[:, :depth]))
    vars(index).update(_mean_centre=np.full(16, 0.1 / 16, dtype=np.float32))
    vars(index).update(_list_sizes=np.array([5, 0, 8, 0, 6, 0, 0, 6, 0, 475]))
    asked = np.ones((1, 16), dtype=np.float32)
    assert index._lists(asked, n_candidates, None)[1].tolist() == [read]
    half = AllowedRows.checked(np.arange(0, 500, 2), 500)
    assert index._lists(asked, n_candidates, half)[1][:, :5].tolist() == lists.tolist()


def test_a_question_reads_its_own_lists_alone_and_in_a_batch(built, clustered):
    # The batch's lists are filled up with none where another question reads more.
    vectors, queries = clustered(3000, 30, seed=1)
    index = built(vectors, lists=60, probes=30, rerank=60)
    _, lists = index._index._lists(queries, 60, None)
    assert len({int((row >= 0).sum()) for row in lists}) > 1
    scores, rows = index.search(queries, 15)
    for place in range(30):
        one_scores, one_rows = index.search(queries[place : place + 1], 15)
        assert (one_scores == scores[place]).all()
        assert (one_rows == rows[place]).all()


def test_with_a_fifth_allowed_five_times_the_lists_are_read(built, clustered, monkeypatch):
    monkeypatch.setattr(ivf_pq_index, "COMPARED_MOST", 0)
    vectors, queries = clustered(3000, 1, seed=1)
    index = built(vectors, probes=2)
    codes, probes = index._index._codes, []
    search = codes.search_preassigned_c
    monkeypatch.setattr(codes, "search_preassigned_c", lambda *asked: probes.append(asked[-1].nprobe) or search(*asked))
    for step in (None, 5, 20):
        index.search(queries, 20, step and AllowedRows.checked(np.arange(0, 3000, step), 3000))
    assert probes == [2, 10, 20]


def test_vectors_that_are_rounded_already_are_not_widened(tmp_path, built, clustered):
    vectors = clustered(500, 0, seed=5)[0].astype(np.float16)
    index = built(vectors, precision="float32")
    index.save(tmp_path / "index")
    assert (index.precision, ArticleIndex.load(tmp_path / "index", device="cpu").precision) == ("float16", "float16")
    assert (index.vectors == vectors).all()
