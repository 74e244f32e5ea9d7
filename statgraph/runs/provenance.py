"""Where a run comes from, in words that hold on any machine: commit, versions, and paths fit to be published."""

from __future__ import annotations

import json
import platform
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from typing import Any

from statgraph._version import __version__

_PACKAGE = Path(__file__).parents[1]
_VERSIONED = ("torch", "dgl", "faiss-cpu", "sentence-transformers", "transformers", "bm25s", "numpy")


def commit() -> str:
    """Return the commit of the checkout that this package is imported from, with "-dirty" if the package has changed
    since; without a checkout the version, with the commit if pip installed it from git."""
    if not _git("ls-files", "--error-unmatch", "__init__.py"):
        installed = _installed_commit()
        return f"{__version__}+{installed[:7]}" if installed else __version__
    # Only the package counts: a benchmark writes its results into the checkout before the next one starts.
    dirty = "-dirty" if _git("status", "--porcelain", "--untracked-files=no", "--", ".") else ""
    return f"{_git('rev-parse', '--short=7', 'HEAD')}{dirty}"


def versions() -> dict[str, str]:
    """Return the versions of Python, of this package, and of those installed that decide a run's numbers."""
    known = {"python": platform.python_version(), "statgraph": __version__}
    for package in _VERSIONED:
        with suppress(metadata.PackageNotFoundError):
            known[package] = metadata.version(package)
    return known


def published_path(path: Path) -> str:
    """Return a path relative to the working directory, or only its name if it lies elsewhere."""
    resolved = path.resolve()
    return str(resolved.relative_to(Path.cwd())) if resolved.is_relative_to(Path.cwd()) else resolved.name


def published(value: Any) -> Any:
    """Return JSON values with each absolute path (after `name=`, too) as `published_path` has it."""
    if isinstance(value, Mapping):
        return {key: published(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [published(part) for part in value]
    if not isinstance(value, str):
        return value
    name, equals, text = value.partition("=") if not Path(value).is_absolute() else ("", "", value)
    return f"{name}{equals}{published_path(Path(text))}" if Path(text).is_absolute() else value


def _installed_commit() -> str:
    with suppress(metadata.PackageNotFoundError, ValueError, KeyError):
        origin = json.loads(metadata.distribution("statgraph").read_text("direct_url.json") or "{}")
        installed: str = origin["vcs_info"]["commit_id"]
        return installed
    return ""


def _git(*arguments: str) -> str:
    try:
        done = subprocess.run(["git", "-C", str(_PACKAGE), *arguments], check=False, capture_output=True, text=True)
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
