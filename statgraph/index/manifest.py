"""What the manifest of an approximate index says of how it was made, read back with care."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import TypeVar

from statgraph import artifacts
from statgraph.errors import RunError
from statgraph.index.equal_length import EqualLength
from statgraph.index.faiss_files import REMEDY

Settings = TypeVar("Settings")


def read_entries(
    folder: Path, manifest: Mapping[str, object], kind: type[Settings], *, held_width: int
) -> tuple[EqualLength, Settings]:
    """Return how the vectors are held, and the settings of the index.

    Raises:
        RunError: if an entry is missing or has another type, or vectors of another width are held.
    """
    form = _record(folder, manifest, "held", EqualLength)
    if (form.width, form.held_width) != (manifest.get("width"), held_width) or form.width > held_width:
        raise RunError(
            f"{folder / artifacts.MANIFEST}: says that vectors of width {form.width} are held in {form.held_width} "
            f"components, but index.faiss holds {held_width}; {REMEDY}"
        )
    return form, _record(folder, manifest, "settings", kind)


def _record(folder: Path, manifest: Mapping[str, object], entry: str, kind: type[Settings]) -> Settings:
    """Return the dataclass that stands in a manifest under `entry`."""
    saved = manifest.get(entry)
    types = {"int": int, "float": (int, float), "str": str}
    wanted = {item.name: types[str(item.type)] for item in fields(kind)}
    if not isinstance(saved, dict) or not all(isinstance(saved.get(name), of) for name, of in wanted.items()):
        raise RunError(f"{folder / artifacts.MANIFEST}: damaged ('{entry}' is not as it was written); {REMEDY}")
    return kind(**{name: saved[name] for name in wanted})
