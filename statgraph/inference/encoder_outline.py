"""What a saved query encoder says of itself, read without sentence-transformers, whose import takes seconds."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from statgraph.encoders.backbones import POOLINGS

MODULES = "modules.json"
SETTINGS = "config_sentence_transformers.json"
MODULE_CONFIG = "config.json"
MODULE_WEIGHTS = "model.safetensors"
# Whatever else a folder sets may change its vectors, and then sentence-transformers computes them.
_KNOWN_SETTINGS = {"__version__", "default_prompt_name", "model_type", "prompts", "similarity_fn_name"}
_SENTENCE = {"module_input_name": "sentence_embedding", "module_output_name": "sentence_embedding"}
_POOLING = {"pooling_mode", "embedding_dimension", "include_prompt"}
_DENSE = {"in_features", "out_features", "bias", "activation_function", *_SENTENCE}
_LINEAR = {"activation_function": "torch.nn.modules.linear.Identity", "bias": True}


@dataclass(frozen=True)
class EncoderOutline:
    """A query encoder of the two shapes that `BiEncoder.save_question_encoder` writes.

    Attributes:
        kind: `StaticEmbedding` or `Transformer`.
        first: the folder of that module.
        pooling: how a Transformer pools, `mean` or `cls`; blank for a StaticEmbedding.
        dense: the folder of the linear map behind it, where there is one.
        unit_length: whether the vectors are brought to length 1.
        prompt: what stands in front of every question.
    """

    kind: str
    first: Path
    pooling: str
    dense: Path | None
    unit_length: bool
    prompt: str


def encoder_outline(folder: Path) -> EncoderOutline | None:
    """Return the outline of a query encoder's folder, or None where anything in it is not known here.

    Raises:
        OSError, ValueError: if a file of it is missing or damaged.
    """
    prompt = _prompt(folder)
    modules = json.loads((folder / MODULES).read_text(encoding="utf-8"))
    if prompt is None or not isinstance(modules, list) or not all(map(_is_plain, modules)):
        return None
    kinds = [module["type"].rpartition(".")[2] for module in modules]
    folders = [folder / module["path"] for module in modules]
    tail = 2 if kinds[:2] == ["Transformer", "Pooling"] else 1
    pooling = _pooling(folders[1]) if tail == 2 else ""
    if kinds[:1] not in (["StaticEmbedding"], ["Transformer"]) or (kinds[0] == "Transformer") != bool(pooling):
        return None
    rest = dict(zip(kinds[tail:], folders[tail:], strict=True))
    if kinds[tail:] not in ([], ["Dense"], ["Normalize"], ["Dense", "Normalize"]):
        return None
    if "Dense" in rest and not _is_linear(rest["Dense"]):
        return None
    if "Normalize" in rest and not _is_of_sentences(rest["Normalize"]):
        return None
    return EncoderOutline(kinds[0], folders[0], pooling, rest.get("Dense"), "Normalize" in rest, prompt)


def json_object(path: Path) -> dict:
    """Return the JSON object in a file, {} where there is no such file.

    Raises:
        ValueError: if it holds something else.
    """
    value = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    if not isinstance(value, dict):
        raise ValueError(f"{path.name} holds no JSON object")
    return value


def _prompt(folder: Path) -> str | None:
    settings = json_object(folder / SETTINGS)
    name, prompts = settings.get("default_prompt_name"), settings.get("prompts") or {}
    if not settings.keys() <= _KNOWN_SETTINGS or not isinstance(prompts, dict):
        return None
    return "" if name is None else prompts.get(name)


def _is_plain(module: object) -> bool:
    """Return whether a line of modules.json names a class of sentence-transformers' own and a folder inside."""
    if not isinstance(module, dict) or not str(module.get("type")).startswith("sentence_transformers."):
        return False
    path = module.get("path")
    return isinstance(path, str) and not Path(path).is_absolute() and ".." not in Path(path).parts


def _pooling(folder: Path) -> str:
    config = json_object(folder / MODULE_CONFIG)
    known = config.keys() <= _POOLING and config.get("include_prompt", True) and config.get("pooling_mode") in POOLINGS
    return config["pooling_mode"] if known else ""


def _is_linear(folder: Path) -> bool:
    config = json_object(folder / MODULE_CONFIG)
    wanted = _LINEAR | _SENTENCE
    return config.keys() <= _DENSE and all(config.get(key) == value for key, value in wanted.items())


def _is_of_sentences(folder: Path) -> bool:
    config = json_object(folder / MODULE_CONFIG)
    return all(_SENTENCE.get(key) == value for key, value in config.items())
