"""Where an export goes: a path that nothing has yet, written whole or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from statgraph import artifacts
from statgraph.errors import UsageError


@contextmanager
def new_folder(out: Path) -> Iterator[Path]:
    """Yield an empty folder that becomes `out` once the block ends without an error.

    Raises:
        UsageError: if there is something already.
    """
    refuse_existing(out)
    with artifacts.replaced_folder(out) as staging:
        yield staging


@contextmanager
def new_file(out: Path) -> Iterator[Path]:
    """Yield a path to write to that becomes `out` once the block ends without an error.

    Raises:
        UsageError: if there is something already.
    """
    refuse_existing(out)
    with artifacts.replaced_file(out) as staging:
        yield staging


def refuse_existing(out: Path) -> None:
    """Return if nothing is at a path, a broken link neither.

    Raises:
        UsageError: if there is something.
    """
    if out.exists() or out.is_symlink():
        raise UsageError(f"{out}: exists already, and an export replaces nothing; choose another --out")
