from dataclasses import replace

import numpy as np
import pytest

from statgraph import artifacts
from statgraph.config import IndexConfig, IvfPqConfig
from statgraph.errors import RunError, UsageError
from statgraph.law.allowed_rows import AllowedRows
from statgraph.retrieval.index import ivf_pq_index
from statgraph.retrieval.index.article_index import ArticleIndex
from statgraph.retrieval.index.ivf_pq_index import chosen_index

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
    ((rows, scores),) = built(vectors, lists=2).search(np.array([[0.6, 0.8]], dtype=np.float32), 3)
    assert rows.tolist() == [4, 1, 0]  # north-east, north, east
    assert scores == pytest.approx([1.4 * np.sqrt(0.5), 0.8, 0.6])


@pytest.mark.parametrize(
    ("precision", "tolerance", "unit_length"),
    [("float32", 1e-6, True), ("float16", 1e-3, True), ("float32", 1e-5, False)],
)
def test_it_finds_nearly_all_of_the_best(
    built, clustered, exact_best, recall, stacked, precision, tolerance, unit_length
):
    vectors, queries = clustered(3000, 50, seed=1)
    if not unit_length:
        vectors *= np.random.default_rng(3).uniform(0.5, 2, size=(3000, 1)).astype(np.float32)
    rows, scores = stacked(built(vectors, unit_length=unit_length, precision=precision).search(queries, 20))
    assert recall(exact_best(vectors, queries, 20)[1], rows) >= 0.95
    assert scores == pytest.approx(np.einsum("qkd,qd->qk", vectors[rows], queries), abs=tolerance)
    assert (scores.dtype, rows.dtype) == (np.float32, np.int64)
    assert all(len(set(own)) == 20 for own in rows.tolist())


def test_candidates_are_ranked_by_their_vectors(built, clustered, exact_best, recall, stacked, monkeypatch):
    vectors, queries = clustered(3000, 50, seed=1)
    best = exact_best(vectors, queries, 20)[1]
    monkeypatch.setattr(ivf_pq_index, "CANDIDATES_PER_HIT", 1)
    few, many = (stacked(built(vectors, probes=20, code_bytes=1, rerank=n).search(queries, 20))[0] for n in (20, 1500))
    assert recall(best, few) < 0.6  # a byte says little of sixteen components
    assert recall(best, many) > 0.95


@pytest.mark.parametrize("k", [1, 60, 125, 400, 500])
def test_as_many_are_returned_as_were_asked_for(built, clustered, exact_best, stacked, k):
    # One probe reads some 25 articles: deeper rankings are searched exactly, those of a quarter or more from the start.
    vectors, queries = clustered(500, 5, seed=4)
    rows, scores = stacked(built(vectors, probes=1).search(queries, k))
    assert rows.shape == scores.shape == (5, k)
    assert all(len(set(own)) == k and min(own) >= 0 for own in rows.tolist())
    if k >= 125:
        assert (rows == exact_best(vectors, queries, k)[1]).all()


@pytest.mark.parametrize("precision", ["float32", "float16"])
def test_it_comes_back_from_its_folder(tmp_path, built, clustered, stacked, precision):
    vectors, queries = clustered(500, 4, seed=5)
    index = built(vectors, precision=precision)
    index.save(tmp_path / "index")
    names = ["ids.json", "index.faiss", "manifest.json", "vectors.npy"]
    assert sorted(path.name for path in (tmp_path / "index").iterdir()) == names
    loaded = ArticleIndex.load(tmp_path / "index", device="cpu")
    assert (loaded.kind, len(loaded), loaded.width, loaded.precision) == ("ivf-pq", 500, 16, precision)
    assert (loaded.vectors == vectors.astype(precision)).all()
    assert isinstance(loaded._index.vectors, np.memmap)
    before, after = (stacked(one.search(queries, 30)) for one in (index, loaded))
    assert (before[0] == after[0]).all()
    assert (before[1] == after[1]).all()


def refused(folder, said: str) -> None:
    with pytest.raises(RunError, match=f"^{folder}/{said}") as error:
        ArticleIndex.load(folder, device="cpu")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("name", "kept", "fault"),
    [("vectors.npy", None, "missing; ")]
    + [(name, kept, "(damaged|not readable)") for name in ("index.faiss", "vectors.npy") for kept in (0, 3, 1000)],
)
def test_a_file_that_is_missing_or_cut_off_is_refused(saved, name, kept, fault):
    content = (saved / name).read_bytes()
    (saved / name).unlink()
    if kept is not None:
        (saved / name).write_bytes(content[:kept])
    refused(saved, f"{name}: {fault}")


@pytest.mark.parametrize(
    ("entry", "value"),
    [
        ("width", 17),
        ("width", "16"),
        ("settings", None),
        ("settings", []),
        ("settings", {"lists": 8.5}),
        ("settings", {"rays": 3}),
    ],
)
def test_a_damaged_manifest_is_refused(saved, entry, value):
    manifest = artifacts.read_json(saved / "manifest.json")
    artifacts.write_json(saved / "manifest.json", {**manifest, entry: value})
    refused(saved, r"manifest\.json: damaged \(")


