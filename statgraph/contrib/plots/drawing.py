"""Plots with their words and numbers, and their files: a PNG each, and one HTML page with all of them as SVG."""

from __future__ import annotations

import io
import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from xml.etree import ElementTree

from statgraph.artifacts import write_text
from statgraph.contrib.plots.figures import COLOURS, FAINT_INK, INK, PAPER, new_panels, save_png
from statgraph.errors import UsageError

# Without black and yellow, which a dark or a light page swallows.
HUES = tuple(colour for colour in COLOURS if colour not in ("#000000", "#F0E442"))
REST = "#9a9aa0"
_LABEL_CHARACTERS = 46

# The page's own colours, which follow its light or dark scheme, in place of the figure's.
_PAGE_COLOURS = {INK: "currentColor", FAINT_INK: "var(--faint)", PAPER: "var(--paper)"}
_FONT = re.compile(r"'DejaVu Sans'[^;\"]*")
_STYLE = """
:root { color-scheme: light dark; --ink: #1b1b1f; --paper: #ffffff; --faint: #8e8e93; --line: #d5d5da; }
@media (prefers-color-scheme: dark) { :root { --ink: #ececf0; --paper: #17171b; --faint: #85858c; --line: #3a3a42; } }
body { color: var(--ink); background: var(--paper); font: 16px/1.5 system-ui, sans-serif; margin: 0 auto;
  max-width: 76rem; padding: 1.5rem; }
p, h1, h2 { max-width: 46rem; }
svg { display: block; width: 100%; min-width: 34rem; height: auto; margin: 0.5rem 0; }
svg * { stroke-linejoin: round; stroke-linecap: butt; }
table { border-collapse: collapse; font-size: 0.9rem; margin: 0.5rem 0; }
th, td { border-bottom: 1px solid var(--line); padding: 0.15rem 1rem 0.15rem 0; text-align: left; }
summary { cursor: pointer; }
div.wide { overflow-x: auto; }
ul { list-style: none; margin: 0.2rem 0; padding-left: 1.2rem; }
"""

Outline = Sequence[tuple[str, "Outline"]]


@dataclass(frozen=True)
class Drawing:
    """A plot with its words and numbers.

    Attributes:
        name: the stem of its files.
        title: of the plot.
        description: how to read it, for those who see it and those who do not.
        figure: the matplotlib figure, without a title.
        columns: the head of the table of its numbers.
        rows: the table's rows, as long as `columns`.
        hovers: id of a part of the figure -> the text shown when pointing at it; one for each of a set of points.
        outline: a list that unfolds level by level, each item with the items under it; empty for none.
    """

    name: str
    title: str
    description: str
    figure: object
    columns: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]
    hovers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    outline: Outline = ()


class Hovers(dict):
    """The texts of the parts of a figure by their ids, as `Drawing.hovers` has them."""

    def put(self, part: str, artist, *texts: str) -> None:
        """Give a part of the figure its id, and one text, or one for each of its points."""
        artist.set_gid(part)
        self[part] = texts


def bars_figure(labels: Sequence[str], series: Mapping[str, Sequence[int]], *, x_name: str) -> tuple[object, Hovers]:
    """Return (figure, hovers) of bars from top to bottom, each with its total, the series stacked in it.

    Args:
        labels: one for each bar.
        series: name -> one count for each label; a single one needs no key.
        x_name: of what is counted.
    """
    names = [textwrap.fill(label, _LABEL_CHARACTERS, max_lines=2, placeholder="…") for label in labels]
    figure, (axes,) = new_panels(7.2, 1.1 + (0.4 if any("\n" in name for name in names) else 0.3) * len(labels))
    hovers, totals = Hovers(), [0] * len(labels)
    for number, (name, counts) in enumerate(series.items()):
        for place, count in enumerate(counts):
            (bar,) = axes.barh(place, count, 0.78, left=totals[place], color=HUES[number], edgecolor=PAPER, zorder=2)
            kind = f", {name}" if len(series) > 1 else ""
            hovers.put(f"bar-{number}-{place}", bar, f"{labels[place]}{kind}: {count:,}")
            totals[place] += count
        axes.barh(0, 0, color=HUES[number], label=name)
    for place, total in enumerate(totals):
        style = {"textcoords": "offset points", "va": "center", "color": INK, "fontsize": 8}
        axes.annotate(f"{total:,}", (total, place), (4, 0), **style)
    axes.set_yticks(range(len(labels)), names)
    axes.invert_yaxis()
    axes.set_xlabel(x_name)
    axes.xaxis.get_major_locator().set_params(integer=True, nbins=6)
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.grid(axis="x", color=FAINT_INK, alpha=0.3, linewidth=0.7, zorder=0)
    axes.margins(x=0.12)
    if len(series) > 1:
        key_below(figure, axes)
    return figure, hovers


