"""A release of a small repository, whose distributions are not built: that takes a network's packages and a minute."""

import subprocess

import pytest

from tools import release as module
from tools.release import ReleaseError, release

UNRELEASED = "# Changelog\n\n## [Unreleased]\n\n### Added\n\n- Dogs.\n"
CHANGES = f"{UNRELEASED}\n## [0.1.0] - 2026-11-01\n\n- Cats.\n"


@pytest.fixture
def repo(tmp_path):
    """Return a checkout with a package and a changelog, all committed."""
    folder = tmp_path / "repo"
    texts = {
        "statgraph/_version.py": '"""Laws."""\n\n__version__ = "0.1.0"\n',
        "CHANGELOG.md": CHANGES,
        ".gitignore": "dist/\n",
    }
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    git(folder, "init", "--quiet", "--initial-branch", "main")
    git(folder, "config", "user.name", "A")
    git(folder, "config", "user.email", "a@b.example")
    commit(folder)
    return folder


def git(folder, *arguments):
    done = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def commit(folder):
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "Work")


def build(checkout, out):
    version = (checkout / "statgraph/_version.py").read_text().split('"')[-2]
    (out / f"statgraph-{version}.whl").write_text("")


def test_a_release_is_a_commit_with_a_tag_and_its_distributions(repo):
    notes = release(repo, "0.2.0", date="2026-12-01", build=build)
    assert notes == "statgraph 0.2.0\n\n### Added\n\n- Dogs.\n"
    dated = CHANGES.replace("[Unreleased]\n", "[Unreleased]\n\n## [0.2.0] - 2026-12-01\n")
    assert (repo / "CHANGELOG.md").read_text() == dated
    assert '__version__ = "0.2.0"' in (repo / "statgraph/_version.py").read_text()
    assert sorted(path.name for path in (repo / "dist/0.2.0").iterdir()) == ["NOTES.md", "statgraph-0.2.0.whl"]
    assert git(repo, "log", "--format=%s", "-1") == "Release 0.2.0"
    assert git(repo, "rev-list", "-n1", "v0.2.0") == git(repo, "rev-parse", "HEAD")
    assert git(repo, "tag", "--list", "--format=%(contents)", "v0.2.0").startswith("statgraph 0.2.0\n\n### Added")
    with pytest.raises(ReleaseError, match=r"^v0\.2\.0: tagged already"):
        release(repo, "0.2.0", date="2026-12-01", build=build)
    with pytest.raises(ReleaseError, match="nothing under"):
        release(repo, "0.3.0", date="2026-12-01", build=build)


def test_the_version_that_the_package_has_already_can_be_the_first(repo):
    (repo / "CHANGELOG.md").write_text(UNRELEASED)
    commit(repo)
    release(repo, "0.1.0", date="2026-12-01", build=build)
    assert git(repo, "tag") == "v0.1.0"
    assert "## [0.1.0] - 2026-12-01" in (repo / "CHANGELOG.md").read_text()


def test_a_rehearsal_leaves_the_checkout_as_it_is(repo):
    head = git(repo, "rev-parse", "HEAD")
    release(repo, "0.2.0", date="2026-12-01", dry_run=True, build=build)
    assert (git(repo, "rev-parse", "HEAD"), git(repo, "tag"), git(repo, "status", "--porcelain")) == (head, "", "")
    assert (repo / "CHANGELOG.md").read_text() == CHANGES


def test_a_build_that_fails_leaves_no_commit(repo, monkeypatch):
    monkeypatch.setattr(module.sys, "executable", "false")
    with pytest.raises(ReleaseError, match=r"^false -m build --no-isolation \.\.\.: no reason given$"):
        release(repo, "0.2.0", date="2026-12-01")
    assert git(repo, "log", "--format=%s") == "Work"
    assert not (repo / "dist").exists()


@pytest.mark.parametrize(
    ("version", "changes", "message"),
    [
        ("1", {}, "^1: not a version; write it like 0.1.0$"),
        ("0.1.0", {}, "^0.1.0: not above 0.1.0, the last of CHANGELOG.md$"),
        ("0.2.0", {"notes.txt": "x"}, "^notes.txt: not committed; commit or stash what changed$"),
    ],
)
def test_what_stands_in_the_way_is_one_line(repo, version, changes, message):
    for name, text in changes.items():
        (repo / name).write_text(text)
    with pytest.raises(ReleaseError, match=message):
        release(repo, version, date="2026-12-01", build=build)
    assert not (repo / "dist").exists()
