"""Drawings as files: a PNG each, and one HTML page with all of them as SVG."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from html import escape
from pathlib import Path
from xml.etree import ElementTree

from statgraph.artifacts import write_text
from statgraph.errors import UsageError
from statgraph.evaluation.plots import FAINT_INK, INK, PAPER, save_png
from statgraph.plotting.drawing import Drawing, Item

# What the page calls these colours, so that they follow its light or dark scheme.
_PAGE_COLOURS = {INK: "currentColor", FAINT_INK: "var(--faint)", PAPER: "var(--paper)"}
_FONT = re.compile(r"(font(?:-family)?:[^;]*?)'DejaVu Sans'[^;]*")
_REFERENCE = re.compile(r"#(?=[\w.-]+\)?$)")
_DROPPED = ("metadata", "style")
_STYLE = """
:root { color-scheme: light dark; --ink: #1b1b1f; --paper: #ffffff; --faint: #8e8e93; --line: #d5d5da; }
@media (prefers-color-scheme: dark) { :root { --ink: #ececf0; --paper: #17171b; --faint: #85858c; --line: #3a3a42; } }
body { color: var(--ink); background: var(--paper); font: 16px/1.5 system-ui, sans-serif; margin: 0 auto;
  max-width: 76rem; padding: 1.5rem; }
p, h1, h2 { max-width: 46rem; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.2rem; margin: 2.5rem 0 0.3rem; }
svg { display: block; width: 100%; min-width: 34rem; height: auto; margin: 0.5rem 0; }
table { border-collapse: collapse; font-size: 0.9rem; margin: 0.5rem 0; }
th, td { border-bottom: 1px solid var(--line); padding: 0.15rem 1rem 0.15rem 0; text-align: left; }
td.number { text-align: right; font-variant-numeric: tabular-nums; }
summary { cursor: pointer; } summary:focus-visible { outline: 2px solid currentColor; }
div.wide { overflow-x: auto; }
ul.outline { list-style: none; margin: 0.2rem 0; padding-left: 1.2rem; font-size: 0.95rem; }
ul.outline > li:not(:has(details)) { padding-left: 0.9rem; }
.note { color: var(--faint); font-size: 0.85em; }
"""


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


def _section(drawing: Drawing) -> str:
    head = "".join(f'<th scope="col">{escape(column)}</th>' for column in drawing.columns)
    body = "\n".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in drawing.rows)
    return (
        f'<section id="{drawing.name}">\n<h2>{escape(drawing.title)}</h2>\n<p>{escape(drawing.description)}</p>\n'
        f'<div class="wide" role="group" aria-label="{escape(drawing.title)}" tabindex="0">\n{inline_svg(drawing)}\n'
        f"</div>\n{_outline(drawing)}"
        "<details>\n<summary>The numbers</summary>\n"
        f'<div class="wide"><table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table></div>\n'
        "</details>\n</section>"
    )


def _outline(drawing: Drawing) -> str:
    if not drawing.outline:
        return ""
    return f"<details>\n<summary>{escape(drawing.outline_title)}</summary>\n{_items(drawing.outline)}\n</details>\n"


def _items(items: Sequence[Item]) -> str:
    return f'<ul class="outline">\n{"".join(map(_item, items))}</ul>'


def _item(item: Item) -> str:
    words = f'{escape(item.text)} <span class="note">{escape(item.note)}</span>'
    if not item.items:
        return f"<li>{words}</li>\n"
    return f"<li><details><summary>{words}</summary>\n{_items(item.items)}\n</details></li>\n"


def _cell(value: object) -> str:
    if isinstance(value, int):
        return f'<td class="number">{value:,}</td>'
    return f"<td>{escape(str(value))}</td>"


def inline_svg(drawing: Drawing) -> str:
    """Return an `<svg>` element without a name space, to stand in HTML; its ids begin with the drawing's name.

    It is one image to a screen reader, with the drawing's title and description; the parts named in `hovers` show
    their text when pointed at.
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
        for child in [child for child in parent if child.tag in _DROPPED]:
            parent.remove(child)
    _add_hovers(root, drawing)
    for element in root.iter():
        element.attrib = {name: _attribute(name, value, drawing.name) for name, value in element.attrib.items()}
    _, _, width, height = root.attrib["viewBox"].split()
    root.attrib = {
        "viewBox": f"0 0 {width} {height}",
        "role": "img",
        "aria-labelledby": f"{drawing.name}-title {drawing.name}-description",
        "style": f"max-width: {float(width) * 4 / 3:.0f}px; stroke-linejoin: round; stroke-linecap: butt",
    }
    for place, (tag, text) in enumerate((("title", drawing.title), ("desc", drawing.description))):
        element = ElementTree.Element(tag, id=f"{drawing.name}-{'title' if tag == 'title' else 'description'}")
        element.text = text
        root.insert(place, element)
    return ElementTree.tostring(root, encoding="unicode")


def _add_hovers(root: ElementTree.Element, drawing: Drawing) -> None:
    """Put a title into each part that says something: into the part, or into its points in their order.

    Raises:
        ValueError: if a part is not in the figure, or has not as many points as titles.
    """
    parts = {element.get("id"): element for element in root.iter("g") if element.get("id")}
    for name, titles in drawing.hovers.items():
        targets = [parts[name]] if name in parts else []
        if targets:
            targets = list(targets[0].iter("use")) or targets  # the marks of points; a line or a bar has none
        if len(targets) != len(titles):
            raise ValueError(f"{drawing.name}: part '{name}' has {len(targets)} places for {len(titles)} titles")
        for target, text in zip(targets, titles, strict=True):
            title = ElementTree.Element("title")
            title.text = text
            target.insert(0, title)


def _attribute(name: str, value: str, prefix: str) -> str:
    if name == "id":
        return f"{prefix}-{value}"
    if name in ("href", "clip-path"):
        return _REFERENCE.sub(f"#{prefix}-", value)
    if name == "style":
        for colour, page_colour in _PAGE_COLOURS.items():
            value = value.replace(colour, page_colour)
        return _FONT.sub(r"\1system-ui, sans-serif", value)
    return value
