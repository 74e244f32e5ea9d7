from dataclasses import replace

import numpy as np
import pytest
import torch

from statgraph.config import Stage1Config
from statgraph.encoders.similarity import SIMILARITIES
from statgraph.training.pairs import answers_among, gold_pairs, heading_pairs
from statgraph.training.stage1 import Stage1

CONFIG = Stage1Config(batch_size=8, lr=0.05, weight_lr=0.05, temperature=0.1, gold=1, headings=1, negatives="none")
# For each training question three rows that do not answer it; A5 answers q0, A8 answers q1 and q3.
HARD = np.array([[8, 9, 0], [5, 0, 1], [5, 8, 3], [5, 4, 0]])


class ListedNegatives:
    """Draws from HARD, and notes what it is shown."""

    def __init__(self, *, needs_vectors: bool = False):
        self.needs_vectors = needs_vectors
        self.begun: list[tuple] = []

    def begin_epoch(self, epoch, epochs, vectors):
        self.begun.append((epoch, epochs, vectors))

    def draw(self, question_rows, per_pair, rng):
        return np.take_along_axis(HARD[question_rows], rng.integers(0, 3, (len(question_rows), per_pair)), axis=1)


@pytest.fixture
def stage_of(village, static_encoders, text_model):
    """Return a function that builds the stage on the village: `stage_of(CONFIG)`."""

    def build(
        config: Stage1Config, *, negatives=None, dev=True, encoders=None, headings=True, synthetic=None, order=None
    ) -> Stage1:
        sources = {"gold": gold_pairs(village)}
        sources |= {"headings": heading_pairs(village)} if headings else {}
        sources |= {"synthetic": synthetic} if synthetic else {}
        of_gold = {"gold": negatives} if negatives else {}
        return Stage1(text_model(encoders or static_encoders(), village, dev=dev), sources, config, of_gold, order)

    return build


def loss_by_hand(encoders, village, batch, temperature: float, *, all_negative: bool = False) -> float:
    """Return the mean over the pairs of -log(own / (own + articles that do not answer)), from sets and single texts."""
    sources = {"gold": gold_pairs(village), "headings": heading_pairs(village)}
    texts = [(sources[name], *pair) for name, pairs in batch.pairs.items() for pair in pairs.tolist()]
    articles = [row for _, _, row in texts] + batch.negatives.tolist()

    def similarity(question: str, article_row: int) -> float:
        one = encoders.questions(encoders.question_inputs([question]))
        other = encoders.articles(encoders.article_inputs([village.articles[article_row].text]))
        return (one @ other.T).item() / temperature

    losses = []
    for column, (source, text_row, own) in enumerate(texts):
        answers = set() if all_negative else set(source.answers_of(text_row).tolist())
        weights = [
            np.exp(similarity(source.texts[text_row], row))
            for place, row in enumerate(articles)
            if place == column or row not in answers
        ]
        losses.append(-np.log(np.exp(similarity(source.texts[text_row], own)) / sum(weights)))
    return float(np.mean(losses))


def test_the_loss_is_that_of_a_slow_sum(stage_of, static_encoders, village):
    encoders = static_encoders()
    stage = stage_of(replace(CONFIG, negatives_per_pair=2), negatives=ListedNegatives(), encoders=encoders)
    for batch in stage.batches(np.random.default_rng(0)):
        assert len(batch.negatives) == 2 * len(batch.pairs["gold"])
        assert stage.loss(batch).item() == pytest.approx(loss_by_hand(encoders, village, batch, 0.1), rel=1e-4)


def test_other_answers_of_a_question_are_never_negatives(stage_of, static_encoders, village, vocabulary):
    # q0 is answered by A4 and A5. Give all its words and A5's one direction, A4's another: were A5 a negative of the
    # pair (q0, A4), that pair alone would cost 1 / temperature.
    encoders = static_encoders()
    with torch.no_grad():
        for text, axis in (("who pays for a broken lamp", 0), (village.articles[5].text, 0)):
            for word in text.split():
                encoders.encoder.vectors[vocabulary[word]] = torch.eye(8)[axis]
        for word in set(village.articles[4].text.split()) - {"pays"}:
            encoders.encoder.vectors[vocabulary[word]] = torch.eye(8)[1]
    stage = stage_of(replace(CONFIG, batch_size=7, headings=0), encoders=encoders, headings=False)
    (batch,) = stage.batches(np.random.default_rng(0))
    assert {(0, 4), (0, 5)} <= {tuple(pair) for pair in batch.pairs["gold"].tolist()}
    loss = stage.loss(batch).item()
    assert loss == pytest.approx(loss_by_hand(encoders, village, batch, 0.1), rel=1e-4)
    assert loss < loss_by_hand(encoders, village, batch, 0.1, all_negative=True) - 0.5


def test_each_source_of_pairs_has_its_own_negatives(village, static_encoders, text_model):
    class OwnNumber(ListedNegatives):
        def __init__(self, row):
            self.row = row

        def draw(self, question_rows, per_pair, rng):
            return np.full((len(question_rows), per_pair), self.row)

    sources = {"gold": gold_pairs(village), "headings": heading_pairs(village)}
    negatives = {"gold": OwnNumber(1), "headings": OwnNumber(2)}
    stage = Stage1(text_model(static_encoders(), village), sources, replace(CONFIG, negatives_per_pair=2), negatives)
    batch = next(iter(stage.batches(np.random.default_rng(0))))
    assert batch.negatives.tolist() == [1] * 2 * len(batch.pairs["gold"]) + [2] * 2 * len(batch.pairs["headings"])


