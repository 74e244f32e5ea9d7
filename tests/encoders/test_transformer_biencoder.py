from dataclasses import replace

import numpy as np
import pytest
import torch
from sentence_transformers import SentenceTransformer
from transformers import AutoModel

from statgraph.config import EncoderConfig
from statgraph.encoders import frozen
from statgraph.encoders.backbone import Backbone
from statgraph.encoders.chunking import ChunkVectors
from statgraph.encoders.transformer_biencoder import TransformerBiEncoder, build_transformer_biencoder, freeze_lower
from statgraph.errors import ModelError, UsageError

pytestmark = pytest.mark.usefixtures("own_cache")
CPU = torch.device("cpu")
QUESTIONS = ("who pays the rent", "", "work " * 80, "a child")
ARTICLES = ("the tenant pays the rent to the landlord at work", "rent", "", "the child " * 20)
CONFIG = EncoderConfig(backbone="tiny", train="head", chunk_tokens=12, max_tokens=48, article_pooling="mean")


@pytest.fixture
def backbone(tiny_folder) -> Backbone:
    return Backbone("tiny", "transformer", str(tiny_folder), "mean", "query: ", "passage: ")


@pytest.fixture
def build(backbone):
    """Return a function that builds the pair of a configuration changed here and there, in evaluation mode."""

    def build_pair(corpus_texts=(), backbone=backbone, **changes) -> TransformerBiEncoder:
        return build_transformer_biencoder(backbone, replace(CONFIG, **changes), corpus_texts, CPU).eval()

    return build_pair


def vectors_of(pair: TransformerBiEncoder) -> tuple[torch.Tensor, torch.Tensor]:
    with torch.no_grad():
        questions = pair.questions(pair.question_inputs(QUESTIONS))
        return questions, pair.articles(pair.article_inputs(ARTICLES))


def shaken(pair: TransformerBiEncoder) -> TransformerBiEncoder:
    """Return the pair with what trains moved away from its start."""
    torch.manual_seed(3)
    with torch.no_grad():
        for parameter in pair.parameters():
            if parameter.requires_grad:
                parameter.add_(0.1 * torch.randn_like(parameter))
    return pair


def zero_shot(pair: TransformerBiEncoder, tiny_folder, prefix: str, text: str) -> torch.Tensor:
    model = pair._towers[0].model
    ids = pair.tokenizer(prefix + text, return_tensors="pt")["input_ids"]
    with torch.no_grad():
        mean = model(input_ids=ids).last_hidden_state[0].mean(dim=0)
    return mean / mean.norm()


def test_a_frozen_backbones_inputs_are_cached_vectors(build, monkeypatch):
    inputs = build().article_inputs(ARTICLES)
    assert isinstance(inputs, ChunkVectors)
    assert inputs.vectors.shape == (inputs.offsets[-1], 32)
    assert np.diff(inputs.offsets).tolist() == [2, 1, 1, 4]  # 9 + 9..., 1, none, 40 pieces in chunks of 12 - 4

    monkeypatch.setattr(frozen, "token_batches", lambda *chunks: pytest.fail("computed again"))
    again = build().article_inputs(ARTICLES)
    assert torch.equal(again.vectors, inputs.vectors)


def test_it_starts_as_zero_shot(build, tiny_folder):
    pair = build()
    questions, articles = vectors_of(pair)

    torch.testing.assert_close(questions.norm(dim=1), torch.ones(4))
    torch.testing.assert_close(articles.norm(dim=1), torch.ones(4))
    for row in (0, 1, 3):
        expected = zero_shot(pair, tiny_folder, "query: ", QUESTIONS[row])
        torch.testing.assert_close(questions[row], expected, atol=1e-3, rtol=0)
    torch.testing.assert_close(articles[1], zero_shot(pair, tiny_folder, "passage: ", ARTICLES[1]), atol=1e-3, rtol=0)


@pytest.mark.parametrize("train", ["none", "head", "last-1", "full"])
@pytest.mark.parametrize("pooling", ["mean", "cls"])
def test_the_export_is_plain_sentence_transformers(build, backbone, tmp_path, train, pooling):
    pair = shaken(build(train=train, backbone=replace(backbone, pooling=pooling)))
    questions, _ = vectors_of(pair)
    pair.save_question_encoder(tmp_path / "query_encoder")
    loaded = SentenceTransformer(str(tmp_path / "query_encoder"), device="cpu", local_files_only=True)

    found = loaded.encode(list(QUESTIONS))
    np.testing.assert_allclose(found, questions.numpy(), atol=1e-4 if train == "full" else 5e-4)
    assert loaded.default_prompt_name == "query"
    assert loaded.prompts == {"query": "query: ", "document": "passage: "}
    assert not (tmp_path / "query_encoder" / ".backbone").exists()


@pytest.mark.parametrize(("n_upper", "training"), [(1, {2}), (2, {1, 2}), (9, {0, 1, 2})])
def test_only_the_last_layers_have_gradients(tiny_folder, n_upper, training):
    model = AutoModel.from_pretrained(tiny_folder)
    freeze_lower(model, n_upper)
    names = [name for name, parameter in model.named_parameters() if parameter.requires_grad]
    assert {name.split(".")[2] for name in names} == {str(layer) for layer in training}
    assert all(name.startswith("encoder.layer.") for name in names)


