"""Choosing where tensors live and which precision a device computes fast; the memory of devices and of this process."""

from __future__ import annotations

import ctypes
import importlib.util
import os
import resource
import runpy
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from statgraph.errors import UsageError, option, unknown_name

if TYPE_CHECKING:
    import torch

DEVICES = ("auto", "cpu", "cuda")
_CPU_INFO = Path("/proc/cpuinfo")


def pick_device(name: str = "auto") -> torch.device:
    """Return the torch device for `auto` (CUDA where there is one), `cpu` or `cuda`.

    Raises:
        UsageError: if the name is not known, or `cuda` is asked for where there is none.
    """
    import torch

    if name not in DEVICES:
        raise unknown_name("device", name, DEVICES)
    available = torch.cuda.is_available()
    if name == "cuda" and not available:
        raise UsageError(f"device 'cuda' was asked for, but torch sees no CUDA device; use {option('device')} cpu")
    return torch.device("cuda" if available and name != "cpu" else "cpu")


def usable_cores() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def surely_cpu(name: str) -> bool:
    """Return whether `pick_device` would choose the CPU, without loading torch; false where only torch knows.

    Its import takes a second, more than a search by a static encoder. CUDA is out of reach where torch is a build for
    the CPU, or on Linux where the driver's library is not there.
    """
    if name != "auto":
        return name == "cpu"
    versions = _torch_versions()
    if versions is None or versions.get("hip") or versions.get("xpu"):
        return False
    if not versions.get("cuda"):
        return True
    return sys.platform == "linux" and not _has_cuda_driver()


def inference_dtype(device: torch.device) -> torch.dtype:
    """Return the dtype in which frozen transformers run: bfloat16 where that is faster, else float32."""
    import torch

    if device.type == "cuda":
        is_faster = torch.cuda.is_bf16_supported(including_emulation=False)
    else:  # as Linux lists the instructions; other systems do not
        listed = _CPU_INFO.read_text(encoding="utf-8", errors="replace") if _CPU_INFO.is_file() else ""
        # Intel's AVX512-BF16 takes 1.5 times as long as float32 (BERT of 12 layers, 16 texts of 128 tokens).
        is_faster = "amx_tile" in listed or ("avx512_bf16" in listed and "AuthenticAMD" in listed)
    return torch.bfloat16 if is_faster else torch.float32


def training_dtype(device: torch.device) -> torch.dtype:
    """Return the dtype that autocast trains in: bfloat16 on CUDA; on a device that only emulates it (compute capability
    below 8.0) float16, whose loss has to be scaled; float32 on a CPU."""
    import torch

    if device.type != "cuda":
        return torch.float32
    return torch.bfloat16 if torch.cuda.is_bf16_supported(including_emulation=False) else torch.float16


def on_device(tensor: torch.Tensor, device: torch.device) -> torch.Tensor:
    """Return a tensor on a device. The host does not wait for a copy to CUDA: it is made from pinned memory, when the
    device has done what it was given before."""
    if device.type == "cuda" and tensor.device.type == "cpu":
        return tensor.pin_memory().to(device, non_blocking=True)
    return tensor.to(device)


def device_memory(device: torch.device) -> int:
    """Return the bytes of memory that a device has, a CPU the machine's."""
    if device.type == "cuda":
        import torch

        return int(torch.cuda.get_device_properties(device).total_memory)
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def free_memory(device: torch.device) -> int:
    """Return the bytes of a CUDA device's memory that no process holds."""
    import torch

    return int(torch.cuda.mem_get_info(device)[0])


def give_back() -> None:
    """Give back to the system what is free: pages between smaller things that are still held, too."""
    with suppress(OSError, TypeError, AttributeError):  # not Linux, or not with glibc
        ctypes.CDLL(None).malloc_trim(0)


def peak_memory_mib() -> int:
    """Return the highest resident memory of this process so far, in MiB."""
    try:
        with open("/proc/self/status", encoding="ascii") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmHWM:")) // 1024
    except (OSError, StopIteration):
        # Not on Linux. There the kernel's count would begin with what the process had that started this one.
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak // (1024 if sys.platform != "darwin" else 1024 * 1024)


def _torch_versions() -> dict[str, object] | None:
    """Return what torch's `version.py` says (`cuda`, `hip`: None where torch is built without), None if unreadable."""
    spec = importlib.util.find_spec("torch")
    path = Path(spec.submodule_search_locations[0]) / "version.py" if spec and spec.submodule_search_locations else None
    if path is None or not path.is_file():
        return None
    versions = runpy.run_path(str(path))
    return versions if "cuda" in versions else None


def _has_cuda_driver() -> bool:
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    return True
