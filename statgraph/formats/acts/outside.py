"""Text of a file that is in no article: preambles, a chapter's own paragraphs, closing words."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from statgraph.formats.acts.selectors import Element, local_name

# Whether an element and all in it is passed over.
PassesOver = Callable[[Element], bool]


@dataclass(slots=True)
class OutsidePlace:
    """Text in elements of one name: the line of the first, how many there are, and their characters."""

    line: int
    n_elements: int = 0
    n_chars: int = 0


class OutsideText:
    """Counts the text that is in no article, by the selector of the elements it is in, such as `preamble/p`."""

    def __init__(self) -> None:
        self.places: dict[str, OutsidePlace] = {}

    @property
    def n_chars(self) -> int:
        """Return how many characters there are."""
        return sum(place.n_chars for place in self.places.values())

    def add(self, element: Element, passes_over: PassesOver) -> None:
        """Count the text that is left in an element whose articles are read and cleared."""
        if passes_over(element):
            return
        if not any(text.strip() for text in (element.text or "", *(child.tail or "" for child in element))):
            for child in element:
                self.add(child, passes_over)
            return
        above = element.getparent()
        name = local_name(element) if above is None else f"{local_name(above)}/{local_name(element)}"
        place = self.places.setdefault(name, OutsidePlace(element.sourceline or 0))
        place.n_elements += 1
        place.n_chars += len(" ".join("".join(_texts(element, passes_over)).split()))


def _texts(element: Element, passes_over: PassesOver) -> Iterator[str]:
    yield element.text or ""
    for child in element:
        if not passes_over(child):
            yield from _texts(child, passes_over)
        yield child.tail or ""
