"""The words of a fact sheet: the text of an element, and the titles and paragraphs of the sheet's own body."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

SECTION, PARAGRAPH = "section", "paragraph"
SHORTEST_PARAGRAPH = 40

_BODY = ("Introduction", "Texte", "ListeSituations")
_SECTIONS = ("Chapitre", "SousChapitre", "Situation", "Cas")
# What stands in the body without being of it: offices to turn to, online services, and links with a remark.
_ASIDES = ("Titre", "OuSAdresser", "ServiceEnLigne", "RechercheGuidee", "LienExterneCommente")


def element_text(node: Mapping) -> str:
    """Return all text in an element, as it is."""
    return (
        node.get("text", "") if node.get("type") == "text" else "".join(map(element_text, node.get("children") or []))
    )


def child_text(children: Iterable[Mapping], name: str) -> str:
    """Return the text of the first child of that name, spaces collapsed; "" where there is none."""
    return next((_line(child) for child in children if child.get("name") == name), "")


def body_texts(children: Iterable[Mapping]) -> Iterator[tuple[str, str]]:
    """Yield (`SECTION`, title) and (`PARAGRAPH`, text) of a sheet in its order.

    Paragraphs shorter than `SHORTEST_PARAGRAPH` characters are left out.
    """
    for child in children:
        if child.get("name") in _BODY:
            yield from _texts(child)


def _texts(element: Mapping) -> Iterator[tuple[str, str]]:
    children = element.get("children") or []
    if element.get("name") in _SECTIONS and (title := child_text(children, "Titre")):
        yield SECTION, title
    for child in children:
        name = child.get("name")
        if name == "Paragraphe":
            text = _line(child)
            if len(text) >= SHORTEST_PARAGRAPH:
                yield PARAGRAPH, text
        elif name not in _ASIDES:
            yield from _texts(child)


def _line(node: Mapping) -> str:
    return " ".join(element_text(node).split())
