import pytest
import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import StaticEmbedding

from statgraph.config import EncoderConfig
from statgraph.errors import ModelError
from statgraph.text.building import build_biencoder
from statgraph.text.static_biencoder import StaticBiEncoder
from statgraph.text.transformer_biencoder import TransformerBiEncoder

CPU = torch.device("cpu")


def test_a_transformer_folder(tiny_folder):
    pair = build_biencoder(EncoderConfig(backbone=str(tiny_folder), train="full", chunk_tokens=64), [], CPU)

    assert isinstance(pair, TransformerBiEncoder)
    assert pair.backbone.pooling == "cls"
    assert (pair.width, pair.device) == (32, CPU)


def test_a_static_folder(unigram, tmp_path):
    modules = [StaticEmbedding(unigram, embedding_dim=8)]
    SentenceTransformer(modules=modules, device="cpu").save(str(tmp_path / "st"), create_model_card=False)
    pair = build_biencoder(EncoderConfig(backbone=str(tmp_path / "st"), train="full"), [], CPU)

    assert isinstance(pair, StaticBiEncoder)
    assert pair.width == 8


@pytest.mark.parametrize(
    ("name", "start"),
    [
        ("/no/such/folder", "backbone folder '/no/such/folder' does not exist"),
        ("embedded:x", "backbone 'embedded:x' is not known"),
        ("nobody-at-all/no-such-model", "backbone 'nobody-at-all/no-such-model' cannot be loaded ("),
    ],
)
def test_a_backbone_that_cannot_be_had(name, start):
    with pytest.raises(ModelError) as error:
        build_biencoder(EncoderConfig(backbone=name, train="full"), [], CPU)
    assert str(error.value).startswith(start)
    assert "\n" not in str(error.value)
