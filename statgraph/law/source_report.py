"""What became of a source that is imported: where its words went, and what was recognised where."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import chain

from statgraph.errors import option
from statgraph.law.account import Account, Balance
from statgraph.law.cells import CellAccount, cells_of
from statgraph.law.records import Article

REPEALED = "repealed"  # the rule of the account
MOST_LOST = 0.05  # of the words of a source
_MOST_REPEALED = 200  # articles that one mark can stand for
_ANY_NUMBER = re.compile(r"(\d+)")


class SourceReport:
    """Takes the accounts of the files of a source, and what their readers recognise.

    Args:
        cells: the account of tables; None where none is wanted.
        plain: what the cells of tables are reduced to before they are compared; None to compare them as they stand.

    Attributes:
        is_explained: whether what was recognised, and each piece that is left out, is kept for `lines`.
        remarks: on whole files, the first of `lines`.
        balance: of all words.
        repealed_numbers: of articles that the source has only a mark of.
    """

    def __init__(self, cells: CellAccount | None = None, plain: Callable[[str], str] | None = None):
        self._cells, self._plain = cells, plain
        self.is_explained = False
        self.remarks: list[str] = []
        self.balance = Balance()
        self.repealed_numbers: set[int] = set()
        self._recognised: list[tuple[str, str, str]] = []

    def recognise(self, place: str, what: str, words: str) -> None:
        """Take note of what something in the source was taken for, other than an article: "heading", "TITLE II"."""
        if self.is_explained:
            self._recognised.append((place, what, words))

    @property
    def has_cells(self) -> bool:
        """Return whether cells of a table were read."""
        return self._cells is not None and not self._cells.is_empty

    def read_cells(self, place: str, values: Collection[object]) -> None:
        """Add cells of a table to its account, as they are read from the file."""
        if self._cells is not None:
            self._cells.read(place, values if self._plain is None else [*map(self._plain, _texts(values))])

    def keep_cells(self, values: Iterable[object]) -> None:
        """Add to the account of tables what is in the corpus."""
        if self._cells is not None:
            self._cells.keep(_texts(values))

    def leave_out_cells(self, rule: str, values: Iterable[object]) -> None:
        """Add to the account of tables what is left out by a rule, such as "names of columns"."""
        if self._cells is not None:
            self._cells.leave_out(rule, _texts(values))

    def settle_cells(self) -> None:
        """Add the account of the tables, which is complete."""
        if self._cells is not None:
            self.settle(self._cells)

    def settle(self, account: Account | CellAccount) -> None:
        """Add the account of a file, which is complete."""
        balance = account.balance(None if self.is_explained else (REPEALED,))
        for _, rule, text in balance.pieces:
            if rule == REPEALED:
                self.repealed_numbers.update(_numbers_in(text))
        if not self.is_explained:
            balance.pieces.clear()
        self.balance.add(balance)

    def losses(self) -> tuple[str, str] | None:
        """Return (place, problem) if more of the source is lost than `MOST_LOST`."""
        balance = self.balance
        if balance.words_lost <= MOST_LOST * balance.words:
            return None
        worst = max(balance.lost, key=lambda lost: lost.words)
        return worst.place, (
            f"{balance.words_lost:,} of {balance.words:,} words would be lost, such as these: in no article, no "
            f"heading and left out by no rule; see them with {option('explain')}, or add {option('allow-lost')}"
        )

    def lines(self, articles: Iterable[tuple[str, Article]]) -> Iterator[str]:
        """Yield what became of the source, in its order: remarks on it, and a line for each article, heading and piece
        left out or lost. The articles come with their places."""
        yield from self.remarks
        found = [*self._recognised]
        for place, article in articles:
            named = ", ".join(filter(None, (article.number or article.article_id, article.rubric)))
            words = f"{named} ({' > '.join(article.path)}), {len(article.text):,} characters"
            found.append((place, "article", words))
        found += [(place, "left out", f"{rule}: {' '.join(text.split())}") for place, rule, text in self.balance.pieces]
        found += [(lost.place, "lost", " ".join(lost.text.split())) for lost in self.balance.lost]
        width = max((len(place) for place, _, _ in found), default=0)
        yield from (f"{place:<{width}}  {what:<8}  {words}" for place, what, words in sorted(found, key=_in_order))


def _texts(values: Iterable[object]) -> Iterator[str]:
    return chain.from_iterable(map(cells_of, values))


def _numbers_in(mark: str) -> Iterable[int]:
    """Return the numbers of the articles that a mark stands for: 12 to 15 of "§§ 12 bis 15 (weggefallen)"."""
    first, *through = map(int, _ANY_NUMBER.findall(mark)[:2] or (0,))
    last = max(first, *through, 0)
    return range(first, last + 1) if last < first + _MOST_REPEALED else (first,)


def _in_order(found: tuple[str, str, str]) -> list[tuple[int, str]]:
    """Return what sorts places as they follow each other: law.md:9 before law.md:10."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in _ANY_NUMBER.split(found[0])]
