"""Names of what the toolkit saves, and the one way in which it saves: whole or not at all."""

from __future__ import annotations

import errno
import glob
import hashlib
import json
import os
import secrets
import shutil
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from statgraph.errors import RunError, StatgraphError, reason_of

if TYPE_CHECKING:
    import numpy as np
    import torch

MANIFEST = "manifest.json"
MODEL_CARD = "README.md"

CORPUS_ARTICLES = "corpus.jsonl"
CORPUS_QUESTIONS = "queries.jsonl"
CORPUS_LABELS = "qrels"
CORPUS_CITING = "citing.jsonl"

GRAPH_FILE = "graph.dgl"
GRAPH_NODES = "nodes.json"

# What a killed process left half-written is removed by the next that writes the same, once nobody can be at it still.
_ABANDONED_S = 24 * 3600.0
_MARK_BYTES = 4

_FULL = (errno.ENOSPC, errno.EDQUOT)
_NO_ROOM_BYTES = 1 << 20

# safetensors gives such a file to its owner alone; here it gets what the umask leaves, as any other file.
_WEIGHTS = ".safetensors"

RUN_CONFIG = "config.json"
RUN_QUERY_ENCODER = "query_encoder"
RUN_ARTICLE_ENCODER = "article_encoder"
RUN_GRAPH_ENCODER = "graph_encoder.safetensors"
RUN_GRAPH_INPUTS = "graph_inputs"
RUN_INDEX = "index"
RUN_LEXICAL_INDEX = "lexical"
RUN_MEMBERS = "members"
RUN_SIGNALS = "signals"
RUN_STRUCTURE = "structure.npz"
RUN_RANKER = "ranker.json"
RUN_TREES = "ranker.txt"
RUN_CHECKPOINTS = "checkpoints"
RUN_METRICS = "metrics.jsonl"
RUN_LESSONS = "lessons.npz"
RUN_REPORT = "report.json"
RUN_SYNTHETIC = "synthetic.jsonl"
RUN_ARTICLES = ("articles.jsonl", "articles.offsets.npy", "articles.dates.npy")


@contextmanager
def full_disk_named(place: Path) -> Iterator[None]:
    """Raise an OSError with the place where the block fails because the disk there is full.

    What writes for us says so in its own way: NumPy, torch, DGL, FAISS and LightGBM each raise another error, most of
    them without its number, none with the place.
    """
    try:
        yield
    except StatgraphError:
        raise
    except Exception as error:
        code = getattr(error, "errno", None)
        if getattr(error, "filename", None) is not None or not (code in _FULL or (code is None and _is_full(place))):
            raise
        code = code or errno.ENOSPC
        raise OSError(code, os.strerror(code), str(place)) from error


def _is_full(place: Path) -> bool:
    """Return whether the disk of a place, which may not be there yet, has no room."""
    there = next((path for path in (place, *place.absolute().parents) if path.exists()), Path())
    return shutil.disk_usage(there).free < _NO_ROOM_BYTES


