import shutil
from dataclasses import replace

import numpy as np
import pytest
import torch

from statgraph.config import EncoderConfig
from statgraph.encoders.article_encoder import load_article_encoder
from statgraph.encoders.biencoder import encoded
from statgraph.encoders.building import build_biencoder
from statgraph.errors import RunError

pytestmark = pytest.mark.usefixtures("own_cache")
CPU = torch.device("cpu")
CORPUS = ("the tenant pays the rent to the landlord at work", "a child")
CHANGED = ("the landlord pays", "", "the child " * 20)


@pytest.fixture
def trained(tmp_path):
    """Return a function that builds a pair, moves its weights, saves both sides as a run does, and returns
    (run folder, what its article side makes of `CHANGED`)."""

    def build(config: EncoderConfig, adapted: str | None = None):
        pair = build_biencoder(config, CORPUS, CPU, adapted).eval()
        torch.manual_seed(3)
        with torch.no_grad():
            for parameter in pair.parameters():
                if parameter.requires_grad:
                    parameter.add_(0.1 * torch.randn_like(parameter))
        pair.save_question_encoder(tmp_path / "run" / "query_encoder")
        pair.save_article_encoder(tmp_path / "run" / "article_encoder")
        inputs = pair.article_inputs(CHANGED)
        return tmp_path / "run", encoded(pair.articles, inputs, batch=8, device=CPU)

    return build


def tiny(folder, **changes) -> EncoderConfig:
    return EncoderConfig(**{"backbone": str(folder), "train": "head", "chunk_tokens": 12, "max_tokens": 48} | changes)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"train": "none", "article_pooling": "mean"},
        {"shared": True, "similarity": "dot"},
        {"prune_vocabulary": True},
        {"train": "full"},
        {"train": "full", "prune_vocabulary": True},
        {"train": "full", "shared": True},
        {"train": "last-1"},
    ],
)
def test_a_transformer_gives_the_vectors_of_its_training(trained, tiny_folder, changes):
    config = tiny(tiny_folder, **changes)
    run, vectors = trained(config)
    shutil.rmtree(tiny_folder)  # all that is needed is in the run
    found = load_article_encoder(run, config, CPU).encode(CHANGED)
    np.testing.assert_allclose(found, vectors, atol=1e-5)
    assert np.abs(found[0] - found[2]).max() > 1e-3


def test_a_static_one_too(trained, quick_backbone):
    config = EncoderConfig(backbone=str(quick_backbone), train="full")
    run, vectors = trained(config)
    encoder = load_article_encoder(run, config, CPU)
    np.testing.assert_allclose(encoder.encode(CHANGED), vectors, atol=1e-6)
    assert encoder.encode([]).shape == (0, 16)


@pytest.mark.parametrize("train", ["head", "full"])
def test_an_adapted_backbone_is_read_from_its_place(trained, tiny_folder, save_tiny_as, tmp_path, train):
    config = tiny(tiny_folder, train=train, adapted=True)
    run, vectors = trained(config, str(save_tiny_as(tmp_path / "adapted")))
    for each in (config, replace(config, adapted=False)):  # as of 0.1.0, which could name another one for articles
        np.testing.assert_allclose(load_article_encoder(run, each, CPU).encode(CHANGED), vectors, atol=1e-5)


def test_a_backbone_that_has_gone_is_one_line(trained, tiny_folder, save_tiny_as, tmp_path):
    adapted = save_tiny_as(tmp_path / "adapted")
    config = tiny(tiny_folder, adapted=True)
    run, _ = trained(config, str(adapted))
    shutil.rmtree(adapted)
    with pytest.raises(RunError, match=rf"article_encoder: .* gone .*'{adapted}'.*; put it back, or train the run"):
        load_article_encoder(run, config, CPU)


def test_a_pruned_adapted_backbone_cannot_be_had_again(trained, tiny_folder, save_tiny_as, tmp_path):
    config = tiny(tiny_folder, adapted=True, prune_vocabulary=True)
    run, _ = trained(config, str(save_tiny_as(tmp_path / "adapted")))
    with pytest.raises(RunError, match=r"was cut to the word pieces .* with encoder.prune_vocabulary=false"):
        load_article_encoder(run, config, CPU)


@pytest.mark.parametrize("name", ["model.safetensors", "config.json"])
def test_a_damaged_file_is_one_line(trained, tiny_folder, name):
    config = tiny(tiny_folder)
    run, _ = trained(config)
    (run / "article_encoder" / name).write_bytes(b"\xff")
    with pytest.raises(RunError, match=r"article_encoder: the article encoder cannot be loaded \(.*\); train the run"):
        load_article_encoder(run, config, CPU)
