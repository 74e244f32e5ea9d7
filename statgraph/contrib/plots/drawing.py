"""Plots with their words and numbers, and their files: a PNG each, and one HTML page with all of them as SVG."""

from __future__ import annotations

import io
import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from statgraph.artifacts import write_text
from statgraph.contrib.plots.figures import COLOURS, FAINT_INK, INK, PAPER, new_panels, save_png
from statgraph.errors import UsageError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Without black and yellow, which a dark or a light page swallows.
HUES = tuple(colour for colour in COLOURS if colour not in ("#000000", "#F0E442"))
REST = "#9a9aa0"
_LABEL_CHARACTERS = 46

# The page's own colours, which follow its light or dark scheme, in place of the figure's.
_PAGE_COLOURS = {INK: "currentColor", FAINT_INK: "var(--faint)", PAPER: "var(--paper)"}
Outline = Sequence[tuple[str, "Outline"]]


@dataclass(frozen=True)
class Drawing:
    """A plot with its words and numbers.

    Attributes:
        name: the stem of its files.
        title: of the plot.
        description: how to read it, for those who see it and those who do not.
        figure: the matplotlib figure, without a title. The page shows the URL of an artist, if it has one, as the text
            of that part when pointed at.
        columns: the head of the table of its numbers.
        rows: the table's rows, as long as `columns`.
        outline: a list that unfolds level by level, each item with the items under it; empty for none.
    """

    name: str
    title: str
    description: str
    figure: Figure
    columns: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]
    outline: Outline = ()


def bars_figure(labels: Sequence[str], series: Mapping[str, Sequence[int]], *, x_name: str) -> Figure:
    """Return a figure of bars from top to bottom, each with its total, the series stacked in it.

    Args:
        labels: one for each bar.
        series: name -> one count for each label; a single one needs no key.
        x_name: of what is counted.
    """
    names = [textwrap.fill(label, _LABEL_CHARACTERS, max_lines=2, placeholder="…") for label in labels]
    figure, (axes,) = new_panels(7.2, 1.1 + (0.4 if any("\n" in name for name in names) else 0.3) * len(labels))
    totals = [0] * len(labels)
    for number, (name, counts) in enumerate(series.items()):
        style: dict[str, Any] = {"color": HUES[number], "edgecolor": PAPER, "zorder": 2}
        bars = axes.barh(range(len(labels)), counts, 0.78, left=totals, label=name, **style)
        kind = f", {name}" if len(series) > 1 else ""
        for bar, label, count in zip(bars, labels, counts, strict=True):
            bar.set_url(f"{label}{kind}: {count:,}")
        totals = [total + count for total, count in zip(totals, counts, strict=True)]
    axes.bar_label(bars, [f"{total:,}" for total in totals], padding=4, color=INK, fontsize=8)
    axes.set_yticks(range(len(labels)), names)
    axes.invert_yaxis()
    axes.set_xlabel(x_name)
    axes.locator_params(axis="x", integer=True, nbins=6)
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.grid(axis="x", color=FAINT_INK, alpha=0.3, linewidth=0.7, zorder=0)
    axes.margins(x=0.12)
    if len(series) > 1:
        key_below(figure, axes)
    return figure


def key_below(figure: Figure, axes: Axes) -> None:
    """Put the key of some axes below the figure, where it hides nothing."""
    handles, names = axes.get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=3, frameon=False, labelcolor=INK, fontsize=8.5)


def write_drawings(drawings: Sequence[Drawing], folder: Path, *, stem: str, heading: str) -> list[Path]:
    """Return the paths of what was written: `STEM.html`, then `STEM-NAME.png` for each drawing.

    Files of these names are replaced.

    Raises:
        UsageError: if the folder is a file.
    """
    folder = Path(folder)
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder}: is a file; name a folder for the pictures")
    paths = [folder / f"{stem}.html"]
    write_text(paths[0], html_page(drawings, heading))
    for drawing in drawings:
        paths.append(folder / f"{stem}-{drawing.name}.png")
        drawing.figure.suptitle(drawing.title, color=INK, fontsize=12)  # the page has it as a heading
        save_png(drawing.figure, paths[-1])
    return paths


def html_page(drawings: Sequence[Drawing], heading: str) -> str:
    """Return the page: every drawing under its title, with its description and a table of its numbers; light or dark as
    the reader's system is."""
    from jinja2 import Template

    template = Template(Path(__file__).with_name("page.html").read_text(encoding="utf-8"), autoescape=True)
    return f"{template.render(drawings=drawings, heading=heading, svg=inline_svg)}\n"


def inline_svg(drawing: Drawing) -> str:
    """Return an `<svg>` element to stand in HTML; the URLs of artists are the texts that it shows when pointed at."""
    import matplotlib

    buffer = io.StringIO()
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": drawing.name}):
        unsaid = dict.fromkeys(("Creator", "Date", "Format", "Type"))
        drawing.figure.savefig(buffer, format="svg", facecolor=PAPER, metadata=unsaid)
    opening, _, svg = buffer.getvalue().partition("<svg ")[2].partition(">")
    (box,) = re.findall('viewBox="[^"]*"', opening)
    svg = f'<svg {box} role="img" aria-label="{escape(drawing.title)}">{svg}'
    svg = re.sub(r"""<a xlink:href=(["'])(.*?)\1[^>]*>""", r"<g><title>\2</title>", svg)
    for colour, page_colour in _PAGE_COLOURS.items():
        svg = svg.replace(colour, page_colour)
    return svg.replace("</a>", "</g>").replace("xlink:href", "href")
