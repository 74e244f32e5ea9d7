"""Backbones by name: what each name stands for, where its files are, how its texts are prefixed and pooled."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from statgraph.config import EncoderConfig
from statgraph.encoders.backbone import EMBEDDED_E5, EMBEDDED_STATIC, Backbone
from statgraph.errors import ModelError, UsageError
from statgraph.registry import BACKBONES

EMBEDDED_WIDTH = 384
MODULES = "modules.json"
_MOST_CHARACTERS = 16  # of a token, in any text but lines of dots
POOLINGS = ("mean", "cls", "max")
# What a sentence-transformers folder may hold; a Dense is trained here, so one that is there is left out.
_MODULES = {"Transformer", "Pooling", "Dense", "Normalize", "Dropout"}
_MODEL_FILES = (".safetensors", ".bin", ".json", ".txt", ".model")


def backbone_fingerprint(backbone: Backbone) -> str:
    """Return a hex name for what a backbone computes: from the bytes of its files, or for a hub name from the name."""
    about = (backbone.pooling, backbone.query_prefix, backbone.passage_prefix)
    digest = hashlib.blake2b(repr(about).encode(), digest_size=16)  # of the hashes at hand, quick on half a gigabyte
    folder = Path(backbone.location)
    if not folder.is_dir():
        digest.update(backbone.location.encode())
        return digest.hexdigest()
    for path in sorted(folder.iterdir()):
        if path.suffix in _MODEL_FILES and path.is_file():
            with path.open("rb") as file:
                digest.update(path.name.encode() + hashlib.file_digest(file, "blake2b").digest())
    return digest.hexdigest()


def is_static(name: str) -> bool:
    """Return whether a backbone's name stands for a static one, without unpacking anything."""
    if name in BACKBONES:
        return name == EMBEDDED_STATIC or (name != EMBEDDED_E5 and resolve_backbone(name).kind == "static")
    modules = Path(name) / MODULES
    return modules.is_file() and "StaticEmbedding" in modules.read_text(encoding="utf-8")


def width_of(name: str) -> int | None:
    """Return the components of a backbone's vectors where that is known without loading or unpacking it, else None."""
    if name in BACKBONES.built_in:
        return EMBEDDED_WIDTH
    folder = Path(name)
    if (folder / "modules.json").is_file():
        backbone = _from_folder(name, folder)
        if backbone.kind != "transformer":
            return None
        folder = Path(backbone.location)
    width: int | None = _read(folder / "config.json").get("hidden_size")
    return width


def check_static_training(config: EncoderConfig) -> None:
    """Raise UsageError if a configuration would train a static backbone in part."""
    if config.train not in ("none", "full"):
        raise UsageError(f"encoder.train: must be none or full for a static backbone (got '{config.train}')")


def resolve_backbone(name: str) -> Backbone:
    """Return the backbone of a name: an `embedded:` one, one that a package adds, a sentence-transformers folder, or a
    hub name.

    Raises:
        ModelError: if an `embedded:` name or a folder does not exist, or the folder holds nothing that can be used.
    """
    if name in BACKBONES:
        backbone: Backbone = BACKBONES.load(name)()
        return replace(backbone, name=name)
    if name.startswith("embedded:"):
        raise ModelError(f"unknown backbone '{name}'; choose from {', '.join(BACKBONES)}, a folder or a hub name")
    folder = Path(name)
    if folder.is_dir():
        return _from_folder(name, folder)
    if name.startswith((".", "/", "~")) or name.count("/") > 1:
        raise ModelError(f"backbone folder '{name}' does not exist; name a sentence-transformers folder or a hub name")
    return _from_name(name)


