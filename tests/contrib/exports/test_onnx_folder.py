import re
import shutil

import numpy as np
import pytest
from sentence_transformers import SentenceTransformer

from statgraph import export, extras
from statgraph.contrib.exports import onnx_folder
from statgraph.contrib.exports.onnx_folder import folder_vectors, probe_texts
from statgraph.encoders.inference.onnx_encoder import exported_encoder, largest_difference
from statgraph.errors import DependencyError, ModelError
from statgraph.runs.article_store import ArticleStore


def test_the_model_gives_the_runs_vectors(dense_run, tmp_path):
    about = export(dense_run, "onnx", tmp_path / "out").about
    assert float(about.rpartition(" ")[2]) <= 1e-6
    vectors = folder_vectors(tmp_path / "out", "", ["deposit", "keys notice", "nothing"])
    np.testing.assert_allclose(vectors, [[1, 0], [0.25, 0.75], [0, 0]], atol=1e-6)
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["README.md", "model.onnx", "tokenizer.json"]


def test_the_card_loads_the_folder_as_onnx_alone_and_its_code_runs(dense_run, tmp_path):
    export(dense_run, "onnx", tmp_path / "out")
    card = (tmp_path / "out" / "README.md").read_text()
    assert "library_name: onnx\n" in card
    assert "SentenceTransformer(" not in card
    assert card.count("## How to load it") == 1
    assert 'Retriever.load("path/of/the/run")' in card
    (code,) = re.findall(r"```python\n(import numpy.*?)```", card, re.DOTALL)
    assert 'encode_batch(["Who gets the deposit back?"])' in code
    names: dict = {}
    exec(code.replace("path/of/this/folder", str(tmp_path / "out")), names)
    assert names["vectors"].shape == (1, 2)


@pytest.mark.parametrize(("shift", "said"), [(1e-3, r"differ by 9\.0e-03"), (np.nan, "differ by nan")])
def test_a_model_that_differs_is_refused(dense_run, tmp_path, monkeypatch, shift, said):
    """The longest vector is that of nine words, one of them "deposit": 1/9."""
    monkeypatch.setattr(onnx_folder, "folder_vectors", lambda *about: folder_vectors(*about) + np.float32(shift))
    with pytest.raises(ModelError, match=said):
        export(dense_run, "onnx", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_the_difference_is_that_of_a_component_beside_the_longest_vector():
    vectors = np.array([[0.0, 0.0], [4.0, 0.0], [8.0, 0.0]], dtype=np.float32)
    moved = vectors + np.array([0.0, 6.0], dtype=np.float32)
    assert largest_difference(vectors, vectors) == 0
    assert largest_difference(moved, vectors) == pytest.approx(6 / 8)
    assert largest_difference(vectors, moved) == pytest.approx(6 / 10)
    assert largest_difference(vectors[:, :1], vectors) == np.inf


def test_probes_are_titles_and_texts_and_nothing(dense_run):
    probes = probe_texts(ArticleStore(dense_run))
    assert probes[:3] == ["", "Art. 1", "Art. 2"]
    assert "Keys are handed back; article 3 and article 1 hold." in probes


def test_a_missing_extra_is_one_line(dense_run, tmp_path, monkeypatch):
    monkeypatch.setattr(extras, "find_spec", lambda name: None)
    with pytest.raises(DependencyError, match=r"^onnx: .*\[onnx\]"):
        export(dense_run, "onnx", tmp_path / "out")


def test_a_transformer_with_its_prompt_and_large_weights_apart(save_bert, dense_run, tmp_path, monkeypatch):
    pytest.importorskip("onnxruntime")
    encoder = dense_run / "query_encoder"
    shutil.rmtree(encoder)
    shutil.move(save_bert("mean"), encoder)
    export(dense_run, "onnx", tmp_path / "one")
    assert '"query: " + ' in (tmp_path / "one" / "README.md").read_text()
    monkeypatch.setattr(onnx_folder, "MOST_IN_ONE_FILE", 100)
    export(dense_run, "onnx", tmp_path / "two")
    assert (tmp_path / "two" / "model.onnx.data").is_file()
    assert not (tmp_path / "one" / "model.onnx.data").exists()
    texts = ["the tenant pays rent", "rent", "", "pays " * 200]
    expected = SentenceTransformer(str(encoder), device="cpu").encode(texts)
    for name in ("one", "two"):
        vectors = folder_vectors(tmp_path / name, "query: ", texts)
        np.testing.assert_allclose(vectors, expected, rtol=0, atol=2e-6)


def test_an_encoder_without_tokenizer_json_is_refused(save_bert, dense_run, tmp_path):
    encoder = save_bert("mean")
    exported = exported_encoder(encoder)
    (encoder / "tokenizer.json").unlink()
    with pytest.raises(ModelError, match=r"tokenizer\.json.*as sentence-transformers"):
        onnx_folder.write_onnx(exported, encoder, tmp_path)
