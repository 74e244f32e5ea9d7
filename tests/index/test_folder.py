import faiss
import numpy as np
import pytest

from statgraph import artifacts
from statgraph.errors import RunError
from statgraph.index.article_index import ArticleIndex
from statgraph.index.folder import read_index_folder


@pytest.fixture
def saved(tmp_path, compass):
    """Return the folder of an index of three articles."""
    ArticleIndex.build(compass[:3], ["A", "B", "C"], device="cpu").save(tmp_path / "index")
    return tmp_path / "index"


def refusal(folder) -> str:
    with pytest.raises(RunError) as refused:
        read_index_folder(folder)
    return str(refused.value)


def test_folder_says_what_it_holds(saved):
    assert sorted(path.name for path in saved.iterdir()) == ["ids.json", "index.faiss", "manifest.json"]
    manifest = artifacts.read_json(saved / "manifest.json")
    assert (manifest["kind"], manifest["articles"], manifest["width"]) == ("flat", 3, 2)
    assert manifest["metric"] == "inner product of unit vectors"
    assert manifest["versions"]["faiss"] == faiss.__version__


def test_saving_again_replaces_the_index(saved, compass):
    ArticleIndex.build(compass[3:], ["D", "E"], device="cpu").save(saved)
    index, article_ids = read_index_folder(saved)
    assert (len(index), article_ids) == (2, ["D", "E"])
    assert [path.name for path in saved.parent.iterdir()] == ["index"]


def test_a_failed_save_leaves_the_old_index(saved, monkeypatch, compass):
    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr(faiss, "write_index", fail)
    with pytest.raises(OSError, match="disk full"):
        ArticleIndex.build(compass, list("VWXYZ"), device="cpu").save(saved)
    monkeypatch.undo()
    assert read_index_folder(saved)[1] == ["A", "B", "C"]


def test_a_missing_folder_is_refused(tmp_path):
    assert refusal(tmp_path / "none") == (
        f"{tmp_path / 'none'}: no such index folder; make the index again with 'statgraph train'"
    )


@pytest.mark.parametrize("name", ["index.faiss", "ids.json", "manifest.json"])
def test_a_missing_file_is_refused(saved, name):
    (saved / name).unlink()
    assert refusal(saved) == f"{saved / name}: missing; make the index again with 'statgraph train'"


@pytest.mark.parametrize("kept", [0, 3, 20, -1])
def test_cut_off_vectors_are_refused(saved, kept):
    whole = (saved / "index.faiss").read_bytes()
    (saved / "index.faiss").write_bytes(whole[:kept])
    assert refusal(saved) == (
        f"{saved / 'index.faiss'}: damaged, FAISS cannot read it; make the index again with 'statgraph train'"
    )


def test_altered_vectors_are_refused(saved):
    altered = bytearray((saved / "index.faiss").read_bytes())
    altered[-8:] = np.array([3, 4], dtype="<f4").tobytes()
    (saved / "index.faiss").write_bytes(altered)
    assert refusal(saved) == (
        f"{saved}: the vector of article 'C' has length 5, not 1 (1 of 3 are wrong); "
        "normalise them, or train the run again"
    )


def test_another_kind_of_index_is_refused(saved, compass):
    other = faiss.IndexFlatL2(2)
    other.add(compass)
    faiss.write_index(other, str(saved / "index.faiss"))
    assert "a IndexFlatL2 of 5 vectors, not an IndexFlatIP that holds some" in refusal(saved)


def test_vectors_of_another_index_are_refused(saved, compass):
    other = faiss.IndexFlatIP(2)
    other.add(compass)
    faiss.write_index(other, str(saved / "index.faiss"))
    assert refusal(saved) == (
        f"{saved / 'index.faiss'}: 5 vectors of width 2, but manifest.json says 3 of width 2; "
        "make the index again with 'statgraph train'"
    )


def test_ids_of_another_index_are_refused(saved):
    artifacts.write_json(saved / "ids.json", {"article_ids": ["A", "B"]})
    assert refusal(saved) == f"{saved}: 3 vectors, but 2 article ids; give one id a vector"


@pytest.mark.parametrize("text", ["{", "[]", '{"article_ids": 3}', ""])
def test_damaged_ids_are_refused(saved, text):
    (saved / "ids.json").write_text(text)
    assert refusal(saved).startswith(f"{saved / 'ids.json'}: damaged (")


def test_vectors_of_any_length_come_back(tmp_path, compass):
    index = ArticleIndex.build(3 * compass[:2], ["A", "B"], device="cpu", unit_length=False)
    index.save(tmp_path / "index")
    assert artifacts.read_json(tmp_path / "index" / "manifest.json")["metric"] == "inner product"
    assert ArticleIndex.load(tmp_path / "index", device="cpu").vectors.tolist() == (3 * compass[:2]).tolist()


def test_a_folder_from_before_there_were_kinds_is_flat(saved, compass):
    manifest = artifacts.read_json(saved / "manifest.json")
    del manifest["kind"]
    artifacts.write_json(saved / "manifest.json", manifest)
    index = ArticleIndex.load(saved, device="cpu")
    assert (index.kind, index.vectors.tolist()) == ("flat", compass[:3].tolist())


def test_a_kind_of_another_version_is_refused(saved):
    artifacts.write_json(saved / "manifest.json", {**artifacts.read_json(saved / "manifest.json"), "kind": "scann"})
    assert refusal(saved) == (
        f"{saved / 'manifest.json'}: kind 'scann' is not known to this version, which has flat, hnsw, ivf-pq; "
        "make the index again with 'statgraph train'"
    )
