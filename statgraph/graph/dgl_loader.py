"""DGL, imported where it works, and run on one thread where its draws must not depend on timing."""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import os
import sys
import threading
import types
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from statgraph.errors import DependencyError, described

DGL_RANGE = "dgl>=1.1.3,<3"

_GRAPHBOLT = "dgl.graphbolt"
_LIBRARY_NAMES = {
    "linux": "libgraphbolt_pytorch_{}.so",
    "darwin": "libgraphbolt_pytorch_{}.dylib",
    "win32": "graphbolt_pytorch_{}.dll",
}
# Packages that DGL imports without declaring them, where the name to install is another.
_DISTRIBUTIONS = {"yaml": "pyyaml", "sklearn": "scikit-learn", "pkg_resources": "'setuptools<81'"}

_lock = threading.Lock()
_loaded: types.ModuleType | None = None


def load_dgl() -> types.ModuleType:
    """Return the `dgl` module, with torch as its backend.

    Sets DGLBACKEND, without which DGL writes a configuration file into the user's home. Where DGL 2 has no GraphBolt
    library for the installed torch, an empty module replaces that part, which nothing here uses. Where DGL's
    compiled front does not load, its ctypes front is used.

    Raises:
        DependencyError: if torch, DGL or a package that DGL needs is missing, or DGL does not load.
    """
    global _loaded
    with _lock:
        if _loaded is None:
            _loaded = _load()
    return _loaded


def _load() -> types.ModuleType:
    os.environ["DGLBACKEND"] = "pytorch"
    folder = _dgl_folder()
    _stand_in_for_graphbolt(folder)
    try:
        return _import_quietly()
    except ModuleNotFoundError as error:
        raise _missing_package(error, folder) from error
    except Exception:  # its compiled front fails in as many ways as there are torches; the ctypes front comes next
        _forget_half_imported()
    os.environ["DGL_FFI"] = "ctypes"
    _stand_in_for_graphbolt(folder)
    try:
        return _import_quietly()
    except Exception as error:
        del os.environ["DGL_FFI"]
        _forget_half_imported()
        raise DependencyError(
            f"{folder}: dgl {_dgl_version()} does not load with torch {_torch().__version__} ({described(error)}); "
            f"install a clean one with: pip install --force-reinstall --no-deps '{DGL_RANGE}'"
        ) from error


def _dgl_folder() -> Path:
    try:
        spec = importlib.util.find_spec("dgl")
    except ValueError:  # a stand-in that some program put into sys.modules has no spec
        spec = None
    if spec is None or not spec.submodule_search_locations:
        raise DependencyError(
            f"the graph needs the package 'dgl'; install it with: pip install '{DGL_RANGE}' packaging"
        )
    return Path(next(iter(spec.submodule_search_locations)))


def _torch() -> types.ModuleType:
    try:
        return importlib.import_module("torch")
    except ImportError as error:
        raise DependencyError(
            f"the graph needs the package 'torch', which does not load ({described(error)}); "
            "install it with: pip install torch"
        ) from error


def _stand_in_for_graphbolt(folder: Path) -> None:
    if _GRAPHBOLT in sys.modules or not (folder / "graphbolt").is_dir():
        return
    torch_version = _torch().__version__.split("+", maxsplit=1)[0]
    library = _LIBRARY_NAMES.get(sys.platform, "").format(torch_version)
    if not (library and (folder / "graphbolt" / library).is_file()):
        sys.modules[_GRAPHBOLT] = types.ModuleType(_GRAPHBOLT)


def _import_quietly() -> types.ModuleType:
    _torch()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return importlib.import_module("dgl")


def _forget_half_imported() -> None:
    for name in [name for name in sys.modules if name == "dgl" or name.startswith("dgl.")]:
        del sys.modules[name]


def _missing_package(error: ModuleNotFoundError, folder: Path) -> DependencyError:
    _forget_half_imported()
    package = (error.name or "").split(".")[0]
    if not package or package == "dgl":
        return DependencyError(
            f"{folder}: dgl {_dgl_version()} is incomplete ({described(error)}); "
            f"install a clean one with: pip install --force-reinstall --no-deps '{DGL_RANGE}'"
        )
    distribution = _DISTRIBUTIONS.get(package, package)
    return DependencyError(
        f"dgl {_dgl_version()} needs the package '{package}'; install it with: pip install {distribution}"
    )


def _dgl_version() -> str:
    try:
        return importlib.metadata.version("dgl")
    except importlib.metadata.PackageNotFoundError:
        return "of unknown version"


@contextmanager
def single_threaded() -> Iterator[None]:
    """Run the block on one thread, DGL's work included.

    DGL's sampler draws from a generator per thread, and threads share the work as they come: on two of them equal seeds
    give other blocks. On blocks of a batch's size the threads cost more than they save.
    """
    import torch

    # DGL and torch may each have brought an OpenMP of their own.
    pools = (load_dgl().utils, torch)
    before = [pool.get_num_threads() for pool in pools]
    for pool in pools:
        pool.set_num_threads(1)
    try:
        yield
    finally:
        for pool, threads in zip(pools, before, strict=True):
            pool.set_num_threads(threads)