def longer_texts(texts: Sequence[str], backbone: Backbone, max_tokens: int) -> list[int]:
    """Return the places of the texts that have more tokens than `max_tokens`; none where the backbone's files, with its
    tokenizer, are not on this machine yet."""
    from tokenizers import Tokenizer

    path = Path(backbone.location) / "tokenizer.json"
    if not path.is_file():
        return []
    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_truncation()
    places = [place for place, text in enumerate(texts) if len(text) > max_tokens]  # a token has a character or more
    beginnings = [texts[place][: _MOST_CHARACTERS * max_tokens] for place in places]
    encodings = tokenizer.encode_batch_fast(beginnings, add_special_tokens=False)
    return [place for place, encoding in zip(places, encodings, strict=True) if len(encoding.ids) > max_tokens]


def _from_folder(name: str, folder: Path) -> Backbone:
    modules_file = folder / MODULES
    if not modules_file.is_file():
        if not (folder / "config.json").is_file():
            raise ModelError(f"{folder}: holds no config.json; name a sentence-transformers or transformers folder")
        return _from_name(name)
    modules = _read(modules_file)
    by_type = {module["type"].rsplit(".", 1)[-1]: folder / module["path"] for module in modules}
    prompts = _read(folder / "config_sentence_transformers.json").get("prompts") or {}
    query, passage = prompts.get("query", ""), prompts.get("passage", prompts.get("document", ""))
    if "StaticEmbedding" in by_type:
        return Backbone(name, "static", str(by_type["StaticEmbedding"]), "mean", query, passage)
    if "Transformer" not in by_type:
        raise ModelError(
            f"{folder}: its modules are {', '.join(by_type)}; a backbone needs Transformer or StaticEmbedding"
        )
    unknown = sorted(by_type.keys() - _MODULES)
    if unknown:
        raise ModelError(f"{folder}: its module {unknown[0]} is not supported; name a model with {', '.join(_MODULES)}")
    pooling_file = by_type.get("Pooling", folder) / "config.json"
    about = _read(pooling_file) if "Pooling" in by_type else {}
    pooling = _pooling(about)
    if pooling not in POOLINGS:
        raise ModelError(f"{pooling_file}: pools by {pooling}; a backbone needs {' or '.join(POOLINGS)}")
    if about.get("include_prompt") is False and (query or passage):
        raise ModelError(f"{pooling_file}: leaves the prompt out of the mean (include_prompt), which is not supported")
    missing = [f"{pooling} pooling"] * ("Pooling" not in by_type) + ["no prompts"] * (not prompts)
    chosen = f"{' and '.join(missing)}, since its folder says nothing else" if missing else ""
    return Backbone(name, "transformer", str(by_type["Transformer"]), pooling, query, passage, chosen)


def _pooling(about: Mapping[str, Any]) -> str:
    """Return how a sentence-transformers Pooling pools, from either layout of its configuration."""
    modes = about.get("pooling_mode") or [
        mode.removeprefix("pooling_mode_").removesuffix("_tokens").removesuffix("_token")
        for mode, switched_on in about.items()
        if mode.startswith("pooling_mode_") and switched_on
    ]
    return modes if isinstance(modes, str) else " and ".join(modes) or "mean"


def _from_name(name: str) -> Backbone:
    if not Path(name).is_dir():
        from huggingface_hub import try_to_load_from_cache

        modules = try_to_load_from_cache(name, MODULES)
        if isinstance(modules, str):
            return _from_folder(name, Path(modules).parent)
    e5 = re.search(r"(?<![a-z0-9])e5(?![a-z0-9])", Path(name).name.lower())
    pooling = "mean" if e5 or name.startswith("sentence-transformers/") else "cls"
    prompts = ("query: ", "passage: ") if e5 else ("", "")
    said = f"prompts '{prompts[0]}' and '{prompts[1]}'" if e5 else "no prompts"
    return Backbone(name, "transformer", name, pooling, *prompts, f"{pooling} pooling and {said}, by its name")


def _read(path: Path) -> Any:
    if not path.is_file():
        return {}
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ModelError(f"{path}: is not JSON ({error}); write the model's folder again") from None
