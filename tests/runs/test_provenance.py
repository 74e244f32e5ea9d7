import subprocess
from pathlib import Path

import pytest

from statgraph import __version__
from statgraph.runs import provenance
from statgraph.runs.provenance import commit, published, published_path


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """Return the package's folder in a checkout of two files, and the function that runs git there."""

    def git(*arguments):
        identity = ("-c", "user.name=t", "-c", "user.email=t@example.org")
        done = subprocess.run(["git", *identity, *arguments], cwd=tmp_path, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    package = tmp_path / "statgraph"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (tmp_path / "README.md").write_text("")
    git("init", "--quiet")
    git("add", ".")
    git("commit", "--quiet", "--message=first")
    monkeypatch.setattr(provenance, "_PACKAGE", package)
    return package, git


def test_a_checkout_has_the_commit_it_is_at(checkout):
    assert commit() == checkout[1]("rev-parse", "HEAD")[:7]


def test_only_a_change_of_the_package_makes_it_dirty(checkout):
    package, _ = checkout
    clean = commit()
    (package.parent / "README.md").write_text("changed")
    assert commit() == clean
    (package / "__init__.py").write_text("changed = True")
    assert commit() == f"{clean}-dirty"


def test_without_a_checkout_the_version_counts(checkout, monkeypatch, tmp_path):
    untracked = tmp_path / "venv" / "statgraph"  # in a checkout of something else
    untracked.mkdir(parents=True)
    (untracked / "__init__.py").write_text("")
    monkeypatch.setattr(provenance, "_PACKAGE", untracked)
    monkeypatch.setattr(provenance, "_installed_commit", lambda: "")
    assert commit() == __version__
    monkeypatch.setattr(provenance, "_installed_commit", lambda: "0123456789")
    assert commit() == f"{__version__}+0123456"


def test_published_paths_name_no_folder_of_the_machine(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert published_path(tmp_path / "runs" / "x") == "runs/x"
    assert published_path(Path("runs/x")) == "runs/x"
    assert published_path(tmp_path.parent / "legi-fr") == "legi-fr"
    said = ["reproduce", "table", "--corpus", "/data/legi-fr", f"--work={tmp_path}/runs", "--set", "a.b=/c", "--only=1"]
    assert published(said) == [
        "reproduce", "table", "--corpus", "legi-fr", "--work=runs", "--set", "a.b=c", "--only=1",
    ]  # fmt: skip
    about = {"config": {"backbone": f"{tmp_path}/models/e5", "layers": 2}, "text": "R@100 and/or 3 = 4"}
    assert published(about) == {"config": {"backbone": "models/e5", "layers": 2}, "text": "R@100 and/or 3 = 4"}
