"""A release: version, dated changelog, checked wheel and source distribution, one commit and its tag.

    python -m tools.release 0.1.0 [--dry-run]             # pip install build twine

All is done in a worktree of the last commit: a release that fails leaves nothing in the checkout, and with --dry-run
there is neither commit nor tag. dist/VERSION/ has what was built, and NOTES.md. Nothing is pushed or uploaded: the last
line prints how.
"""

from __future__ import annotations

import datetime
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import click

REPO = Path(__file__).parents[1]
CHANGELOG, PACKAGE = "CHANGELOG.md", "statgraph/_version.py"
_VERSION = re.compile(r'^__version__ = "[^"]*"$', re.MULTILINE)
_UNRELEASED = re.compile(r"^## \[Unreleased\]\n(.*?)(?=^## \[|\Z)", re.MULTILINE | re.DOTALL)
_RELEASED = re.compile(r"^## \[(\d+)\.(\d+)\.(\d+)\]", re.MULTILINE)


class ReleaseError(click.ClickException):
    """What stands in the way of a release, in a line."""


def release(
    repo: Path, version: str, *, date: str, dry_run: bool = False, build: Callable[[Path, Path], None] | None = None
) -> str:
    """Release a version of a repository, and return its notes.

    Args:
        repo: the checkout, with nothing to commit.
        version: X.Y.Z, higher than those of the changelog.
        date: the day of the release, YYYY-MM-DD.
        dry_run: whether to leave the checkout without commit and tag.
        build: builds and checks the distributions of a checkout into a folder; None for `build_all`.

    Raises:
        ReleaseError: if the checkout is not ready, or a step fails.
    """
    _check_ready(repo, version)
    with tempfile.TemporaryDirectory() as folder:
        tree, out = Path(folder) / "statgraph", Path(folder) / version
        _run("git", "worktree", "add", "--quiet", "--detach", tree, cwd=repo)
        try:
            notes = _write_version(tree, version, date)
            out.mkdir()
            (build or build_all)(tree, out)
            (out / "NOTES.md").write_text(notes, encoding="utf-8")
            shutil.copytree(out, repo / "dist" / version)
            if not dry_run:
                _run("git", "commit", "--quiet", "--all", "--message", f"Release {version}", cwd=tree)
                _run("git", "merge", "--quiet", "--ff-only", _run("git", "rev-parse", "HEAD", cwd=tree), cwd=repo)
                _run("git", "tag", "--annotate", f"v{version}", "--cleanup=verbatim", "--message", notes, cwd=repo)
        finally:
            _run("git", "worktree", "remove", "--force", tree, cwd=repo)
    return notes


def build_all(repo: Path, out: Path) -> None:
    """Build and check the source distribution, and the wheel from it."""
    _run(sys.executable, "-m", "build", "--no-isolation", "--outdir", out, repo, cwd=repo)
    _run(sys.executable, "-m", "twine", "check", "--strict", *sorted(out.iterdir()), cwd=repo)


def _check_ready(repo: Path, version: str) -> None:
    if not re.fullmatch(r"\d+\.\d+\.\d+", version):
        raise ReleaseError(f"{version}: not a version; write it like 0.1.0")
    if changed := _run("git", "status", "--porcelain", cwd=repo):
        raise ReleaseError(f"{changed.splitlines()[0].split()[-1]}: not committed; commit or stash what changed")
    if _run("git", "tag", "--list", f"v{version}", cwd=repo):
        raise ReleaseError(f"v{version}: tagged already; choose a higher version")
    if (repo / "dist" / version).exists():
        raise ReleaseError(f"dist/{version}: exists already; remove it")
    text = (repo / CHANGELOG).read_text(encoding="utf-8")
    if not (found := _UNRELEASED.search(text)) or not found[1].strip():
        raise ReleaseError(f"{CHANGELOG}: nothing under '## [Unreleased]'; write what changed")
    released = max((tuple(map(int, numbers)) for numbers in _RELEASED.findall(text)), default=(0, 0, 0))
    if tuple(map(int, version.split("."))) <= released:
        raise ReleaseError(f"{version}: not above {'.'.join(map(str, released))}, the last of {CHANGELOG}")


def _write_version(repo: Path, version: str, date: str) -> str:
    """Write the version into the package, and date the changelog; return the notes."""
    path = repo / PACKAGE
    written, n_places = _VERSION.subn(f'__version__ = "{version}"', path.read_text(encoding="utf-8"))
    if n_places != 1:
        raise ReleaseError(f"{PACKAGE}: {n_places} lines with a version instead of one")
    path.write_text(written, encoding="utf-8")
    text = (repo / CHANGELOG).read_text(encoding="utf-8")
    dated = text.replace("## [Unreleased]\n", f"## [Unreleased]\n\n## [{version}] - {date}\n", 1)
    (repo / CHANGELOG).write_text(dated, encoding="utf-8")
    return f"statgraph {version}\n\n{_UNRELEASED.search(text)[1].strip()}\n"


def _run(*command: object, cwd: Path) -> str:
    """Return what a command prints; ReleaseError with its last line if it fails."""
    done = subprocess.run(list(map(str, command)), cwd=cwd, capture_output=True, text=True)
    if done.returncode:
        said = (done.stderr.strip() or done.stdout.strip() or "no reason given").splitlines()[-1]
        raise ReleaseError(f"{' '.join(map(str, command[:4]))} ...: {said}")
    return done.stdout.strip()


@click.command(help=__doc__)
@click.argument("version")
@click.option("--dry-run", is_flag=True, help="Build and check, but neither commit nor tag.")
def main(version: str, dry_run: bool) -> None:
    """Release the version X.Y.Z."""
    print(release(REPO, version, date=datetime.date.today().isoformat(), dry_run=dry_run))
    print(f"dist/{version}/ has what was built, and NOTES.md.")
    if not dry_run:
        print(f"Then: git push --follow-tags; python -m twine upload dist/{version}/statgraph*")


if __name__ == "__main__":
    main()