def test_hard_negatives_never_answer_their_question(stage_of, village):
    stage = stage_of(replace(CONFIG, negatives_per_pair=3), negatives=ListedNegatives())
    gold = gold_pairs(village)
    drawn = set()
    for seed in range(20):
        for batch in stage.batches(np.random.default_rng(seed)):
            negatives = batch.negatives.reshape(len(batch.pairs["gold"]), 3)
            for (text_row, _), rows in zip(batch.pairs["gold"].tolist(), negatives.tolist(), strict=True):
                assert set(rows) <= set(HARD[text_row].tolist())
                assert not answers_among(gold, [text_row], np.array(rows)).any()
                drawn |= {(text_row, row) for row in rows}
    assert drawn == {(text_row, row) for text_row in range(4) for row in HARD[text_row].tolist()}


@pytest.mark.parametrize(
    ("batch_size", "gold", "headings", "sizes"),
    [(16, 1, 7, (2, 14)), (8, 1, 1, (4, 4)), (8, 3, 1, (6, 2)), (4, 2, 0, (4, 0))],
)
def test_a_batch_is_shared_out_by_weight(stage_of, village, batch_size, gold, headings, sizes):
    stage = stage_of(replace(CONFIG, batch_size=batch_size, gold=gold, headings=headings))
    batches = list(stage.batches(np.random.default_rng(0)))
    assert (len(batches[0].pairs["gold"]), len(batches[0].pairs.get("headings", ()))) == sizes
    assert {len(batch.pairs.get("headings", ())) for batch in batches} == {sizes[1]}
    assert len(batches) == stage.steps_per_epoch == -(-7 // sizes[0])
    drawn = np.concatenate([batch.pairs["gold"] for batch in batches])
    assert sorted(drawn.tolist()) == gold_pairs(village).pairs.tolist()


def test_a_curriculum_begins_with_the_easy_questions_in_as_many_steps(stage_of, village):
    pairs = gold_pairs(village).pairs
    stage = stage_of(CONFIG, order=np.array([0, 3, 1, 2]))  # the questions 0, 2, 3, 1
    drawn = []
    for epoch in (1, 2):
        stage.begin_epoch(epoch, 2)
        batches = list(stage.batches(np.random.default_rng(0)))
        assert len(batches) == stage.steps_per_epoch
        drawn.append(np.concatenate([batch.pairs["gold"] for batch in batches]))
    assert set(drawn[0][:, 0]) == {0, 2}
    assert sorted(drawn[1].tolist()) == pairs.tolist()


def test_without_gold_an_epoch_is_one_pass_over_the_headings(stage_of, village):
    stage = stage_of(replace(CONFIG, gold=0, negatives_per_pair=1), negatives=ListedNegatives())
    batches = list(stage.batches(np.random.default_rng(0)))
    pairs = heading_pairs(village).pairs
    assert len(batches) == stage.steps_per_epoch == -(-len(pairs) // 8)
    assert sorted(np.concatenate([batch.pairs["headings"] for batch in batches]).tolist()) == pairs.tolist()
    assert all("gold" not in batch.pairs and not len(batch.negatives) for batch in batches)
    assert stage.loss(batches[0]).isfinite()


def test_a_seed_fixes_every_choice(stage_of, static_encoders, tmp_path, trained):
    config = replace(CONFIG, negatives_per_pair=2)
    weights = []
    for number, seed in enumerate((0, 0, 1)):
        stage = stage_of(config, negatives=ListedNegatives(), dev=False, encoders=static_encoders(token_dropout=0.3))
        weights.append(trained(stage, tmp_path / str(number), seed=seed)[1])
    assert all(torch.equal(weights[0][name], weights[1][name]) for name in weights[0])
    assert not torch.equal(weights[0]["encoder.vectors"], weights[2]["encoder.vectors"])


def test_the_source_of_negatives_sees_the_encoders_as_they_stand(stage_of, static_encoders, village, tmp_path, trained):
    source, encoders = ListedNegatives(needs_vectors=True), static_encoders(token_dropout=0.5)
    stage = stage_of(CONFIG, negatives=source, encoders=encoders)
    stage.set_training(True)
    stage.begin_epoch(2, 5)
    assert encoders.training
    ((epoch, epochs, vectors),) = source.begun
    assert (epoch, epochs) == (2, 5)
    encoders.eval()
    texts = [question.text for question in village.split("train")]
    assert vectors.questions == pytest.approx(encoders.questions(encoders.question_inputs(texts)).detach().numpy())
    trained(stage, tmp_path, epochs=2)
    first, second = (vectors.articles for _, _, vectors in source.begun[1:])
    assert (first != second).any()


def test_every_loss_and_similarity_trains(stage_of, static_encoders, tmp_path, trained):
    for name in SIMILARITIES:
        for loss in ("cross-entropy", "triplet"):
            encoders = static_encoders()
            encoders.encoder.similarity = SIMILARITIES[name]
            stage = stage_of(replace(CONFIG, loss=loss, temperature=1.0, margin=1.0), encoders=encoders)
            _, _, records = trained(stage, tmp_path / f"{name}-{loss}", epochs=3)
            assert records[-1]["loss"] < records[1]["loss"]
