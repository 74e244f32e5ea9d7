from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import torch

from statgraph.augmentation.store import SyntheticQuestion
from statgraph.config import GnnConfig, Stage2Config
from statgraph.graph.blocks import BlockSampler, whole_graph_block
from statgraph.graph.build import DEFAULT_RELATIONS, build_graph
from statgraph.graph.gnn.encoder import GraphEncoder
from statgraph.graph.relations import CITING, HEADING, NODE_TYPES, QUESTION
from statgraph.law.records import CitingText
from statgraph.training.loop import ahead
from statgraph.training.pairs import gold_pairs, heading_pairs, synthetic_pairs
from statgraph.training.seeding import seed_everything, seed_sampler
from statgraph.training.stage2 import GraphModel, Stage2

CONFIG = Stage2Config(batch_size=7, lr=0.01, encoder_lr=0.02, encoder_weight_lr=0.02, temperature=0.1)
ALONG = replace(CONFIG, train_encoders="both")
FROZEN = replace(CONFIG, train_encoders="none", distillation="none", contrastive_weight=1.0, student_share=1.0)
SYNTHETIC = tuple(
    SyntheticQuestion(text, ids, "seq2seq:m")
    for text, ids in (("water of a foul well", ("A11", "A7")), ("who trims the wick", ("A3",)), ("an oak lid", ("A8",)))
)


class NotingGraphEncoder(GraphEncoder):
    """Keeps the vectors that it gave last."""

    def forward(self, nodes, blocks):
        self.noted = super().forward(nodes, blocks)
        return self.noted


@pytest.fixture
def built(village, static_encoders, text_model):
    """Return a function that builds the stage on a corpus: (stage, text encoders, graph encoder, graph)."""

    def build(
        config: Stage2Config = CONFIG,
        *,
        corpus=village,
        target_edges="mask",
        dev=True,
        fanout=-1,
        citation_dropout=0.0,
        token_dropout=0.0,
        headings=True,
        synthetic=SYNTHETIC,
        graph_seed=3,
        layer="qabisar",
        relations=DEFAULT_RELATIONS,
    ):
        encoders = static_encoders(token_dropout=token_dropout)
        graph, gold = build_graph(corpus, relations), gold_pairs(corpus)
        torch.manual_seed(graph_seed)
        gnn = GnnConfig(layer=layer, heads=2, first_gate=0.5)
        graph_encoder = NotingGraphEncoder(gnn, width=8, n_edge_types=len(graph.edge_types))
        sampler = BlockSampler(
            graph, fanouts=[fanout, fanout], target_edges=target_edges, citation_dropout=citation_dropout
        )
        texts = {
            HEADING: encoders.article_inputs([heading.title for heading in graph.headings]),
            QUESTION: encoders.question_inputs(gold.texts),
        }
        if graph.citing:
            texts[CITING] = encoders.question_inputs([text.text for text in graph.citing])
        sources = {"gold": gold} | ({"headings": heading_pairs(corpus)} if headings else {})
        sources |= {"synthetic": synthetic_pairs(corpus, synthetic)} if synthetic else {}
        graph_model = GraphModel(graph_encoder, sampler, whole_graph_block(graph))
        stage = Stage2(text_model(encoders, corpus, dev=dev), graph_model, texts, sources, config, {})
        stage.set_training(False)
        return stage, encoders, graph_encoder, graph

    return build


def first_batch(stage: Stage2, seed: int = 0):
    return next(iter(stage.batches(np.random.default_rng(seed))))


def seen_vectors(stage: Stage2, graph_encoder: NotingGraphEncoder, batch) -> tuple[torch.Tensor, torch.Tensor, float]:
    """Return the graph's vectors of the batch's articles, those of its questions, and the loss."""
    loss = stage.loss(batch).item()
    noted = graph_encoder.noted.detach()
    assert len(noted) == len(batch.articles) + len(batch.questions)
    return noted[: len(batch.articles)], noted[len(batch.articles) :], loss


