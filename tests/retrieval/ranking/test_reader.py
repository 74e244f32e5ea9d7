from types import SimpleNamespace

import numpy as np
import pytest

from statgraph import Retriever
from statgraph.encoders.tiny import write_tiny_backbone
from statgraph.errors import ModelError, UsageError
from statgraph.retrieval.ranking.contributions import score_parts
from statgraph.retrieval.ranking.reader import Reader, load_cross_encoder
from statgraph.systems.pipeline import train_run
from statgraph.systems.presets import resolve_config
from tests.retrieval.ranking.test_ensemble import ARTICLES, Scores, ensemble

QUESTION = "Who taxes my fences?"


class Store:
    def read(self, rows):
        return [ARTICLES[row] for row in rows]


def reading(most, **scores):
    """Return a reader that gives a text the score of its first letter."""
    batches = []

    def predict(pairs):
        batches.append([text for _, text in pairs])
        return np.array([scores.get(text.split("\n")[-1][0], 0) for text in batches[-1]], dtype=np.float32)

    return SimpleNamespace(reader=Reader(predict, Store(), most), batches=batches)


def test_reading_adds_its_standardised_score_on_the_scale_of_the_others():
    reader = reading(3, L=3).reader  # "Light." is the third; the fourth is not read
    # Standardised 2 * -1/sqrt(2) and sqrt(2); the scores 3, 2 and 1 deviate by sqrt(2/3).
    amounts = reader.amounts("?", np.arange(4), np.array([3, 2, 1, 0], dtype=np.float32))
    assert amounts == pytest.approx([-0.57735, -0.57735, 1.15470, 0], abs=1e-5)


def test_what_reads_all_alike_or_one_article_alone_adds_nothing():
    assert not reading(3).reader.amounts("?", np.arange(4), np.arange(4, dtype=np.float32)).any()
    alone = reading(3, L=3)
    assert (alone.reader.amounts("?", np.array([2]), np.ones(1, np.float32)).tolist(), alone.batches) == ([0], [])


def test_the_reader_is_the_last_step_of_a_ranking_and_a_part_of_the_score():
    votes = Scores("votes", [0, 0, 1, 0]), Scores("more votes", [0, 0, 1, 0])
    ranked = ensemble(Scores("words", [4, 3.5, 0, 3]), *votes)
    (before,) = ranked.rank(["?"], 4)
    reader = reading(2, L=1)
    ranked.reader = reader.reader
    (after,) = ranked.rank(["?"], 4)
    (first,) = ranked.rank(["?"], 1)
    assert len(reader.batches[0]) == 2
    assert after.rows[0] == first.rows[0]  # the reader reads as many for one hit as for four
    parts = score_parts(ranked, "?", after.rows.tolist(), 4)
    assert [sum(part.amount for part in of) for of in parts] == pytest.approx(after.scores.tolist())
    read = {row: part for row, of in zip(after.rows, parts, strict=True) for part in of if part.source == "reader"}
    assert set(read) == set(before.rows[:2])
    assert sorted(part.rank for part in read.values()) == [1, 2]
    assert sum(part.amount for part in read.values()) == pytest.approx(0)


@pytest.fixture(scope="module")
def cross_encoder(tmp_path_factory, town_corpus):
    """Return a function that writes a random cross-encoder with so many scores, and returns its folder."""
    from torch import manual_seed
    from transformers import BertConfig, BertForSequenceClassification

    def write(labels=1):
        folder = tmp_path_factory.mktemp("cross-encoder")
        write_tiny_backbone(folder, [article.text for article in town_corpus.articles])
        manual_seed(0)
        config = BertConfig.from_pretrained(folder, num_labels=labels, initializer_range=1.0)
        BertForSequenceClassification(config).save_pretrained(folder)
        return str(folder)

    return write


def test_a_run_is_searched_with_its_reader_another_or_none(cross_encoder, tmp_path, town_corpus):
    folder, settings = cross_encoder(), ("device=cpu", "ensemble.members=none", "ranker.learnt=false")
    plain, own = tmp_path / "plain", tmp_path / "own"
    train_run(town_corpus, resolve_config("ensemble", settings), plain)
    reader = f"ranker.reader={folder}", "ranker.read=4"
    train_run(town_corpus, resolve_config("ensemble", (*settings, *reader)), own)
    retriever = Retriever.load(own)
    hits = retriever.search(QUESTION, 16)
    for explanation in retriever.explain(QUESTION, hits):
        assert sum(part.amount for part in explanation.contributions) == pytest.approx(explanation.score, abs=1e-5)
    sources = [part.source for why in retriever.explain(QUESTION, hits) for part in why.contributions]
    assert sources.count("reader") == 4
    without = Retriever.load(plain).search(QUESTION, 16)
    assert [hit.score for hit in hits] != [hit.score for hit in without]
    assert Retriever.load(own, reader="").search(QUESTION, 16) == without
    assert Retriever.load(plain, reader=folder).search(QUESTION, 16) != without


def test_what_is_no_reader_is_refused(cross_encoder, tmp_path, bm25_run):
    with pytest.raises(ModelError, match=r"'/nowhere' cannot be loaded \(no such folder\); .*leave the reader out"):
        load_cross_encoder("/nowhere")
    with pytest.raises(ModelError, match="is no cross-encoder with one score"):
        load_cross_encoder(str(write_tiny_backbone(tmp_path / "plain", ["a text"])))
    with pytest.raises(ModelError, match="is no cross-encoder with one score"):
        load_cross_encoder(cross_encoder(3))
    with pytest.raises(UsageError, match="is no ensemble, which alone has a reader"):
        Retriever.load(bm25_run, reader="any")
