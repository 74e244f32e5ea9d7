from functools import partial

import pytest

from statgraph import doctor
from statgraph.doctor import Check, Part, run_checks
from statgraph.errors import DependencyError
from statgraph.extras import Extra


def test_an_error_of_the_library_brings_its_own_remedy():
    def fail() -> Check:
        raise DependencyError("dgl 2.1.0 needs the package 'pandas'; install it with: pip install pandas")

    (check,) = run_checks([Part("DGL", fail, "dgl")])

    assert check.detail == "dgl 2.1.0 needs the package 'pandas'"
    assert check.remedy == "install it with: pip install pandas"
    assert check.version == "1.1.3"


def test_an_extra_that_is_not_there_is_reported_with_what_it_is_for(monkeypatch):
    monkeypatch.setitem(doctor.EXTRAS, "maps", Extra("statgraph map", ("json", "no_such_package")))

    (check,) = run_checks([Part("x", partial(doctor.check_extra, "maps"), required=False)])

    assert (check.ok, check.remedy) == (False, "pip install '.[maps]'")
    assert check.detail == "for statgraph map; not installed: no_such_package"


def test_two_faiss_builds_are_told_apart(monkeypatch):
    monkeypatch.setattr(doctor, "_installed_faiss", lambda: ["faiss-cpu", "faiss-gpu-cu12"])

    check = doctor.check_faiss()

    assert check.detail == "CPU build; faiss-cpu and faiss-gpu-cu12 overwrite each other"
    assert check.remedy.startswith("pip uninstall -y faiss-cpu faiss-gpu-cu12 && pip install ")
    assert "faiss-gpu-cu12" in check.remedy.partition("&&")[2]


def test_npm_missing(monkeypatch):
    monkeypatch.setenv("PATH", "")

    check = doctor.check_npm()

    assert (check.ok, check.detail) == (False, "not on the PATH; `statgraph fetch legi-fr` needs it")
    assert check.remedy == "install Node.js and npm"


@pytest.mark.parametrize(("version", "ok"), [((3, 10), False), ((3, 11), True), ((3, 12), True), ((3, 13), False)])
def test_python_versions(monkeypatch, version, ok):
    monkeypatch.setattr(doctor.sys, "version_info", (*version, 0))

    check = doctor.check_python()

    assert check.ok is ok
    assert check.remedy == ("" if ok else "use Python 3.11 to 3.12: DGL has no wheel for this one")


def test_a_gpu_without_a_cuda_build_of_torch(monkeypatch):
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.version, "cuda", None)
    monkeypatch.setattr(torch, "__version__", "2.13.0+cpu")
    monkeypatch.setattr(doctor.shutil, "which", lambda name: f"/usr/bin/{name}")

    check = doctor.check_cuda()

    assert (check.ok, check.detail) == (False, "an NVIDIA driver is installed, but torch is a CPU build")
    assert check.remedy == "install the CUDA build of torch 2.13.0"