def contrastive_by_hand(questions, articles, batch, corpus, temperature=0.1) -> float:
    """Return the mean over the gold pairs of -log(own / (own + articles that do not answer))."""
    of_text = dict(zip(batch.questions.tolist(), questions, strict=True))
    return pairs_by_hand(gold_pairs(corpus), batch.gold, of_text, articles, batch, temperature)


def pairs_by_hand(source, pairs, of_text, articles, batch, temperature=0.1) -> float:
    losses = []
    for text_row, own in pairs.tolist():
        answers = set(source.answers_of(text_row).tolist()) - {own}
        scores = articles @ of_text[text_row] / temperature
        kept = torch.tensor([row not in answers for row in batch.articles.tolist()])
        losses.append(torch.logsumexp(scores[kept], 0) - scores[batch.articles.tolist().index(own)])
    return float(torch.stack(losses).mean())


def divergence_by_hand(teacher, student, temperature=0.1) -> float:
    target, guess = torch.softmax(teacher / temperature, 1), torch.softmax(student / temperature, 1)
    return float((target * (target / guess).log()).sum(1).mean())


def test_of_equal_seeds_the_thread_that_makes_batches_draws_equal_ones(built):
    stage, *_ = built(replace(CONFIG, min_epoch_steps=5), fanout=1, citation_dropout=0.3)

    def drawn(seed):
        seed_everything(seed, with_graph=True)
        batches = list(ahead(stage.batches(np.random.default_rng(5)), partial(seed_sampler, seed)))
        assert len(batches) == 5
        return [(batch.gold.tolist(), batch.blocks.layers[0].sources.tolist()) for batch in batches]

    one, other = drawn(5), drawn(6)
    assert drawn(5) == one != other
    assert [gold for gold, _ in one] == [gold for gold, _ in other]  # by NumPy's seed


@pytest.mark.parametrize("config", [CONFIG, ALONG])
@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_the_loss_by_hand(built, village, config, share):
    stage, encoders, graph_encoder, _ = built(
        replace(config, student_share=share, random_negatives=5, distillation_weight=0.3, contrastive_weight=0.7)
    )
    batch = first_batch(stage)
    articles, teacher, loss = seen_vectors(stage, graph_encoder, batch)
    texts = gold_pairs(village).texts
    student = encoders.questions(encoders.question_inputs([texts[row] for row in batch.questions])).detach()
    contrastive = (1 - share) * contrastive_by_hand(teacher, articles, batch, village)
    contrastive += share * contrastive_by_hand(student, articles, batch, village)
    wanted = 0.7 * contrastive + 0.3 * divergence_by_hand(teacher @ articles.T, student @ articles.T)
    assert loss == pytest.approx(wanted, rel=1e-4)


def test_distillation_alone_and_left_out(built, village):
    # Masked, a question has no neighbours, and an untrained graph network gives it back as it came: nothing to distil.
    only = replace(CONFIG, contrastive_weight=0.0, distillation_weight=1.0)
    stage, encoders, graph_encoder, _ = built(only, target_edges="keep")
    batch = first_batch(stage)
    articles, teacher, loss = seen_vectors(stage, graph_encoder, batch)
    student = encoders.questions(encoders.question_inputs(gold_pairs(village).texts)).detach()
    assert loss == pytest.approx(divergence_by_hand(teacher @ articles.T, student @ articles.T), rel=1e-4)
    stage, encoders, graph_encoder, _ = built(replace(CONFIG, contrastive_weight=1.0, distillation_weight=0.0))
    batch = first_batch(stage)
    articles, teacher, loss = seen_vectors(stage, graph_encoder, batch)
    assert loss == pytest.approx(contrastive_by_hand(teacher, articles, batch, village), rel=1e-4)
    stage.loss(batch).backward()
    assert encoders.question_encoder.vectors.grad is None  # nothing asks of the student, and the bank is frozen


