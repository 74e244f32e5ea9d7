import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from statgraph.graph.dgl_loader import DGL_RANGE, load_dgl, single_threaded

REPO = Path(__file__).parents[2]


LOAD = "from statgraph.graph.dgl_loader import load_dgl\nload_dgl()"
LOAD_AND_SHOW_ERROR = """
from statgraph.errors import DependencyError
from statgraph.graph.dgl_loader import load_dgl
for attempt in range(2):
    try:
        load_dgl()
    except DependencyError as error:
        print(error)
"""


def run_python(code: str, *, home: Path, first_on_path: Path | None = None) -> subprocess.CompletedProcess:
    kept = {name: value for name, value in os.environ.items() if name not in ("DGLBACKEND", "DGL_FFI")}
    path = os.pathsep.join(map(str, filter(None, [first_on_path, REPO])))
    return subprocess.run(
        [sys.executable, "-W", "default", "-c", code],
        env={**kept, "HOME": str(home), "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )


def fake_dgl(folder: Path, code: str) -> Path:
    (folder / "dgl").mkdir(parents=True)
    (folder / "dgl" / "__init__.py").write_text(code)
    return folder


def test_loading_says_nothing_and_leaves_the_home_alone(tmp_path):
    done = run_python(LOAD, home=tmp_path)

    assert (done.stdout, done.stderr) == ("", "")
    assert list(tmp_path.iterdir()) == []


def test_graphbolt_without_a_library_for_this_torch_is_passed_over(tmp_path):
    fake = fake_dgl(tmp_path / "fake", "from . import graphbolt as gb\nanswer = vars(gb).get('built_for')")
    (fake / "dgl" / "graphbolt").mkdir()
    (fake / "dgl" / "graphbolt" / "__init__.py").write_text("raise FileNotFoundError('no library for this torch')")

    done = run_python(f"{LOAD}\nprint(load_dgl().answer)", home=tmp_path, first_on_path=fake)

    assert done.stdout == "None\n"


def test_a_dgl_that_does_not_load_is_one_line(tmp_path):
    fake = fake_dgl(tmp_path / "fake", 'raise OSError("libdgl.so: wrong ELF class\\nmore")')
    (fake / "dgl-9.8.7.dist-info").mkdir()
    (fake / "dgl-9.8.7.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: dgl\nVersion: 9.8.7\n")

    done = run_python(LOAD_AND_SHOW_ERROR, home=tmp_path, first_on_path=fake)

    line = (
        "dgl 9.8.7 does not load (OSError: libdgl.so: wrong ELF class); "
        f"install a clean one with: pip install --force-reinstall --no-deps '{DGL_RANGE}'"
    )
    assert done.stdout.splitlines() == [line, line]


@pytest.mark.parametrize(
    ("module", "distribution"), [("no_such_package", "no_such_package"), ("pkg_resources.sub", "'setuptools<81'")]
)
def test_a_package_that_dgl_misses_is_named(tmp_path, module, distribution):
    fake = fake_dgl(tmp_path / "fake", f"raise ModuleNotFoundError('missing', name='{module}')")

    done = run_python(LOAD_AND_SHOW_ERROR, home=tmp_path, first_on_path=fake)

    package = module.split(".")[0]
    assert done.stdout.splitlines()[0].endswith(
        f"needs the package '{package}'; install it with: pip install {distribution}"
    )


def test_no_dgl_at_all_is_one_line(tmp_path):
    fake = fake_dgl(tmp_path / "fake", "raise ModuleNotFoundError(\"No module named 'dgl'\", name='dgl')")

    done = run_python(LOAD_AND_SHOW_ERROR, home=tmp_path, first_on_path=fake)

    assert done.stdout.splitlines()[0] == (
        f"the graph needs the package 'dgl'; install it with: pip install '{DGL_RANGE}' packaging"
    )


def test_one_thread_within_and_as_many_as_before_after():
    pools = (torch, load_dgl().utils)
    before = [pool.get_num_threads() for pool in pools]
    with single_threaded():
        assert [pool.get_num_threads() for pool in pools] == [1, 1]
    assert [pool.get_num_threads() for pool in pools] == before
