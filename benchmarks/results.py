"""Results on disk: a JSON file a measure, with the machine, the versions and the commit."""

from __future__ import annotations

import platform
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import torch

from benchmarks.registry import MEASURES
from benchmarks.rows import Row
from statgraph.artifacts import read_json, write_json
from statgraph.memory import peak_memory_mib
from statgraph.runs.provenance import commit

FOLDER = Path(__file__).parent / "results"
_PACKAGES = (
    "torch", "dgl", "faiss-cpu", "sentence-transformers", "torch-geometric", "onnxruntime", "networkx", "pandas",
    "lancedb", "pymilvus", "milvus-lite"
)  # fmt: skip


def save_results(name: str, rows: list[Row], *, command: str) -> None:
    """Write the rows of a measure, the command that made them and what they were measured on."""
    FOLDER.mkdir(exist_ok=True)
    about = {
        "command": command,
        "commit": commit(),
        "date": time.strftime("%Y-%m-%d"),
        "machine": f"{platform.machine()}, {torch.get_num_threads()} threads, {_gpu()}, Python "
        f"{platform.python_version()}",
        "versions": {package: found for package in _PACKAGES if (found := _version(package))},
        "peak_mib": peak_memory_mib(),
    }
    write_json(FOLDER / f"{name}.json", {"about": about, "rows": [row.to_dict() for row in rows]})


def read_results() -> dict[str, dict]:
    """Return what is on disk by measure, in the order of the table."""
    paths = {name: FOLDER / f"{name}.json" for name in MEASURES}
    return {name: read_json(path) for name, path in paths.items() if path.is_file()}


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _gpu() -> str:
    return torch.cuda.get_device_name() if torch.cuda.is_available() else "no GPU"
