import json

import pytest

from statgraph.inference.encoder_outline import EncoderOutline, encoder_outline

PACKAGE = "sentence_transformers.base.modules"
SENTENCE = {"module_input_name": "sentence_embedding", "module_output_name": "sentence_embedding"}
DENSE = {"bias": True, "activation_function": "torch.nn.modules.linear.Identity", **SENTENCE}
STATIC = ("StaticEmbedding", "", {})
TRANSFORMER = ("Transformer", "", {})
POOLING = ("Pooling", "1_Pooling", {"pooling_mode": "mean", "embedding_dimension": 4})
LINEAR = ("Dense", "2_Dense", DENSE)
NORMALIZE = ("Normalize", "3_Normalize", SENTENCE)


@pytest.fixture
def write(tmp_path):
    """Return a function that writes the modules (kind, path, config) of an encoder and its settings."""

    def write_modules(*modules, settings=None):
        lines = [{"idx": 0, "name": "0", "path": path, "type": f"{PACKAGE}.{kind}"} for kind, path, _ in modules]
        (tmp_path / "modules.json").write_text(json.dumps(lines))
        for _, path, config in modules:
            if path:
                (tmp_path / path).mkdir()
                (tmp_path / path / "config.json").write_text(json.dumps(config))
        if settings is not None:
            (tmp_path / "config_sentence_transformers.json").write_text(json.dumps(settings))
        return tmp_path

    return write_modules


def test_a_static_encoder(write):
    folder = write(STATIC, LINEAR, NORMALIZE, settings={"prompts": {"query": "q: "}, "default_prompt_name": None})
    assert encoder_outline(folder) == EncoderOutline("StaticEmbedding", folder, "", folder / "2_Dense", True, "")


def test_a_transformer_with_its_prompt(write):
    folder = write(TRANSFORMER, POOLING, settings={"prompts": {"query": "q: "}, "default_prompt_name": "query"})
    assert encoder_outline(folder) == EncoderOutline("Transformer", folder, "mean", None, False, "q: ")


@pytest.mark.parametrize(
    "modules",
    [
        (),
        (POOLING,),
        (TRANSFORMER,),
        (STATIC, POOLING),
        (STATIC, NORMALIZE, LINEAR),
        (STATIC, ("LSTM", "1_LSTM", {})),
        (TRANSFORMER, ("Pooling", "1_Pooling", {"pooling_mode": "max"})),
        (TRANSFORMER, ("Pooling", "1_Pooling", {"pooling_mode": "mean", "include_prompt": False})),
        (STATIC, ("Dense", "1_Dense", DENSE | {"activation_function": "torch.nn.modules.activation.Tanh"})),
        (STATIC, ("Dense", "1_Dense", DENSE | {"bias": False})),
        (STATIC, ("Dense", "1_Dense", DENSE | {"use_residual": True})),
        (STATIC, ("Normalize", "1_Normalize", {"module_input_name": "token_embeddings"})),
        (("StaticEmbedding", "../elsewhere", {}),),
    ],
    ids=str,
)
def test_another_shape_is_not_known(write, tmp_path, modules):
    write(*[module for module in modules if ".." not in module[1]])
    if modules and ".." in modules[0][1]:
        line = {"path": modules[0][1], "type": f"{PACKAGE}.StaticEmbedding"}
        (tmp_path / "modules.json").write_text(json.dumps([line]))
    assert encoder_outline(tmp_path) is None


@pytest.mark.parametrize("settings", [{"truncate_dim": 64}, {"default_prompt_name": "q", "prompts": {}}])
def test_other_settings_are_not_known(write, settings):
    assert encoder_outline(write(STATIC, settings=settings)) is None


def test_another_package_s_module_is_not_known(write, tmp_path):
    write(STATIC)
    text = (tmp_path / "modules.json").read_text()
    (tmp_path / "modules.json").write_text(text.replace("sentence_transformers.", "mine."))
    assert encoder_outline(tmp_path) is None


def test_settings_that_are_no_object_are_refused(write):
    with pytest.raises(ValueError, match=r"^config_sentence_transformers.json holds no JSON object$"):
        encoder_outline(write(STATIC, settings=[]))
