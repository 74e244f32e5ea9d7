"""The extras of the distribution: what each is for, and the error for a module that is not installed."""

from __future__ import annotations

from importlib.util import find_spec
from typing import NamedTuple

from statgraph.errors import DependencyError


class Extra(NamedTuple):
    """An extra of setup.cfg. `purpose`: what needs it, in words; `modules`: what its packages are imported as."""

    purpose: str
    modules: tuple[str, ...]


EXTRAS = {
    "serve": Extra("statgraph serve and statgraph mcp", ("fastapi", "jinja2", "mcp", "prometheus_client", "uvicorn")),
    "documents": Extra("import docx, md and xlsx", ("docx", "markdown_it", "openpyxl")),
    "onnx": Extra("faster questions on a CPU (quicken), and export --to onnx", ("onnx", "onnxruntime")),
    "parquet": Extra("import parquet, and export --to parquet", ("pyarrow",)),
    "plots": Extra("statgraph plot, and the pictures of tune and reproduce", ("matplotlib",)),
    "tuning": Extra("statgraph tune", ("optuna",)),
    "engines": Extra("index --engine lance and --engine milvus", ("lancedb", "pymilvus")),
    "sharding": Extra("statgraph embed, and update --vectors", ("pyarrow", "ray")),
    "integrations": Extra(
        "LangChain, LlamaIndex, Haystack and ir_datasets", ("haystack", "ir_datasets", "langchain_core", "llama_index")
    ),
}


def install_command(extra: str) -> str:
    """Return the command that installs an extra."""
    return f"pip install '.[{extra}]'"


def require(extra: str, *modules: str) -> None:
    """Check that modules of an extra, all of them unless some are named, are installed; none is imported.

    Raises:
        DependencyError: if one is not, with the command that installs the extra.
    """
    for module in modules or EXTRAS[extra].modules:
        if find_spec(module) is None:
            raise missing(module, extra)


def missing(module: str, extra: str) -> DependencyError:
    """Return the error for a module of an extra that is not installed."""
    return DependencyError(f"{module}: not installed; run in statgraph's checkout: {install_command(extra)}")
