import subprocess
import sys
from pathlib import Path

import pytest
import torch

from statgraph import device as devices
from statgraph.device import inference_dtype, pick_device, surely_cpu, training_dtype
from statgraph.errors import UsageError


@pytest.fixture
def cuda(monkeypatch):
    """Return a function that makes torch see, or not see, a CUDA device."""
    return lambda seen: monkeypatch.setattr(torch.cuda, "is_available", lambda: seen)


@pytest.mark.parametrize(
    ("name", "seen", "device"),
    [
        ("auto", True, "cuda"),
        ("auto", False, "cpu"),
        ("cpu", True, "cpu"),
        ("cpu", False, "cpu"),
        ("cuda", True, "cuda"),
    ],
)
def test_the_device_of_a_name(cuda, name, seen, device):
    cuda(seen)

    assert pick_device(name) == torch.device(device)


@pytest.mark.parametrize("name", ["gpu", "", "cuda:1", "cuda"])
def test_an_unknown_name_or_cuda_where_there_is_none(cuda, name):
    cuda(False)
    said = "device cpu" if name == "cuda" else "auto, cpu, cuda"
    with pytest.raises(UsageError, match=rf"^(unknown )?device '{name}'.*{said}$"):
        pick_device(name)


@pytest.mark.parametrize(
    ("versions", "system", "driver", "surely"),
    [
        ({"cuda": None, "hip": None}, "linux", True, True),
        ({"cuda": "12.8"}, "linux", True, False),
        ({"cuda": "12.8"}, "linux", False, True),
        ({"cuda": "12.8"}, "win32", False, False),
        ({"cuda": None, "hip": "6.4"}, "linux", False, False),
        (None, "linux", False, False),
    ],
)
def test_the_cpu_is_sure_where_cuda_is_out_of_reach(monkeypatch, versions, system, driver, surely):
    monkeypatch.setattr(devices, "_torch_versions", lambda: versions)
    monkeypatch.setattr(devices, "_has_cuda_driver", lambda: driver)
    monkeypatch.setattr(devices.sys, "platform", system)

    assert surely_cpu("auto") == surely
    assert (surely_cpu("cpu"), surely_cpu("cuda"), surely_cpu("tpu")) == (True, False, False)


def test_being_sure_agrees_with_torch():
    assert devices._torch_versions()["cuda"] == torch.version.cuda
    assert not (surely_cpu("auto") and torch.cuda.is_available())


@pytest.mark.parametrize(
    ("flags", "dtype"),
    [
        ("GenuineIntel avx2 amx_tile", torch.bfloat16),
        ("AuthenticAMD avx512f avx512_bf16", torch.bfloat16),
        ("GenuineIntel avx512f avx512_bf16", torch.float32),
        ("avx2", torch.float32),
    ],
)
def test_precision_follows_the_hardware(monkeypatch, tmp_path, flags, dtype):
    (tmp_path / "cpuinfo").write_text(f"flags : {flags}")
    monkeypatch.setattr(devices, "_CPU_INFO", tmp_path / "cpuinfo")
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda including_emulation: dtype == torch.bfloat16)

    assert inference_dtype(torch.device("cpu")) == dtype
    assert inference_dtype(torch.device("cuda")) == dtype
    assert training_dtype(torch.device("cpu")) == torch.float32
    assert training_dtype(torch.device("cuda")) == (torch.float16 if dtype == torch.float32 else torch.bfloat16)


def test_an_emulated_bfloat16_is_none(monkeypatch):
    # What torch says of a V100: that it has bfloat16, emulated.
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda including_emulation=True: including_emulation)
    assert training_dtype(torch.device("cuda")) == torch.float16


@pytest.mark.cuda
def test_the_device_is_real():
    if not torch.cuda.is_available():
        pytest.skip("torch sees no CUDA device")
    assert torch.ones(2, device=pick_device()).sum().item() == 2


RESIDENT = """
import resource, sys
from statgraph.device import give_back
def resident():
    return int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize() / 2**20
held = []
large = []
for _ in range(3000):
    large.append(bytearray(b"x") * 60_000)
    held.append(bytearray(600))
before = resident()
del large
kept = resident()
give_back()
print(before - kept, before - resident())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc, and asks glibc")
def test_memory_between_small_things_goes_back():
    done = subprocess.run([sys.executable, "-c", RESIDENT], capture_output=True, text=True, check=True)
    without, given_back = map(float, done.stdout.split())
    # 3,000 pieces of 60 kB are 172 MiB, none of which the end of the heap is free for.
    assert without < 40
    assert given_back > 120


def test_peak_memory_does_not_begin_with_that_of_the_process_that_started_this_one():
    if not Path("/proc/self/status").is_file():
        pytest.skip("only Linux tells a process's own peak")
    grown = bytearray(300 * 2**20)
    code = "from statgraph.device import peak_memory_mib; print(peak_memory_mib())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert len(grown) // 2**20 > int(done.stdout)