def key_below(figure, axes) -> None:
    """Put the key of some axes below the figure, where it hides nothing."""
    handles, names = axes.get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=3, frameon=False, labelcolor=INK, fontsize=8.5)


def shortened(text: str, length: int) -> str:
    """Return the text, or its beginning and an ellipsis where it has more characters than `length`."""
    return text if len(text) <= length else f"{text[: max(1, length - 1)].rstrip()}…"


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
    sections = "\n".join(map(_section, drawings))
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n<title>{escape(heading)}</title>\n'
        f"<style>{_STYLE}</style>\n</head>\n<body>\n<main>\n<h1>{escape(heading)}</h1>\n{sections}\n</main>\n"
        "</body>\n</html>\n"
    )


def inline_svg(drawing: Drawing) -> str:
    """Return an `<svg>` element without a name space, to stand in HTML; the parts named in `hovers` show their texts.

    Raises:
        ValueError: if a part is not in the figure, or has not as many points as texts.
    """
    import matplotlib

    buffer = io.BytesIO()
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": drawing.name}):
        drawing.figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None})
    root = ElementTree.fromstring(buffer.getvalue())
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
        element.attrib = {name.rpartition("}")[2]: value for name, value in element.attrib.items()}
    for parent in list(root.iter()):
        for child in [child for child in parent if child.tag in ("metadata", "style")]:
            parent.remove(child)
    parts = {element.get("id"): element for element in root.iter("g")}
    for name, texts in drawing.hovers.items():
        places = [parts[name]] if name in parts else []
        places = [mark for place in places for mark in place.iter("use")] or places  # the marks of points
        if len(places) != len(texts):
            raise ValueError(f"{drawing.name}: part '{name}' has {len(places)} places for {len(texts)} titles")
        for place, text in zip(places, texts, strict=True):
            title = ElementTree.Element("title")
            title.text = text
            place.insert(0, title)
    for element in root.iter("g"):  # ids that another drawing may have too
        element.attrib.pop("id", None)
    root.attrib = {"viewBox": root.attrib["viewBox"], "role": "img", "aria-label": drawing.title}
    svg = ElementTree.tostring(root, encoding="unicode")
    for colour, page_colour in _PAGE_COLOURS.items():
        svg = svg.replace(colour, page_colour)
    return _FONT.sub("system-ui, sans-serif", svg)


def _section(drawing: Drawing) -> str:
    head = "".join(f'<th scope="col">{escape(column)}</th>' for column in drawing.columns)
    body = "\n".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in drawing.rows)
    return (
        f'<section id="{drawing.name}">\n<h2>{escape(drawing.title)}</h2>\n<p>{escape(drawing.description)}</p>\n'
        f'<div class="wide">\n{inline_svg(drawing)}\n</div>\n'
        f"{_folded('All headings', _items(drawing.outline)) if drawing.outline else ''}"
        + _folded("The numbers", f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>")
        + "</section>"
    )


def _folded(summary: str, content: str) -> str:
    return f"<details><summary>{escape(summary)}</summary>\n{content}\n</details>\n"


def _items(outline: Outline) -> str:
    items = (_folded(text, _items(below)) if below else escape(text) for text, below in outline)
    return f"<ul>\n{''.join(f'<li>{item}</li>' for item in items)}</ul>"


def _cell(value: object) -> str:
    return f"<td>{value:,}</td>" if isinstance(value, int) else f"<td>{escape(str(value))}</td>"
