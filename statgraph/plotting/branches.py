"""A code as a tree of branches that know their size, and which of them a picture has room for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from statgraph.corpus.records import Article
from statgraph.errors import UsageError


@dataclass
class Branch:
    """A heading with what is under it, in the order of the code.

    Attributes:
        path: the headings from the code down to this one.
        articles: all articles under it, at any depth.
        headings: all headings under it, at any depth.
        children: the headings right under it.
    """

    path: tuple[str, ...]
    articles: int = 0
    headings: int = 0
    children: dict[str, Branch] = field(default_factory=dict)


@dataclass(frozen=True)
class Box:
    """A place in the picture: a branch, or several small neighbours that have no room of their own.

    Attributes:
        branches: one, or those put together.
        level: 0 for the code.
        top, bottom: from 0 to 1 down the picture.
        family: the number of the code's child that it belongs to; -1 for the code.
    """

    branches: tuple[Branch, ...]
    level: int
    top: float
    bottom: float
    family: int

    @property
    def articles(self) -> int:
        """Return the articles under it."""
        return sum(branch.articles for branch in self.branches)


def chosen_code(articles: Sequence[Article], name: str | None) -> str:
    """Return the code of that title, or the only one whose title contains `name`; without a name the largest code.

    Raises:
        UsageError: if no title, or more than one, fits.
    """
    counts: dict[str, int] = {}
    for article in articles:
        counts[article.code] = counts.get(article.code, 0) + 1
    if name is None:
        return max(counts, key=counts.__getitem__)
    if name in counts:
        return name
    fitting = [code for code in counts if name.casefold() in code.casefold()]
    if len(fitting) == 1:
        return fitting[0]
    raise UsageError(
        f"code '{name}': {'fits more than one' if fitting else 'not in the corpus'}; choose from "
        f"{', '.join(sorted(fitting or counts))}"
    )


def branch_of(articles: Sequence[Article], code: str) -> Branch:
    """Return the tree of a code."""
    root = Branch((code,))
    for article in articles:
        if article.code != code:
            continue
        above, branch = [root], root
        for depth, title in enumerate(article.path[1:], start=2):
            if title not in branch.children:
                branch.children[title] = Branch(article.path[:depth])
                for ancestor in above:
                    ancestor.headings += 1
            branch = branch.children[title]
            above.append(branch)
        for ancestor in above:
            ancestor.articles += 1
    return root


def boxes_of(root: Branch, *, least: float, levels: int) -> Iterator[Box]:
    """Yield the boxes of a tree, each as high as its share of the code's articles, parents first.

    Args:
        least: the height below which a branch has no box of its own: it shares one with its small neighbours, and what
            is under it is not shown.
        levels: the number of levels, the code's counted.
    """
    code = Box((root,), 0, 0.0, 1.0, -1)
    yield code
    yield from _below(code, least, levels)


def _below(box: Box, least: float, levels: int) -> Iterator[Box]:
    if box.level + 1 >= levels:
        return
    (branch,) = box.branches
    scale = (box.bottom - box.top) / branch.articles
    top = box.top
    for family, group in _groups(branch, least / scale):
        articles = sum(member.articles for member in group)
        child = Box(tuple(group), box.level + 1, top, top + articles * scale, family if box.level == 0 else box.family)
        top = child.bottom
        yield child
        if len(group) == 1 and child.bottom - child.top >= least:
            yield from _below(child, least, levels)


def _groups(branch: Branch, least: float) -> Iterator[tuple[int, list[Branch]]]:
    """Yield (number of the first, children that share a box), small neighbours together."""
    small: list[Branch] = []
    first = 0
    for number, child in enumerate(branch.children.values()):
        if child.articles < least:
            first = first if small else number
            small.append(child)
            continue
        if small:
            yield first, small
            small = []
        yield number, [child]
    if small:
        yield first, small
