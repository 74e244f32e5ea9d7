import faiss
import numpy as np
import pytest

from statgraph import artifacts
from statgraph.config import IndexConfig, IvfPqConfig
from statgraph.errors import RunError, UsageError
from statgraph.retrieval.index.article_index import ArticleIndex
from statgraph.retrieval.index.folder import chosen_index, read_index_folder


@pytest.fixture
def saved(tmp_path, compass):
    """Return the folder of an index of three articles."""
    ArticleIndex.build(compass[:3], ["A", "B", "C"], device="cpu").save(tmp_path / "index")
    return tmp_path / "index"


def refused(folder, said: str) -> None:
    with pytest.raises(RunError, match=rf"^{folder}.*{said}") as error:
        read_index_folder(folder)
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
