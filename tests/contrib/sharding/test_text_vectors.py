import shutil
from dataclasses import replace
from types import SimpleNamespace

import pytest

pytest.importorskip("pyarrow", reason="needs the libraries of the extension")

import torch

from statgraph import Retriever
from statgraph.contrib.sharding.article_shards import read_shard, shards_of
from statgraph.contrib.sharding.text_vectors import ShardVectors
from statgraph.contrib.sharding.vector_shards import EmbeddingPlan, VectorShards, encoder_of
from statgraph.encoders.article_encoder import load_article_encoder
from statgraph.encoders.article_text import article_texts, text_hashes
from statgraph.errors import RunError
from statgraph.law.store import write_corpus
from statgraph.runs.run import Run
from statgraph.systems.updating import update
from statgraph.systems.updating.update import TextVectors, update_run

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
        corpus, config = str(tmp_path / "law"), Run.read(folder).config.encoder
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
    assert texts.only_of(Run.read(folder)) == TextVectors()
