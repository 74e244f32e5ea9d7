import numpy as np
import pytest
import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import BoW

from statgraph.encoders.inference.onnx_encoder import exported_encoder
from statgraph.errors import ModelError

onnxruntime = pytest.importorskip("onnxruntime")
QUESTIONS = ["The tenant pays rent", "work", "the landlord pays the child", "rent", "é?", "pays " * 200]


def vectors_of(exported, questions):
    """Return what ONNX Runtime makes of the tokens of sentence-transformers, all questions in one padded batch."""
    features = exported.source[0].tokenizer([exported.prompt + question for question in questions], padding=True,
                                            truncation=True, return_tensors="np")  # fmt: skip
    session = onnxruntime.InferenceSession(exported.model.SerializeToString())
    tokens = {name: features[name] for name in ("input_ids", "attention_mask")}
    (vectors,) = session.run(["sentence_embedding"], tokens)
    return vectors


# RoBERTa counts its positions from behind the padding.
@pytest.mark.parametrize(
    ("save", "pooling", "about", "tolerance"),
    [
        ("save_bert", "max", ("query: ", 1, 64), 2e-6),  # the mean and the first token: test_onnx_query.py
        ("save_roberta", "mean", ("", 1, 16), 1e-5),
        ("save_roberta", "cls", ("", 1, 16), 1e-5),
    ],
)
def test_a_transformer_gives_the_vectors_of_sentence_transformers(request, save, pooling, about, tolerance):
    folder = request.getfixturevalue(save)(pooling)
    exported = exported_encoder(folder)
    assert (exported.prompt, exported.pad_id, exported.max_tokens) == about
    expected = SentenceTransformer(str(folder), device="cpu").encode(QUESTIONS)
    assert expected.std(axis=0).min() > 0.01  # the questions differ
    np.testing.assert_allclose(vectors_of(exported, QUESTIONS), expected, rtol=0, atol=tolerance)


def test_a_static_encoder_takes_padded_tokens(quick_backbone):
    exported = exported_encoder(quick_backbone)
    session = onnxruntime.InferenceSession(exported.model.SerializeToString())
    ids = np.array([[4, 6, 0], [5, 0, 0], [0, 0, 0]])
    (vectors,) = session.run(None, {"input_ids": ids, "attention_mask": np.array([[1, 1, 0], [1, 0, 0], [0, 0, 0]])})
    modules = list(SentenceTransformer(str(quick_backbone), device="cpu"))[1:]
    words = exported.source[0].embedding.weight.detach().numpy()
    means = [words[[4, 6]].mean(axis=0), words[5], np.zeros(words.shape[1])]
    features = {"sentence_embedding": torch.tensor(np.array(means, dtype=np.float32))}
    for module in modules:
        features = module(features)
    np.testing.assert_allclose(vectors, features["sentence_embedding"].numpy(), rtol=0, atol=1e-6)
    assert exported.is_static


def test_what_cannot_be_exported_is_refused(save_bert, tmp_path, monkeypatch):
    with pytest.raises(ModelError, match=r"nowhere: no query encoder \(modules.json is missing\)"):
        exported_encoder(tmp_path / "nowhere")
    SentenceTransformer(modules=[BoW(["rent"])], device="cpu").save(str(tmp_path / "bow"), create_model_card=False)
    with pytest.raises(ModelError, match="begins with BoW"):
        exported_encoder(tmp_path / "bow")

    def fail(*_, **__):
        raise RuntimeError("no such operator\nat length")

    folder = save_bert("mean")
    monkeypatch.setattr(torch.onnx, "export", fail)
    with pytest.raises(ModelError, match=r"query_encoder: torch cannot export it to ONNX \(no such operator\)$"):
        exported_encoder(folder)
