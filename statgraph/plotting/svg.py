"""A drawing as SVG to stand in an HTML page: in the page's own ink, its parts with titles."""

from __future__ import annotations

import io
import re
from xml.etree import ElementTree

from statgraph.plotting.drawing import FAINT_INK, INK, PAPER, Drawing

# What the page calls these, so that they turn with light and dark.
_PAGE_COLOURS = {INK: "currentColor", FAINT_INK: "var(--faint)", PAPER: "var(--paper)"}
_FONT = re.compile(r"(font(?:-family)?:[^;]*?)'DejaVu Sans'[^;]*")
_REFERENCE = re.compile(r"#(?=[\w.-]+\)?$)")
_DROPPED = ("metadata", "style")


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
