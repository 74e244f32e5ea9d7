"""A picture before it is written: a matplotlib figure, its words, its numbers, and what its parts say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from statgraph.evaluation.plots import COLOURS, FAINT_INK, INK, panelled_figure

# Without black and yellow, which a dark or a light page swallows.
HUES = tuple(colour for colour in COLOURS if colour not in ("#000000", "#F0E442"))
REST = "#9a9aa0"


@dataclass(frozen=True)
class Item:
    """An item of a list that can be folded: its words, what stands beside them, and the items under it."""

    text: str
    note: str
    items: tuple[Item, ...] = ()


@dataclass(frozen=True)
class Drawing:
    """A picture with what it shows in words and in numbers.

    Attributes:
        name: the stem of its files.
        title: what is seen.
        description: how to read it, for those who see it and those who do not.
        figure: the matplotlib figure, without a title.
        columns: the head of the table of its numbers.
        rows: the table's rows, as long as `columns`.
        hovers: id of a part of the figure (matplotlib's `gid`) -> what it says when pointed at; several for a set of
            points, in their order.
        outline: what the picture has no room to name, as a list that can be folded; empty where it names everything.
        outline_title: what that list holds.
    """

    name: str
    title: str
    description: str
    figure: object
    columns: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]
    hovers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    outline: tuple[Item, ...] = ()
    outline_title: str = ""


def shortened(text: str, length: int) -> str:
    """Return the text, or its beginning and an ellipsis where it has more characters than `length`."""
    return text if len(text) <= length else f"{text[: max(1, length - 1)].rstrip()}…"


def curve_figure(stages: Sequence[str], *, y_name: str) -> tuple[object, dict[str, object]]:
    """Return (figure, stage -> axes); the stage is the title of its axes if there is more than one."""
    figure, panels = panelled_figure(7.2, 4.0, len(stages))
    for stage, axes in zip(stages, panels, strict=True):
        axes.grid(axis="y", color=FAINT_INK, alpha=0.3, linewidth=0.7)
        axes.set_axisbelow(True)
        axes.xaxis.get_major_locator().set_params(integer=True)
        if len(stages) > 1:
            axes.set_title(stage, fontsize=10, color=INK)
    panels[0].set_ylabel(y_name)
    return figure, dict(zip(stages, panels, strict=True))


class Hovers(dict):
    """What the parts of a figure say when pointed at, by their ids, as `Drawing.hovers` has it."""

    def put(self, part: str, artist, *texts: str) -> None:
        """Give a part of the figure its id, and one text, or one for each of its points."""
        artist.set_gid(part)
        self[part] = texts