def test_layers_that_are_nowhere_known():
    with pytest.raises(ModelError, match=r"^encoder\.train: .*Linear .* none, head or full"):
        freeze_lower(torch.nn.Linear(2, 2), 1)


def test_two_towers_share_what_is_frozen_in_them(build):
    pair = build(train="last-1")
    towers = dict(pair.query_model.named_parameters()), dict(pair.article_model.named_parameters())

    shared = {name for name in towers[0] if towers[0][name] is towers[1][name]}
    assert shared == {name for name in towers[0] if not name.startswith("encoder.layer.2.")}
    assert all(torch.equal(towers[0][name], towers[1][name]) for name in towers[0])
    assert all(towers[1][name].requires_grad for name in towers[1].keys() - shared)


@pytest.mark.parametrize("train", ["head", "full"])
def test_one_encoder_or_two(build, train):
    shared, apart = build(train=train, shared=True), build(train=train, shared=False)

    assert shared.article_projection is shared.query_projection
    assert apart.article_projection is not apart.query_projection
    if train == "full":
        assert shared.article_model is shared.query_model
        assert apart.article_model is not apart.query_model
    count = [len(pair.parameter_groups(lr=0.1, weight_lr=0.1)[0]["params"]) for pair in (shared, apart)]
    assert count[0] < count[1]


@pytest.mark.parametrize("changes", [{}, {"train": "full"}, {"train": "last-1"}, {"shared": True}])
def test_trained_state_comes_back(build, changes):
    trained, fresh = shaken(build(**changes)), build(**changes)
    expected = vectors_of(trained)
    assert not torch.allclose(vectors_of(fresh)[0], expected[0], atol=1e-3)
    fresh.load_trained_state(trained.trained_state())

    for found, wanted in zip(vectors_of(fresh), expected, strict=True):
        torch.testing.assert_close(found, wanted)


@pytest.mark.parametrize("train", ["head", "full"])
def test_a_pruned_vocabulary_changes_no_vector(build, tmp_path, train):
    whole, pruned = (
        build(train=train),
        build([*QUESTIONS, *ARTICLES, "query: passage:"], train=train, prune_vocabulary=True),
    )
    model = pruned._towers[0].model

    assert len(pruned.tokenizer) == model.config.vocab_size < len(whole.tokenizer) == 53
    for found, wanted in zip(vectors_of(pruned), vectors_of(whole), strict=True):
        torch.testing.assert_close(found, wanted, atol=1e-5, rtol=0)
    pruned.save_question_encoder(tmp_path / "query_encoder")
    found = SentenceTransformer(str(tmp_path / "query_encoder"), device="cpu").encode(list(QUESTIONS))
    np.testing.assert_allclose(found, vectors_of(whole)[0].numpy(), atol=5e-4)


def test_questions_are_cut_to_what_the_backbone_takes(build):
    pair = build(train="full")
    inputs = pair.question_inputs(["work " * 500])

    assert [len(chunk) for chunk in inputs.chunk_ids] == [64]


@pytest.mark.parametrize(
    ("chunk_tokens", "said"), [(65, "65 is more than .*'tiny' takes; use 64"), (0, "0 leaves no room"), (4, "4 leaves")]
)
def test_chunks_without_room(build, chunk_tokens, said):
    with pytest.raises(UsageError, match=rf"^encoder\.chunk_tokens: {said}"):
        build(chunk_tokens=chunk_tokens, max_tokens=130).article_inputs(ARTICLES)


@pytest.fixture
def build_two(build, backbone, save_tiny_as, tmp_path):
    """Return a function that builds a pair of two backbones: the articles' is another model, by `cls`, with "p: "."""
    folder = save_tiny_as(tmp_path / "other")
    model = AutoModel.from_pretrained(folder, add_pooling_layer=False)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(1.5)
    model.save_pretrained(folder)
    other = Backbone("other", "transformer", str(folder), "cls", "q: ", "p: ")

    def build_pair(question=backbone, article=other, **changes) -> TransformerBiEncoder:
        config = replace(CONFIG, **changes)
        return build_transformer_biencoder(question, config, ARTICLES, CPU, article).eval()

    return build_pair, other


@pytest.mark.parametrize("train", ["head", "last-1", "full"])
@pytest.mark.parametrize("prune_vocabulary", [False, True])
def test_each_side_has_its_own_backbone(build, build_two, train, prune_vocabulary):
    build_pair, other = build_two
    changes = {"train": train, "prune_vocabulary": prune_vocabulary}
    torch.manual_seed(0)
    questions, articles = vectors_of(build_pair(**changes))
    torch.manual_seed(0)
    as_questions, _ = vectors_of(build(ARTICLES, **changes))
    torch.manual_seed(0)
    _, as_articles = vectors_of(build(ARTICLES, backbone=other, **changes))

    torch.testing.assert_close(questions, as_questions)
    torch.testing.assert_close(articles, as_articles)
    assert not torch.allclose(articles, vectors_of(build(ARTICLES, **changes))[1], atol=1e-2)
