"""Drawings as files: one PNG each, and one HTML page for all."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from statgraph.artifacts import replaced_file
from statgraph.errors import UsageError
from statgraph.evaluation.plots import DOTS_PER_INCH
from statgraph.plotting.drawing import INK, PAPER, Drawing
from statgraph.plotting.page import html_page


def write_drawings(drawings: Sequence[Drawing], folder: Path, *, stem: str, heading: str) -> list[Path]:
    """Return the paths of what was written: `STEM.html`, then `STEM-NAME.png` for each drawing.

    Files of these names are replaced.

    Raises:
        UsageError: if the folder is a file.
    """
    folder = Path(folder)
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder}: is a file; name a folder for the pictures")
    page = html_page(drawings, heading)
    paths = [folder / f"{stem}.html"]
    with replaced_file(paths[0]) as staging:
        staging.write_text(page, encoding="utf-8")
    for drawing in drawings:
        paths.append(folder / f"{stem}-{drawing.name}.png")
        drawing.figure.suptitle(drawing.title, color=INK, fontsize=12)  # the page has it as a heading
        with replaced_file(paths[-1]) as staging:
            drawing.figure.savefig(
                staging, format="png", dpi=DOTS_PER_INCH, facecolor=PAPER, metadata={"Software": None}
            )
    return paths
