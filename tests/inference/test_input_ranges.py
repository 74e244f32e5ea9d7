import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoModel, AutoTokenizer

from statgraph.errors import ModelError
from statgraph.inference.encoder_outline import encoder_outline
from statgraph.inference.input_ranges import input_ranges

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
TEXTS = ("The tenant pays rent", "work", "the landlord pays the child")


def test_ranges_are_those_of_transformers(save_bert):
    folder = save_bert("mean")
    found = input_ranges(encoder_outline(folder), folder, TEXTS, scratch=folder / "scratch.onnx")
    model, tokenizer = AutoModel.from_pretrained(folder).eval(), AutoTokenizer.from_pretrained(folder)
    expected = {}

    def remember(name):
        def hook(module, inputs):
            largest = inputs[0].detach()[0].abs().amax(dim=0).numpy()
            expected[name] = np.maximum(expected.get(name, largest), largest)

        return hook

    for layer in range(3):
        name = f"encoder.layer.{layer}"
        for of_map, module in (
            (f"{name}.attention.self", f"{name}.attention.self.query"),
            (f"{name}.attention.output.dense", f"{name}.attention.output.dense"),
            (f"{name}.intermediate.dense", f"{name}.intermediate.dense"),
            (f"{name}.output.dense", f"{name}.output.dense"),
        ):
            model.get_submodule(module).register_forward_pre_hook(remember(of_map))
    prompt = encoder_outline(folder).prompt
    with torch.inference_mode():
        for text in TEXTS:
            model(**tokenizer(prompt + text, return_tensors="pt"))

    assert found.keys() == expected.keys()
    for of_map, largest in found.items():
        assert largest.shape == (model.get_submodule(of_map.replace(".self", ".self.query")).in_features,)
        np.testing.assert_allclose(largest, expected[of_map], rtol=0, atol=1e-5)


def test_weights_that_are_cut_off_are_refused_in_one_line(save_bert, capfd):
    folder = save_bert("mean")
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-5000])
    capfd.readouterr()
    with pytest.raises(ModelError) as refused:
        input_ranges(encoder_outline(folder), folder, TEXTS, scratch=folder / "scratch.onnx")
    assert str(refused.value).startswith(f"{folder}: not loadable (")
    assert str(refused.value).endswith("); its weights are damaged: train the run again")
    assert "\n" not in str(refused.value)
    assert capfd.readouterr().err == ""  # nor has ONNX Runtime a line of its own


def test_weights_that_are_not_finite_are_refused(save_bert):
    folder = save_bert("mean")
    path = folder / "model.safetensors"
    weights = load_file(path)
    weights["encoder.layer.1.output.dense.bias"][3] = float("nan")
    save_file(weights, path, metadata={"format": "pt"})
    with pytest.raises(ModelError) as refused:
        input_ranges(encoder_outline(folder), folder, TEXTS, scratch=folder / "scratch.onnx")
    assert str(refused.value) == f"{folder}: its weights hold values that are not finite; train the run again"
