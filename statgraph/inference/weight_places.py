"""Where the weights of a saved encoder lie in its safetensors files, and a mark of which weights they are."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from statgraph.inference.encoder_outline import MODULE_WEIGHTS, EncoderOutline

_LENGTH_BYTES = 8  # at the start of a safetensors file: the length of its header
_PROBED_BYTES = 256  # of each weight: training changes them all


def weight_marks(outline: EncoderOutline, root: Path, *, values: bool = False) -> str:
    """Return a text that changes with the place, the shape or the type of any weight: JSON, file to hash and size. With
    `values`, for a graph that holds copies, it changes with what the weights begin with too.

    Raises:
        OSError, ValueError: if a file is missing or damaged.
    """
    marks = {}
    for folder in filter(None, (outline.first, outline.dense)):
        path = folder / MODULE_WEIGHTS
        digest = hashlib.sha256(_header(path))
        if values:
            with path.open("rb") as file:
                for about in weight_places(path).values():
                    file.seek(about["data_offsets"][0])
                    digest.update(file.read(_PROBED_BYTES))
        marks[path.relative_to(root).as_posix()] = f"{digest.hexdigest()} {path.stat().st_size}"
    return json.dumps(marks)


def weight_places(path: Path) -> dict[str, dict]:
    """Return what a safetensors file's header says of each weight: `dtype`, `shape`, and `data_offsets`, here counted
    from the start of the file.

    Raises:
        OSError, ValueError: if the file is missing or damaged.
    """
    header = _header(path)
    start = _LENGTH_BYTES + len(header)
    weights = json.loads(header)
    weights.pop("__metadata__", None)
    return {
        name: about | {"data_offsets": [start + offset for offset in about["data_offsets"]]}
        for name, about in weights.items()
    }


def _header(path: Path) -> bytes:
    """Return the JSON at the start of a safetensors file, as it stands there."""
    with path.open("rb") as file:
        n_bytes = int.from_bytes(file.read(_LENGTH_BYTES), "little")
        if _LENGTH_BYTES + n_bytes > path.stat().st_size:
            raise ValueError(f"{path.name} ends within its header")
        return file.read(n_bytes)
