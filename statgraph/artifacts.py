"""Names of what the toolkit saves, and the one way in which it saves: whole or not at all."""

from __future__ import annotations

import csv
import glob
import hashlib
import json
import os
import secrets
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from statgraph.disk import exchanged, locked, refused_write_named, require_room
from statgraph.errors import RETRAIN, RunError, described, reason_of

if TYPE_CHECKING:
    import numpy as np
    import torch

MANIFEST = "manifest.json"
MODEL_CARD = "README.md"

CORPUS_ARTICLES = "corpus.jsonl"
CORPUS_QUESTIONS = "queries.jsonl"
CORPUS_LABELS = "qrels"
CORPUS_CITING = "citing.jsonl"
SYNONYMS = "synonyms.txt"  # of a corpus and of its runs

GRAPH_FILE = "graph.dgl"
GRAPH_NODES = "nodes.json"

# What a killed process left half-written is removed by the next that writes the same: its lock went with it. On a disk
# without locks it stays, a hidden file or folder.
_MARK_BYTES = 4
_MARK = "[0-9a-f]" * 2 * _MARK_BYTES


@contextmanager
def replaced_folder(target: Path) -> Iterator[Path]:
    """Yield an empty folder that replaces `target` once the block ends without an error.

    Until then `target` stays as it was; after an error or a kill nothing half-written takes its place. Where the system
    cannot exchange two names, a kill between the two renames of the end leaves the old folder whole beside it, as
    `.NAME-*.old`.
    """
    with _staging(Path(target), folder=True) as staging:
        yield staging


@contextmanager
def replaced_file(target: Path) -> Iterator[Path]:
    """Yield an empty file beside `target` to write to; it replaces `target` once the block ends without an error."""
    with _staging(Path(target), folder=False) as staging:
        yield staging


def remove_abandoned(target: Path) -> None:
    """Remove what killed processes have left half-written in place of `target`; an old folder, whole, is left to its
    owner."""
    for path in target.parent.glob(f".{glob.escape(target.name)}-{_MARK}"):
        _remove_if_free(path)


def remove_abandoned_under(folder: Path) -> None:
    """Remove what killed processes have left half-written anywhere in a folder that is held."""
    for path in list(folder.rglob(f".*-{_MARK}")):
        _remove_if_free(path)


def _remove_if_free(path: Path) -> None:
    with suppress(OSError):  # another process removes it too
        descriptor = os.open(path, os.O_RDONLY)
        try:
            if locked(descriptor):
                _remove(path)
        finally:
            os.close(descriptor)


def remove_folder(folder: Path) -> None:
    """Remove a folder at once: a kill leaves it whole, or out of the way, for the next that removes or writes it."""
    remove_abandoned(folder)
    retired = _beside(folder)
    with suppress(OSError):
        os.rename(folder, retired)
        _remove(retired)


def link_over(source: Path, target: Path) -> None:
    """Make a file another name of `source`, in one step; OSError where the disk has no links."""
    staging = _beside(target)
    os.link(source, staging)
    os.replace(staging, target)


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
    """Return what a value becomes in JSON and back: tuples as lists, keys as strings."""
    return json.loads(json.dumps(value))


def key_of(value: object, digits: int = 24) -> str:
    """Return the first hex digits of the SHA-256 of JSON values: a name for what is decided by them."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode("utf-8")).hexdigest()[:digits]


@contextmanager
def reading(path: Path | str, remedy: str = RETRAIN) -> Iterator[None]:
    """Raise a RunError of one line, with the remedy, where the block cannot read what a file should hold.

    Any error counts as damage: those who parse a file raise what comes their way, down to a MemoryError for the size
    that a damaged header claims. So the block reads, checks and converts, and does nothing else.
    """
    try:
        yield
    except RunError as error:
        if str(error).startswith(str(path)):
            raise
        raise RunError(f"{path}: {error}") from error
    except Exception as error:
        reason = reason_of(error) if isinstance(error, OSError | ValueError) else described(error)
        raise RunError(f"{path}: not readable ({reason}); {remedy}") from error


@contextmanager
def array_damage_as_value_error() -> Iterator[None]:
    """Raise a ValueError where the block meets a damaged .npy or .npz file, whatever NumPy raises."""
    try:
        yield
    except (OSError, ValueError):
        raise
    except Exception as error:
        raise ValueError(described(error)) from error


def read_json(path: Path) -> dict:
    """Return the JSON object in a file."""
    return json.loads(Path(path).read_text(encoding="utf-8"))


def read_table(path: Path) -> list[dict[str, str]]:
    """Return the rows of a tab-separated table of the package, by the names in its first line."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def read_object(path: Path, *, remedy: str = RETRAIN) -> dict:
    """Return the JSON object in a file.

    Raises:
        RunError: if the file is missing or damaged, or holds something else.
    """
    with reading(path, remedy):
        value = read_json(path)
    if not isinstance(value, dict):
        raise RunError(f"{path}: not a JSON object; {remedy}")
    return value


