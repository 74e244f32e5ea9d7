"""DGL, imported where it works, and run on one thread where its draws must not depend on timing."""

from __future__ import annotations

import importlib
import importlib.metadata
import os
import sys
import threading
import types
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

from statgraph.errors import DependencyError, described

DGLGraph: TypeAlias = Any  # `dgl.DGLGraph`: DGL has no types, and is imported by `load_dgl` alone
DGL_RANGE = "dgl>=1.1.3,<3"

_GRAPHBOLT = "dgl.graphbolt"
# Packages that DGL imports without declaring them, where the name to install is another.
_DISTRIBUTIONS = {"yaml": "pyyaml", "sklearn": "scikit-learn", "pkg_resources": "'setuptools<81'"}

_lock = threading.Lock()


def load_dgl() -> types.ModuleType:
    """Return the `dgl` module, with torch as its backend.

    Sets DGLBACKEND, without which DGL writes a configuration file into the user's home, and DGL_FFI: the compiled front
    fails with some versions of Python, and its ctypes front is as fast here. An empty module stands in for GraphBolt,
    which nothing here uses and which DGL 2 has for few versions of torch.

    Raises:
        DependencyError: if torch, DGL or a package that DGL needs is missing, or DGL does not load.
    """
    with _lock:
        if (loaded := sys.modules.get("dgl")) is not None:
            return loaded
        os.environ.update(DGLBACKEND="pytorch", DGL_FFI="ctypes")
        sys.modules.setdefault(_GRAPHBOLT, types.ModuleType(_GRAPHBOLT))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return importlib.import_module("dgl")
        except Exception as error:
            for name in [name for name in sys.modules if name == "dgl" or name.startswith("dgl.")]:
                del sys.modules[name]
            raise DependencyError(_explained(error)) from error


def _explained(error: Exception) -> str:
    """Return why DGL does not load, and the remedy."""
    module = (error.name or "") if isinstance(error, ModuleNotFoundError) else ""
    missing = module.partition(".")[0]
    try:
        version = importlib.metadata.version("dgl")
    except importlib.metadata.PackageNotFoundError:
        version = "of unknown version"
    if module == "dgl":
        return f"the graph needs the package 'dgl'; install it with: pip install '{DGL_RANGE}' packaging"
    if missing and missing != "dgl":
        distribution = _DISTRIBUTIONS.get(missing, missing)
        return f"dgl {version} needs the package '{missing}'; install it with: pip install {distribution}"
    return (
        f"dgl {version} does not load ({described(error)}); "
        f"install a clean one with: pip install --force-reinstall --no-deps '{DGL_RANGE}'"
    )


@contextmanager
def single_threaded() -> Iterator[None]:
    """Run the block on one thread, DGL's work included.

    DGL's sampler draws from a generator per thread, and threads share the work in no fixed order: on two, equal seeds
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