@contextmanager
def replaced_folder(target: Path) -> Iterator[Path]:
    """Yield an empty folder that takes the place of `target` once the block ends without an error.

    Until then `target` stays as it was; after an error or a kill nothing half-written takes its place. A kill
    between the two renames of the end leaves the old folder whole beside it, as `.NAME-old-*`.
    """
    target = Path(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    _remove_abandoned(target)
    staging = _beside(target, "")
    staging.mkdir()
    mode = staging.stat().st_mode
    try:
        with full_disk_named(target):
            yield staging
        for weights in staging.rglob(f"*{_WEIGHTS}"):
            _give_mode(weights, mode)
        _swap_in(staging, target)
    finally:
        shutil.rmtree(staging, ignore_errors=True)


@contextmanager
def replaced_file(target: Path) -> Iterator[Path]:
    """Yield a path beside `target` to write to; it replaces `target` once the block ends without an error."""
    target = Path(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    _remove_abandoned(target)
    staging = _beside(target, "")
    try:
        with full_disk_named(target):
            yield staging
        if target.suffix == _WEIGHTS:
            _give_mode(staging, _new_file_mode(target))
        os.replace(staging, target)
    finally:
        staging.unlink(missing_ok=True)


def partial_beside(path: Path) -> Path:
    """Return where the finished parts of a file to come are kept."""
    return path.with_name(f"{path.name}.partial")


def write_text(path: Path, text: str) -> None:
    """Write a text as UTF-8, whole or not at all."""
    with replaced_file(path) as staging:
        staging.write_text(text, encoding="utf-8")


def write_json(path: Path, value: Mapping[str, object]) -> None:
    """Write one JSON object, indented, as `write_text` does."""
    write_text(path, json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def write_json_lines(path: Path, values: Iterable[object]) -> None:
    """Write JSON values, one a line; whole or not at all only in a file or folder that is."""
    with path.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(value, ensure_ascii=False) + "\n" for value in values)


def as_json(value: object) -> object:
    """Return a value as it comes back from JSON: tuples as lists, keys as strings."""
    return json.loads(json.dumps(value))


def key_of(value: object, digits: int = 24) -> str:
    """Return the first hex digits of the SHA-256 of JSON values: a name for what is decided by them."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode("utf-8")).hexdigest()[:digits]


def read_json(path: Path) -> dict:
    """Return the JSON object in a file."""
    return json.loads(Path(path).read_text(encoding="utf-8"))


def read_object(path: Path, *, remedy: str) -> dict:
    """Return the JSON object in a file.

    Raises:
        RunError: if the file is missing or damaged, or holds something else.
    """
    try:
        value = read_json(path)
    except (OSError, ValueError, RecursionError) as error:
        raise RunError(f"{path}: not readable ({reason_of(error)}); {remedy}") from None
    if not isinstance(value, dict):
        raise RunError(f"{path}: not a JSON object; {remedy}")
    return value


def read_array(path: Path, shape: tuple[int, ...], dtype: str, *, remedy: str, mapped: bool = False) -> np.ndarray:
    """Return the array in a .npy file, memory-mapped if asked for.

    Raises:
        RunError: if the file is missing or damaged, or holds another shape or type.
    """
    import numpy as np

    try:
        array = np.load(path, mmap_mode="r" if mapped and shape[0] else None, allow_pickle=False)  # no map of nothing
        found = f"{array.dtype} of shape {array.shape}"
    except (OSError, ValueError, EOFError, AttributeError) as error:  # an archive of arrays has no shape
        raise RunError(f"{path}: not readable ({reason_of(error)}); {remedy}") from None
    wanted = f"{dtype} of shape {shape}"
    if found != wanted:
        raise RunError(f"{path}: {found} where {wanted} was written; {remedy}")
    return array


def write_tensors(path: Path, tensors: Mapping[str, torch.Tensor]) -> None:
    """Write tensors of any device by name, as safetensors."""
    from safetensors.torch import save_file

    save_file({name: tensor.detach().cpu().contiguous().clone() for name, tensor in tensors.items()}, path)


def read_tensors(path: Path, *, remedy: str) -> dict[str, torch.Tensor]:
    """Return the tensors in a safetensors file, on the CPU.

    Raises:
        RunError: if the file is missing or damaged.
    """
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        return load_file(path)
    except (OSError, SafetensorError) as error:
        raise RunError(f"{path}: not readable ({reason_of(error)}); {remedy}") from None


def _new_file_mode(target: Path) -> int:
    """Return the mode that a file made now beside `target` has: the umask can only be asked for by changing it."""
    probe = _beside(target, "")
    probe.touch()
    try:
        return probe.stat().st_mode
    finally:
        probe.unlink()


def _give_mode(path: Path, mode: int) -> None:
    """Let a file be read and written by whom a mode says; one that has other names too is not ours to change."""
    if not path.is_symlink() and path.stat().st_nlink == 1:
        path.chmod(mode & 0o666)


def _swap_in(staging: Path, target: Path) -> None:
    if not target.exists():
        os.rename(staging, target)
        return
    retired = _beside(target, "old-")
    os.rename(target, retired)
    try:
        os.rename(staging, target)
    except BaseException:
        os.rename(retired, target)
        raise
    if retired.is_dir() and not retired.is_symlink():
        shutil.rmtree(retired, ignore_errors=True)
    else:
        retired.unlink()


def _beside(target: Path, mark: str) -> Path:
    """Return a hidden name beside `target` that nothing has yet."""
    return target.with_name(f".{target.name}-{mark}{secrets.token_hex(_MARK_BYTES)}")


def _remove_abandoned(target: Path) -> None:
    """Remove what was half-written in place of `target`; an old folder, whole, is left to its owner."""
    for path in target.parent.glob(f".{glob.escape(target.name)}-{'[0-9a-f]' * 2 * _MARK_BYTES}"):
        with suppress(OSError):  # another process removes it too
            if time.time() - path.stat().st_mtime < _ABANDONED_S:
                continue
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
