import subprocess
import sys

import faiss
import numpy as np
import pytest

from statgraph import artifacts
from statgraph.config import IndexConfig
from statgraph.errors import RunError, UsageError
from statgraph.law.allowed_rows import AllowedRows
from statgraph.retrieval.index.article_index import ArticleIndex

COMPASS_IDS = ["east", "north", "west", "south", "north-east"]


def test_search_ranks_by_inner_product(compass):
    index = ArticleIndex.build(compass, COMPASS_IDS, device="cpu")
    ((rows, scores),) = index.search(np.array([[0.6, 0.8]], dtype=np.float32), 3)
    assert [index.article_ids[row] for row in rows] == ["north-east", "north", "east"]
    assert scores == pytest.approx([1.4 * np.sqrt(0.5), 0.8, 0.6])
    assert (scores.dtype, rows.dtype) == (np.float32, np.int64)


def test_few_articles_or_queries(compass):
    index = ArticleIndex.build(compass, COMPASS_IDS, device="cpu")
    for rows, scores in index.search(compass[:2], 99):
        assert (sorted(rows), len(scores)) == ([0, 1, 2, 3, 4], 5)
    assert index.search(np.empty((0, 2), dtype=np.float32), 3) == []
    alone = ArticleIndex.build(compass[:1], ["east"], device="cpu")
    assert [rows.tolist() for rows, _ in alone.search(compass, 10)] == [[0]] * 5


def test_saved_index_comes_back(tmp_path, unit_vectors):
    vectors, queries = unit_vectors(60, 8, seed=3), unit_vectors(4, 8, seed=4)
    index = ArticleIndex.build(vectors, [f"é{row}" for row in range(60)], device="cpu")
    index.save(tmp_path / "index")
    loaded = ArticleIndex.load(tmp_path / "index", device="cpu")
    assert loaded.article_ids == index.article_ids
    assert (len(loaded), loaded.width) == (60, 8)
    assert (loaded.vectors == vectors).all()
    for saved, again in zip(index.search(queries, 7), loaded.search(queries, 7), strict=True):
        assert (saved.rows == again.rows).all()
        assert (saved.scores == again.scores).all()


@pytest.mark.parametrize(
    ("queries", "limits", "error", "message"),
    [
        (np.ones((1, 2)), (1, AllowedRows.checked([0], 6)), UsageError, "allowed rows of 6 articles"),
        (np.ones(2), (1,), RunError, r"queries: shape \(.*width 2; "),
        (np.ones((1, 3)), (1,), RunError, r"queries: shape \(.*width 2; "),
        (np.array([[np.nan, 1]]), (1,), RunError, "queries: .* not finite; "),
        (np.ones((1, 2)), (0,), UsageError, "k: must be at least 1"),
    ],
)
def test_what_cannot_be_searched_for_is_refused(compass, queries, limits, error, message):
    with pytest.raises(error, match=f"^{message}"):
        ArticleIndex.build(compass, COMPASS_IDS, device="cpu").search(queries.astype(np.float32), *limits)


@pytest.mark.parametrize("order", ["import faiss, torch", "import torch, faiss"])
def test_faiss_and_torch_compute_side_by_side(order):
    # Both bring an OpenMP of their own; a crash would end the process.
    program = f"""
{order}
import numpy as np
from statgraph.retrieval.index.article_index import ArticleIndex
vectors = np.eye(64, dtype=np.float32)[np.arange(4096) % 64]
index = ArticleIndex.build(vectors, [str(row) for row in range(4096)], device="cpu")
for _ in range(3):
    assert float((torch.ones(512, 512) @ torch.ones(512, 512)).sum()) == 512.0**3
    rows = np.stack([rows for rows, _ in index.search(vectors[:64], 64)])
    assert (rows % 64 == np.arange(64)[:, None]).all() and (np.diff(rows, axis=1) > 0).all()
print("done")
"""
    finished = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert (finished.returncode, finished.stdout) == (0, "done\n"), finished.stderr


@pytest.fixture(params=["flat", "ivf-pq"])
def tied_index(request, clustered):
    """Return an index of each kind of 400 articles, of which 50 to 99 are one vector and 200 to 249 another."""
    vectors = clustered(400, 0, seed=9)[0]
    vectors[50:100], vectors[200:250] = vectors[50], vectors[200]
    config = IndexConfig(request.param)
    return ArticleIndex.build(vectors, [f"a{row}" for row in range(400)], device="cpu", config=config)


@pytest.mark.parametrize("k", [1, 7, 30, 400])
def test_a_search_of_allowed_rows_is_the_full_ranking_without_the_others(tied_index, clustered, k):
    queries = np.concatenate([clustered(0, 8, seed=10)[1], tied_index.vectors[[50, 200]]])
    allowed = AllowedRows.checked(np.random.default_rng(11).permutation(400)[:60], 400)
    for full, some in zip(tied_index.search(queries, 400), tied_index.search(queries, k, allowed), strict=True):
        kept = allowed.mask[full.rows]
        assert some.rows.tolist() == full.rows[kept][:k].tolist()
        assert some.scores.tolist() == full.scores[kept][:k].tolist()
        assert (some.scores.dtype, some.rows.dtype) == (np.float32, np.int64)


