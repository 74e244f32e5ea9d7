"""The wheel: it holds every file of the package, and works without the checkout, in an environment of its own."""

import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.real

REPO = Path(__file__).parents[1]
SOURCES = ("statgraph", "data", "LICENSE", "README.md", "pyproject.toml", "setup.cfg")


def run(*command: object, cwd: Path) -> str:
    done = subprocess.run(list(map(str, command)), cwd=cwd, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_wheel_works_outside_the_checkout(tmp_path):
    source, ignored = tmp_path / "source", shutil.ignore_patterns("__pycache__")
    source.mkdir()
    for name in SOURCES:
        copy = shutil.copytree if (REPO / name).is_dir() else shutil.copy
        copy(REPO / name, source / name, **({"ignore": ignored} if (REPO / name).is_dir() else {}))
    pip = (sys.executable, "-m", "pip")
    run(*pip, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", tmp_path, ".", cwd=source)
    (wheel,) = tmp_path.glob("statgraph-*.whl")
    packed = {name for name in zipfile.ZipFile(wheel).namelist() if name.startswith("statgraph/")}
    files = {path.relative_to(REPO).as_posix() for path in (REPO / "statgraph").rglob("*") if path.is_file()}
    assert packed == {name for name in files if "__pycache__" not in name}

    run(sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv", cwd=tmp_path)
    libraries = tmp_path / "venv" / Path(sysconfig.get_path("purelib")).relative_to(sys.prefix)
    # What statgraph imports comes from this environment, statgraph itself does not.
    (libraries / "others.pth").write_text(sysconfig.get_path("purelib"))
    run(*pip, "--python", tmp_path / "venv", "install", "--no-deps", "--no-index", wheel, cwd=tmp_path)
    statgraph = tmp_path / "venv" / "bin" / "statgraph"
    run(statgraph, "train", "--system", "bm25", cwd=tmp_path)
    assert "Art. 24, Housing Code" in run(statgraph, "search", "Who gets the deposit back?", cwd=tmp_path)