@pytest.mark.parametrize("batch_size", [1, 7])
def test_masked_a_question_does_not_see_its_own_labels(built, relabelled, batch_size):
    vectors = {"mask": [], "keep": []}
    for target_edges, seen in vectors.items():
        for labels in (("A4", "A5"), ("A3", "A9")):
            stage, _, graph_encoder, _ = built(
                replace(CONFIG, batch_size=batch_size), corpus=relabelled(q0=labels), target_edges=target_edges
            )
            batch = next(each for each in stage.batches(np.random.default_rng(0)) if 0 in each.questions)
            _, questions, _ = seen_vectors(stage, graph_encoder, batch)
            seen.append(questions[batch.questions.tolist().index(0)])
    assert torch.equal(*vectors["mask"])
    assert (vectors["keep"][0] - vectors["keep"][1]).abs().max() > 0.01


def test_masked_an_article_does_not_see_the_question_it_answers(built, relabelled):
    vectors = {"mask": [], "keep": []}
    for target_edges, seen in vectors.items():
        for labels in (("A4",), ("A4", "A5")):
            stage, _, graph_encoder, _ = built(corpus=relabelled(q0=labels), target_edges=target_edges)
            batch = first_batch(stage)
            articles, _, _ = seen_vectors(stage, graph_encoder, batch)
            seen.append(articles[batch.articles.tolist().index(4)])
    assert torch.allclose(*vectors["mask"], atol=1e-6)
    assert (vectors["keep"][0] - vectors["keep"][1]).abs().max() > 1e-4


def tokens_of(texts, vocabulary) -> set[int]:
    return {vocabulary[word] for text in texts for word in text.lower().split()}


@pytest.mark.parametrize("config", [CONFIG, replace(ALONG, headings=0.0)])
def test_the_texts_that_are_encoded_with_the_batch_have_gradients(built, village, vocabulary, config):
    stage, encoders, graph_encoder, _ = built(config, headings=False)
    batch = first_batch(stage)
    stage.loss(batch).backward()
    touched = set(torch.nonzero(encoders.question_encoder.vectors.grad.abs().sum(1)).flatten().tolist())
    articles = batch.articles if config.train_encoders == "both" else []
    own = [village.articles[row].text for row in articles]
    asked = [gold_pairs(village).texts[row] for row in batch.questions]
    # No heading's, and no other article's: those come from the bank.
    assert touched == tokens_of([*own, *asked], vocabulary)
    assert all(parameter.grad is not None for parameter in graph_encoder.parameters())


def test_parameter_groups_have_their_rates(built):
    for config in (CONFIG, ALONG):
        stage, encoders, graph_encoder, _ = built(config)
        graph, vectors, weights = stage.parameter_groups()
        assert (graph["lr"], vectors["lr"], weights["lr"]) == (0.01, 0.02, 0.02)
        assert len(graph["params"]) == len(list(graph_encoder.parameters()))
        assert vectors["params"][0] is encoders.question_encoder.vectors


@pytest.mark.parametrize(("config", "changes"), [(CONFIG, False), (ALONG, True)])
def test_a_frozen_bank_stays_as_the_encoders_were(built, config, changes):
    stage, *_ = built(config)
    before = stage.index_vectors()
    weights = {name: tensor.clone() for name, tensor in stage.weights().items()}
    (vectors,) = (name for name in weights if name.startswith("text.") and name.endswith(".vectors"))
    weights[vectors] += torch.randn(weights[vectors].shape)
    stage.load_weights(weights)
    assert (stage.index_vectors() == before).all() != changes


def test_the_bank_is_encoded_again_after_a_step_only(built, monkeypatch):
    stage, encoders, _, _ = built(ALONG)
    encoded = []
    articles = encoders.articles
    monkeypatch.setattr(encoders, "articles", lambda inputs: encoded.append(len(inputs)) or articles(inputs))
    before = stage.index_vectors()
    batch = first_batch(stage)
    assert encoded == []
    stage.loss(batch).backward()
    with torch.no_grad():
        encoders.encoder.vectors -= encoders.encoder.vectors.grad
    stage.weights_changed()
    encoded.clear()
    assert (stage.index_vectors() != before).any()
    stage.index_vectors()
    assert encoded == [12, len(stage._texts[HEADING])]