def read_array(
    path: Path, shape: tuple[int, ...], dtype: str, *, remedy: str = RETRAIN, mapped: bool = False
) -> np.ndarray:
    """Return the array in a .npy file, memory-mapped if asked for.

    Raises:
        RunError: if the file is missing or damaged, or holds another shape or type.
    """
    import numpy as np

    with reading(path, remedy):  # an archive of arrays has no shape, and of nothing there is no map
        array = np.load(path, mmap_mode="r" if mapped and shape[0] else None, allow_pickle=False)
        held = f"{array.dtype} of shape {array.shape}"
    wanted = f"{dtype} of shape {shape}"
    if held != wanted:
        raise RunError(f"{path}: {held} where {wanted} was written; {remedy}")
    return array


def write_tensors(path: Path, tensors: Mapping[str, torch.Tensor]) -> None:
    """Write tensors of any device by name, as safetensors."""
    from safetensors.torch import save_file

    save_file({name: tensor.detach().cpu().contiguous().clone() for name, tensor in tensors.items()}, path)


def read_tensors(path: Path, *, remedy: str = RETRAIN) -> dict[str, torch.Tensor]:
    """Return the tensors in a safetensors file, on the CPU.

    Raises:
        RunError: if the file is missing or damaged.
    """
    from safetensors.torch import load_file

    with reading(path, remedy):
        return load_file(path)


@contextmanager
def _staging(target: Path, *, folder: bool) -> Iterator[Path]:
    """Yield a new folder or file beside `target`, held by this process, that replaces it once the block ends without an
    error; what is left of it then, and what killed processes have left, is removed."""
    target.parent.mkdir(parents=True, exist_ok=True)
    remove_abandoned(target)
    with refused_write_named(target):
        staging, descriptor = _new_and_held(target, folder=folder)
        try:
            yield staging
            require_room(target)
            _give_mode(staging.rglob("*.safetensors") if folder else [staging], os.fstat(descriptor).st_mode)
            if folder:
                _swap_in(staging, target)
            else:
                os.replace(staging, target)
        finally:
            with suppress(FileNotFoundError):
                _remove(staging)
            os.close(descriptor)


def _new_and_held(target: Path, *, folder: bool) -> tuple[Path, int]:
    """Return a new folder or file beside `target` and the descriptor that holds its lock."""
    while True:
        staging = _beside(target)
        if folder:
            staging.mkdir()
        else:
            staging.touch(exist_ok=False)
        with suppress(FileNotFoundError):  # until it is locked, another process may take it for abandoned
            descriptor = os.open(staging, os.O_RDONLY)
            locked(descriptor, wait=True)
            if staging.exists():
                return staging, descriptor
            os.close(descriptor)


def _give_mode(paths: Iterable[Path], mode: int) -> None:
    """Give weights, which safetensors writes for their owner alone, what the umask leaves; files linked elsewhere keep
    theirs."""
    for path in paths:
        if not path.is_symlink() and path.stat().st_nlink == 1:
            path.chmod(mode & 0o666)


def _swap_in(staging: Path, target: Path) -> None:
    """Put a folder in the place of `target`; what was there stays, if anywhere, under the name of `staging`."""
    if not os.path.lexists(target):
        os.rename(staging, target)
    elif not exchanged(staging, target):
        retired = staging.with_name(f"{staging.name}.old")
        os.rename(target, retired)
        os.rename(staging, target)
        _remove(retired)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink()


def _beside(target: Path) -> Path:
    """Return a hidden name beside `target` that nothing has yet."""
    return target.with_name(f".{target.name}-{secrets.token_hex(_MARK_BYTES)}")
