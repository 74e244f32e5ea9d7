import json
import shutil
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("pyarrow", reason="needs the extra sharding")

import torch

from statgraph import Retriever
from statgraph.config import EncoderConfig
from statgraph.contrib.sharding.article_shards import ArticleShard, read_shard, shards_of
from statgraph.contrib.sharding.vector_shards import PLAN, EmbeddingPlan, ShardVectors, VectorShards, encoder_of
from statgraph.encoders.article_encoder import load_article_encoder
from statgraph.encoders.article_text import article_texts, text_hashes
from statgraph.errors import RunError
from statgraph.law.store import write_corpus
from statgraph.runs.run import RunFolder
from statgraph.systems.updating import update
from statgraph.systems.updating.update import TextVectors, update_run

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
    (shards_file,) = [path for path in Path(written).iterdir() if path.name.endswith("01.parquet")]
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
    before = {path.name: path.read_bytes() for path in Path(written).iterdir()}
    with pytest.raises(RunError, match=keyword):
        VectorShards(written).begin(plan)
    assert {path.name: path.read_bytes() for path in Path(written).iterdir()} == before


def test_only_whole_vectors_of_the_runs_own_encoder_are_taken(written, tmp_path):
    VectorShards(written).check_whole(["x", "e" * 64])
    with pytest.raises(RunError, match="another run's encoder"):
        VectorShards(written).check_whole(["f" * 64])
    with pytest.raises(RunError, match="holds no vectors"):
        VectorShards(str(tmp_path / "nowhere")).check_whole(["e" * 64])


def test_a_damaged_place_is_named(written):
    first = min(path for path in Path(written).iterdir() if path.suffix == ".parquet")
    first.write_bytes(b"PAR1")
    with pytest.raises(RunError, match=r"vectors-000000.parquet: cannot be read"):
        VectorShards(written).encoded(["one"], refuse)
    for wrong in ("{", json.dumps({"format": 2}), "[]"):
        next(path for path in Path(written).iterdir() if path.name == PLAN).write_text(wrong)
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


QUESTIONS = ("May I keep my wells?", "What do I pay for carts?", "dogs taxed by day")


@pytest.fixture
def run(train_town, tmp_path):
    """Return a function that gives a copy of a trained run, for the test to change."""
    return lambda *system: shutil.copytree(train_town(*system), tmp_path / "run")


@pytest.fixture
def reformed(town_corpus):
    """Return the town's law with one article amended and one under another heading."""
    amended, moved, *others = town_corpus.articles
    amended = replace(amended, text="Lamps are taxed by day.")
    moved = replace(moved, path=("Town Code", "Book III. Light"))
    return replace(town_corpus, articles=(amended, moved, *others))


def rankings(run) -> list[list[tuple[str, float]]]:
    hits = (Retriever.load(run, device="cpu").search(question, 16) for question in QUESTIONS)
    return [[(hit.article_id, pytest.approx(hit.score, abs=2e-5)) for hit in ranking] for ranking in hits]


def state(folder) -> dict[str, tuple[int, int]]:
    return {str(path.relative_to(folder)): (path.stat().st_mtime_ns, path.stat().st_size) for path in folder.rglob("*")}


@pytest.fixture
def embedded(reformed, tmp_path):
    """Return a function that gives the vectors of the reformed law by a run's encoder, as `embed` writes them."""

    def written(folder) -> ShardVectors:
        corpus, config = str(tmp_path / "law"), RunFolder.read(folder).config.encoder
        write_corpus(reformed, tmp_path / "law")
        plan = EmbeddingPlan(encoder_of(folder, config), corpus, tuple(shards_of(corpus, 1000)))
        shards = VectorShards(str(tmp_path / "vectors"))
        encoder = load_article_encoder(folder, config, torch.device("cpu"))
        for number in shards.begin(plan):
            articles = read_shard(corpus, plan.shards[number])
            texts = article_texts(articles)
            shards.add(number, [one.article_id for one in articles], text_hashes(texts), encoder.encode(texts))
        return ShardVectors(shards=shards)

    return written


@pytest.mark.parametrize("graph", [True, False])
def test_vectors_that_are_there_are_not_computed(run, reformed, embedded, tmp_path, monkeypatch, graph):
    folder = run(*(("qabisar",) if graph else ("dsr", "stage2.epochs=0")))
    whole = update_run(folder, reformed, full=True, out=tmp_path / "whole")
    asked = []
    texts = embedded(folder)
    plain = load_article_encoder

    def spied(*arguments):
        encoder = plain(*arguments)
        return SimpleNamespace(encode=lambda texts, progress: asked.extend(texts) or encoder.encode(texts))

    monkeypatch.setattr(update, "load_article_encoder", spied)
    taken = update_run(folder, reformed, full=True, out=tmp_path / "taken", texts=texts)
    assert rankings(tmp_path / "taken") == rankings(tmp_path / "whole")
    assert (taken.embedded, taken.taken, whole.taken) == (whole.embedded, 16, 0)
    assert len(asked) == whole.embedded - 16  # headings
    assert all("\n" not in text for text in asked)


def test_vectors_of_another_encoder_are_refused(run, reformed, embedded, train_town):
    folder = run("qabisar")
    texts = embedded(train_town("dsr", "stage2.epochs=0", "encoder.heading_path=false"))
    before = state(folder)
    with pytest.raises(RunError, match="another run's encoder"):
        update_run(folder, reformed, texts=texts)
    assert state(folder) == before
    assert texts.only_of(RunFolder.read(folder)) == TextVectors()