def test_the_whole_graph_is_run_once_for_each_state_of_the_weights(built, monkeypatch):
    stage, *_ = built(ALONG)
    seen, forward = [], NotingGraphEncoder.forward
    monkeypatch.setattr(
        NotingGraphEncoder,
        "forward",
        lambda self, nodes, blocks: seen.append(len(nodes)) or forward(self, nodes, blocks),
    )
    stage.dev_metrics()
    stage.begin_epoch(1, 1)
    batch = first_batch(stage)
    stage.index_vectors()
    assert len(seen) == 1
    stage.loss(batch)
    stage.index_vectors()
    assert len(seen) == 2  # the batch's blocks
    stage.weights_changed()
    stage.index_vectors()
    assert len(seen) == 3
    stage.load_weights(stage.weights())
    stage.index_vectors()
    assert len(seen) == 4


@pytest.mark.parametrize("layer", ["qabisar", "gatv2", "gcn", "k-gnn"])
def test_index_vectors_are_the_articles_node_vectors(built, layer):
    stage, *_ = built(ALONG, layer=layer)
    vectors = stage.node_vectors()
    assert (vectors.articles.shape, vectors.questions.shape) == ((12, 8), (4, 8))
    assert stage.index_vectors() == pytest.approx(vectors.articles.numpy(), abs=1e-6)


def test_citing_texts_stand_behind_the_questions(built, village):
    texts = ("who lights the lamps", "where the mayor lives")
    citing = tuple(CitingText(text, "Guide", text, ("A0", "A5")) for text in texts)
    stage, _, graph_encoder, graph = built(
        ALONG, corpus=replace(village, citing=citing), relations=("tree", "bipartite", "citing")
    )
    blocks = BlockSampler(graph, fanouts=[-1, -1], target_edges="keep").sample({"question": torch.arange(4)})
    vectors = stage.input_vectors()
    assert list(vectors) == list(graph.node_types)
    inputs = [torch.from_numpy(vectors[node_type])[rows] for node_type, rows in blocks.input_nodes.items()]
    with torch.no_grad():
        wanted = graph_encoder(torch.cat(inputs), blocks.layers)
    assert len(blocks.input_nodes["citing"])
    assert stage.node_vectors().questions.numpy() == pytest.approx(wanted.numpy(), abs=1e-6)
    assert np.isfinite(stage.loss(first_batch(stage)).item())


def test_index_vectors_are_those_of_the_whole_graph(built, village):
    stage, encoders, graph_encoder, graph = built(ALONG)
    everything = {node_type: torch.arange(graph.node_counts[node_type]) for node_type in NODE_TYPES}
    blocks = BlockSampler(graph, fanouts=[-1, -1], target_edges="keep").sample(everything)
    with torch.no_grad():
        texts = [
            [article.text for article in village.articles],
            [heading.title for heading in graph.headings],
            gold_pairs(village).texts,
        ]
        nodes = torch.cat([encoders.articles(encoders.article_inputs(each)) for each in texts])
        wanted = graph_encoder(nodes, blocks.layers)[: len(village.articles)].numpy()
    vectors = stage.index_vectors()
    assert (vectors.shape, vectors.dtype) == ((12, 8), np.float32)
    assert vectors == pytest.approx(wanted, abs=1e-6)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(12), abs=1e-6)


def test_dev_and_test_questions_leave_no_trace(built, village, relabelled, tmp_path, trained):
    # Dev labels may choose the epoch that is kept; so that they cannot here, nothing is chosen.
    other = relabelled(d0=("A9", "A1"), d1=("A0",), t0=("A4", "A5"))
    other = replace(
        other,
        questions=tuple(
            question if question.split == "train" else replace(question, text="who owns the mayor")
            for question in other.questions
        ),
    )
    weights, vectors = [], []
    for number, corpus in enumerate((village, other)):
        stage, _, _, graph = built(replace(ALONG, headings=1.0, random_negatives=3), corpus=corpus, dev=False)
        assert len(graph.question_ids) == 4
        assert stage.dev_metrics() is None
        weights.append(trained(stage, tmp_path / str(number))[1])
        vectors.append(stage.index_vectors())
    assert all(torch.equal(weights[0][name], weights[1][name]) for name in weights[0])
    assert (vectors[0] == vectors[1]).all()