@pytest.mark.parametrize("n_queries", [2, 16, 40])
@pytest.mark.parametrize("n_others", [0, 3, 300])
def test_a_query_has_the_same_hits_alone_and_among_others(clustered, n_queries, n_others):
    vectors, queries = clustered(400, n_queries, seed=10)
    index = ArticleIndex.build(vectors, [f"a{row}" for row in range(400)], device="cpu")
    allowed = AllowedRows.checked(np.arange(n_others, 400), 400)
    for query, among in zip(queries, index.search(queries, 30, allowed), strict=True):
        (alone,) = index.search(query[None], 30, allowed)
        (full,) = index.search(query[None], 400)
        assert (alone.rows.tolist(), alone.scores.tolist()) == (among.rows.tolist(), among.scores.tolist())
        assert among.rows.tolist() == full.rows[full.rows >= n_others][:30].tolist()


def test_scores_of_chosen_rows_are_those_of_a_search(tied_index, clustered):
    for query in clustered(0, 4, seed=10)[1]:
        (ranked,) = tied_index.search(query[None], 30)
        assert tied_index.scores(query, ranked.rows[::-1]).tolist() == ranked.scores[::-1].tolist()


@pytest.fixture
def saved(tmp_path, compass):
    """Return the folder of an index of three articles."""
    ArticleIndex.build(compass[:3], ["A", "B", "C"], device="cpu").save(tmp_path / "index")
    return tmp_path / "index"


def refused(folder, said: str) -> None:
    with pytest.raises(RunError, match=rf"^{folder}.*{said}") as error:
        ArticleIndex.load(folder)
    assert "\n" not in str(error.value)


def test_folder_says_what_it_holds(saved):
    assert sorted(path.name for path in saved.iterdir()) == ["ids.json", "index.faiss", "manifest.json"]
    manifest = artifacts.read_json(saved / "manifest.json")
    assert (manifest["kind"], manifest["articles"], manifest["width"]) == ("flat", 3, 2)
    assert manifest["metric"] == "inner product of unit vectors"
    assert manifest["versions"]["faiss"] == faiss.__version__


def put(folder, index, vectors) -> None:
    """Put an index of FAISS's in the place of the folder's."""
    index.add(vectors)
    faiss.write_index(index, str(folder / "index.faiss"))


@pytest.mark.parametrize("name", ["", "index.faiss", "ids.json", "manifest.json"])
def test_a_missing_folder_or_file_is_refused(saved, name):
    if not name:
        refused(saved / "none", ": no such index folder; ")
    else:
        (saved / name).unlink()
        refused(saved, f"{name}: missing; ")


@pytest.mark.parametrize("kept", [0, 3, 20, -1])
def test_cut_off_vectors_are_refused(saved, kept):
    whole = (saved / "index.faiss").read_bytes()
    (saved / "index.faiss").write_bytes(whole[:kept])
    refused(saved, r"index\.faiss: damaged, FAISS cannot read it; ")


def test_vectors_that_are_not_the_index_s_are_refused(saved, compass):
    altered = bytearray((saved / "index.faiss").read_bytes())
    altered[-8:] = np.array([3, 4], dtype="<f4").tobytes()
    (saved / "index.faiss").write_bytes(altered)
    refused(saved, r": the vector of article 'C' has length 5, not 1 \(1 of 3 are wrong\); ")
    put(saved, faiss.IndexFlatL2(2), compass)
    refused(saved, "IndexFlatL2 with 5 vectors, expected IndexFlatIP with at least one")
    put(saved, faiss.IndexFlatIP(2), compass)
    refused(saved, r"index\.faiss: 5 vectors of width 2, but manifest\.json has 3 of ")


@pytest.mark.parametrize("text", ["{", "[]", '{"article_ids": 3}', ""])
def test_damaged_ids_are_refused(saved, text):
    (saved / "ids.json").write_text(text)
    refused(saved, r"ids\.json: ")


def test_ids_or_a_kind_of_another_index_are_refused(saved):
    artifacts.write_json(saved / "ids.json", {"article_ids": ["A", "B"]})
    refused(saved, ": 3 vectors, but 2 article ids; ")
    for kind in ("scann", {}):
        artifacts.write_json(saved / "manifest.json", {**artifacts.read_json(saved / "manifest.json"), "kind": kind})
        refused(saved, rf"manifest\.json: kind '{kind}' .* this version, which has flat, ivf-pq; ")


def test_vectors_of_any_length_come_back(tmp_path, compass):
    index = ArticleIndex.build(3 * compass[:2], ["A", "B"], device="cpu", unit_length=False)
    index.save(tmp_path / "index")
    assert artifacts.read_json(tmp_path / "index" / "manifest.json")["metric"] == "inner product"
    assert ArticleIndex.load(tmp_path / "index", device="cpu").vectors.tolist() == (3 * compass[:2]).tolist()
