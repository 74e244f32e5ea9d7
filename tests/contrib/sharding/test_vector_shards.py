import json

import numpy as np
import pytest

from statgraph.config import EncoderConfig
from statgraph.encoders.article_text import text_hashes
from statgraph.errors import RunError

pytest.importorskip("pyarrow", reason="needs the libraries of the extension")

from statgraph.contrib.sharding.article_shards import ArticleShard
from statgraph.contrib.sharding.vector_shards import PLAN, EmbeddingPlan, VectorShards, encoder_of

SHARDS = (ArticleShard("law.jsonl", 0, 10), ArticleShard("law.jsonl", 10, 17))
WHOLE = EmbeddingPlan("e" * 64, "law", SHARDS)
TEXTS = ("one", "two", "three")
VECTORS = np.arange(6, dtype=np.float32).reshape(3, 2)


@pytest.fixture
def written(tmp_path):
    """Return a place with the first text in one shard, the others in the second."""
    shards = VectorShards(str(tmp_path / "vectors"))
    assert shards.begin(WHOLE) == [0, 1]
    for number, rows in enumerate((slice(0, 1), slice(1, 3))):
        shards.add(number, ["a", "b", "c"][rows], text_hashes(TEXTS[rows]), VECTORS[rows])
    return shards.uri


def refuse(texts):
    raise AssertionError(f"asked to encode {texts}")


def test_texts_have_the_vectors_of_their_hashes(written):
    vectors, taken = VectorShards(written).encoded(["three", "one"], refuse)
    assert taken == 2
    assert vectors.dtype == np.float32
    assert vectors.tolist() == [[4, 5], [0, 1]]


def test_other_texts_are_encoded(written):
    asked = []
    vectors, taken = VectorShards(written).encoded(
        ["four", "two", "five"], lambda texts: asked.extend(texts) or np.array([[8, 8], [9, 9]], np.float32)
    )
    assert (asked, taken) == (["four", "five"], 1)
    assert vectors.tolist() == [[8, 8], [2, 3], [9, 9]]
    vectors, taken = VectorShards(written).encoded(["four"], lambda texts: np.ones((1, 2), np.float32))
    assert (vectors.tolist(), taken) == ([[1, 1]], 0)


def test_what_is_there_is_not_written_again(written):
    shards = VectorShards(written)
    assert shards.begin(WHOLE) == []
    (shards_file,) = [path for path in _files(written) if path.name.endswith("01.parquet")]
    shards_file.unlink()
    assert VectorShards(written).begin(WHOLE) == [1]
    with pytest.raises(RunError, match="1 of 2 shards are not there"):
        VectorShards(written).check_whole(["e" * 64])


@pytest.mark.parametrize(
    ("plan", "keyword"),
    [
        (EmbeddingPlan("f" * 64, "law", SHARDS), "another run's encoder"),
        (EmbeddingPlan("e" * 64, "law", SHARDS[:1]), "--shard"),
        (EmbeddingPlan("e" * 64, "other", SHARDS), "of law in other shards"),
    ],
)
def test_vectors_of_something_else_stay(written, plan, keyword):
    before = {path.name: path.read_bytes() for path in _files(written)}
    with pytest.raises(RunError, match=keyword):
        VectorShards(written).begin(plan)
    assert {path.name: path.read_bytes() for path in _files(written)} == before


def test_only_whole_vectors_of_the_runs_own_encoder_are_taken(written, tmp_path):
    VectorShards(written).check_whole(["x", "e" * 64])
    with pytest.raises(RunError, match="another run's encoder"):
        VectorShards(written).check_whole(["f" * 64])
    with pytest.raises(RunError, match="holds no vectors"):
        VectorShards(str(tmp_path / "nowhere")).check_whole(["e" * 64])


def test_a_damaged_place_is_named(written):
    first = min(path for path in _files(written) if path.suffix == ".parquet")
    first.write_bytes(b"PAR1")
    with pytest.raises(RunError, match=r"vectors-000000.parquet: cannot be read"):
        VectorShards(written).encoded(["one"], refuse)
    for wrong in ("{", json.dumps({"format": 2}), "[]"):
        next(path for path in _files(written) if path.name == PLAN).write_text(wrong)
        with pytest.raises(RunError, match="not of this statgraph"):
            _ = VectorShards(written).plan


def test_an_encoder_has_a_fingerprint_of_its_weights_and_settings(tmp_path):
    (tmp_path / "article_encoder").mkdir()
    weights = tmp_path / "article_encoder" / "model.safetensors"
    fingerprints = set()
    for raw, config in ((b"1", EncoderConfig()), (b"2", EncoderConfig()), (b"2", EncoderConfig(heading_path=False))):
        weights.write_bytes(raw)
        fingerprints.add(encoder_of(tmp_path, config))
    (tmp_path / "README.md").write_text("changed")
    assert encoder_of(tmp_path, EncoderConfig(heading_path=False)) in fingerprints
    assert len(fingerprints) == 3


def _files(uri) -> list:
    from pathlib import Path

    return list(Path(uri).iterdir())