def test_heading_pairs_teach_only_where_the_encoders_train(built):
    stage, *_ = built(replace(ALONG, batch_size=16, gold=1.0, headings=7.0))
    batches = list(stage.batches(np.random.default_rng(0)))
    assert [(len(batch.gold), len(batch.beside["headings"])) for batch in batches] == [(2, 14)] * 3 + [(1, 14)]
    assert stage.steps_per_epoch == 4
    for batch in batches:
        assert set(batch.gold[:, 1]) | set(batch.beside["headings"][:, 1]) == set(batch.articles.tolist())
    stage, *_ = built(replace(CONFIG, headings=7.0))
    assert all(not batch.beside for batch in stage.batches(np.random.default_rng(0)))
    stage, *_ = built(replace(ALONG, headings=0.0))
    assert all(not batch.beside for batch in stage.batches(np.random.default_rng(0)))


@pytest.mark.parametrize("config", [FROZEN, CONFIG, ALONG])
def test_synthetic_pairs_are_judged_by_the_graphs_articles(built, village, config):
    # Of 8 pairs 2 are gold and 6 synthetic: all four, and two of the next round.
    stage, encoders, graph_encoder, _ = built(
        replace(config, batch_size=8, synthetic=3.0, student_share=1.0, distillation="none", contrastive_weight=0.7)
    )
    batch = first_batch(stage)
    pairs, source = batch.beside["synthetic"], synthetic_pairs(village, SYNTHETIC)
    assert (len(batch.gold), len(pairs)) == (2, 6)
    assert set(batch.gold[:, 1]) | {3, 7, 8, 11} == set(batch.articles.tolist())
    articles, _, loss = seen_vectors(stage, graph_encoder, batch)
    with torch.no_grad():
        asked = encoders.questions(encoders.question_inputs(source.texts))
        texts = gold_pairs(village).texts
        student = encoders.questions(encoders.question_inputs([texts[row] for row in batch.questions]))
    wanted = 2 * 0.7 * contrastive_by_hand(student, articles, batch, village)
    wanted += 6 * pairs_by_hand(source, pairs, dict(enumerate(asked)), articles, batch)
    assert loss == pytest.approx(wanted / 8, rel=1e-4)


def test_without_a_weight_synthetic_questions_leave_no_trace(built, tmp_path, trained):
    weights = [
        trained(built(ALONG, dev=False, synthetic=synthetic)[0], tmp_path / str(len(synthetic)), epochs=1)[1]
        for synthetic in (SYNTHETIC, ())
    ]
    assert all(torch.equal(weights[0][name], weights[1][name]) for name in weights[0])


def test_questions_alone_get_an_encoder_of_their_own_and_leave_the_articles(built, village):
    stage, encoders, _, _ = built(replace(CONFIG, student_share=0.5), headings=False, synthetic=())
    before = encoders.articles(encoders.article_inputs(["water of a well"])).detach().clone()
    optimizer = torch.optim.SGD(stage.parameter_groups(), lr=1.0)
    stage.loss(first_batch(stage)).backward()
    optimizer.step()
    inputs = encoders.question_inputs(["water of a well"])
    assert torch.equal(encoders.articles(inputs), before)
    assert not torch.allclose(encoders.questions(inputs), before)


def test_an_epoch_tells_how_alike_student_and_teacher_are(built):
    stage, encoders, graph_encoder, _ = built(synthetic=())
    assert "teacher cosine" not in stage.dev_metrics()
    stage.begin_epoch(1, 1)
    batch = first_batch(stage)
    articles, teacher, _ = seen_vectors(stage, graph_encoder, batch)
    student = encoders.questions(stage._texts[QUESTION].take(torch.from_numpy(batch.questions))).detach()
    metrics = stage.dev_metrics()
    cosines = torch.nn.functional.cosine_similarity(teacher, student)
    assert metrics["teacher cosine"] == pytest.approx(float(cosines.mean()), abs=2e-5)
    by_hand = divergence_by_hand(teacher @ articles.T, student @ articles.T)
    assert metrics["teacher KL"] == pytest.approx(by_hand, abs=2e-4)