def test_a_damaged_vector_is_refused_when_a_search_reads_it(saved, clustered):
    vectors = np.load(saved / "vectors.npy", allow_pickle=False)
    query = vectors[3:4].copy()
    vectors[3] = np.nan
    np.save(saved / "vectors.npy", vectors, allow_pickle=False)
    with pytest.raises(RunError, match=r"^index: a vector in it is not finite; "):
        ArticleIndex.load(saved, device="cpu").search(query, 5)


@pytest.mark.parametrize("max_compared", [0, 16_384])
def test_allowed_rows_are_searched(built, clustered, exact_best, recall, stacked, monkeypatch, max_compared):
    monkeypatch.setattr(ivf_pq_index, "MAX_COMPARED", max_compared)
    vectors, queries = clustered(3000, 50, seed=1)
    allowed = AllowedRows.of_mask(np.random.default_rng(2).random(3000) < 0.2)
    rows, scores = stacked(built(vectors).search(queries, 20, allowed))
    reached = recall(allowed.rows[exact_best(vectors[allowed.mask], queries, 20)[1]], rows)
    assert reached == 1 if max_compared else reached >= 0.95
    assert np.isin(rows, allowed.rows).all()
    assert scores == pytest.approx(np.einsum("qkd,qd->qk", vectors[rows], queries), abs=1e-6)


def test_with_a_fifth_allowed_five_times_the_lists_are_read(built, clustered, monkeypatch):
    monkeypatch.setattr(ivf_pq_index, "MAX_COMPARED", 0)
    vectors, queries = clustered(3000, 1, seed=1)
    index = built(vectors, probes=2)
    codes, probes = index._index._codes, []
    search = codes.search

    def recorded(*arguments, params):
        probes.append(params.nprobe)
        return search(*arguments, params=params)

    monkeypatch.setattr(codes, "search", recorded)
    for step in (None, 5, 20):
        index.search(queries, 20, step and AllowedRows.checked(np.arange(0, 3000, step), 3000))
    assert probes == [2, 10, 20]


def test_vectors_that_are_rounded_already_are_not_widened(tmp_path, built, clustered):
    vectors = clustered(500, 0, seed=5)[0].astype(np.float16)
    index = built(vectors, precision="float32")
    index.save(tmp_path / "index")
    assert (index.precision, ArticleIndex.load(tmp_path / "index", device="cpu").precision) == ("float16", "float16")
    assert (index.vectors == vectors).all()


@pytest.mark.parametrize(
    ("n_articles", "kind"), [(1, "flat"), (29_115, "flat"), (200_000, "flat"), (200_001, "ivf-pq"), (10**7, "ivf-pq")]
)
def test_auto_goes_by_the_number_of_articles(n_articles, kind):
    assert chosen_index(IndexConfig(), n_articles, 384).kind == kind


@pytest.mark.parametrize(
    ("n_articles", "width", "lists", "probes", "code_bytes"),
    [
        (10**6, 384, 1024, 128, 96),  # 2 * 1000 = 2000, and 1024 is the power of two below; 1024 / 8; 384 / 4
        (10**7, 384, 4096, 512, 96),  # 2 * 3162.3 = 6324
        (29_115, 384, 256, 64, 96),  # 2 * 170.6 = 341
        (16, 385, 8, 8, 97),  # 97 bytes have 194 halves for 385 components
    ],
)
def test_sizes_of_ivf_pq(n_articles, width, lists, probes, code_bytes):
    chosen = chosen_index(IndexConfig(kind="ivf-pq"), n_articles, width)
    assert chosen.ivf_pq == IvfPqConfig(lists, probes, code_bytes)


@pytest.mark.parametrize(
    ("config", "place", "bound"),
    [
        (IndexConfig("annoy"), "kind", "flat"),
        (IndexConfig("ivf-pq", ivf_pq=IvfPqConfig(probes=-1)), "ivf_pq.probes", "at least 0"),
        (IndexConfig("ivf-pq", ivf_pq=IvfPqConfig(rerank=0)), "ivf_pq.rerank", "at least 1"),
        (IndexConfig("ivf-pq", ivf_pq=IvfPqConfig(lists=101)), "ivf_pq.lists", "at most 100"),
        (IndexConfig("ivf-pq", ivf_pq=IvfPqConfig(code_bytes=5)), "ivf_pq.code_bytes", "at most 4"),
        (IndexConfig("ivf-pq", ivf_pq=IvfPqConfig(precision="int8")), "ivf_pq.precision", "float16"),
    ],
)
def test_settings_out_of_range_are_refused(config, place, bound):
    with pytest.raises(UsageError, match=rf"{place}.*{bound}"):
        chosen_index(config, 100, 8)


def test_too_few_articles_for_codes_are_refused():
    with pytest.raises(RunError, match=r"^index: ivf-pq needs at least 16 articles .*15"):
        chosen_index(IndexConfig("ivf-pq"), 15, 8)
