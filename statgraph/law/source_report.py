"""What became of a source that is imported: where its words went, and what was recognised where."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import chain

from statgraph.errors import option
from statgraph.law.account import KEPT, Account, Balance, word_count
from statgraph.law.records import PATH_SEPARATOR, Article

REPEALED = "repealed"  # the rule of the account
MOST_LOST = 0.05  # of the words of a source
_MOST_REPEALED = 200  # articles that one mark can stand for
_ANY_NUMBER = re.compile(r"(\d+)")


class SourceReport:
    """Takes the accounts of the files of a source, and what their readers recognise.

    The cells of its tables have one account, since nearly all of them are kept as they stand: only the others are
    searched for.

    Args:
        counts_cells: whether there is an account of tables.
        plain: what the cells of tables are reduced to before they are compared; None to compare them as they stand.

    Attributes:
        is_explained: whether what was recognised, and each piece that is left out, is kept for `lines`.
        remarks: on whole files, the first of `lines`.
        balance: of all words.
        repealed_numbers: of articles that the source has only a mark of.
    """

    def __init__(self, *, counts_cells: bool = False, plain: Callable[[str], str] | None = None):
        self._counts_cells, self._plain = counts_cells, plain
        self._rows: list[tuple[str, Collection[object]]] = []  # of tables, each with its place
        self._cells: dict[str, list[str]] = {KEPT: []}  # what became of cells, by rule
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
        return bool(self._rows)

    def read_cells(self, place: str, values: Collection[object]) -> None:
        """Add cells of a table to its account, values as JSON has them, as they are read from the file."""
        if self._counts_cells:
            self._rows.append((place, values if self._plain is None else [*map(self._plain, _texts(values))]))

    def keep_cells(self, values: Iterable[object]) -> None:
        """Add to the account of tables what is in the corpus."""
        self.leave_out_cells(KEPT, values)

    def leave_out_cells(self, rule: str, values: Iterable[object]) -> None:
        """Add to the account of tables what is left out by a rule, such as "names of columns"."""
        if self._counts_cells:
            self._cells.setdefault(rule, []).extend(_texts(values))

    def settle_cells(self) -> None:
        """Add the account of the tables, which is complete."""
        balance, others = Balance(), Account()
        left = {rule: Counter(texts) for rule, texts in self._cells.items()}
        for place, values in self._rows:
            for text in filter(None, _texts(values)):
                rule = next((rule for rule, texts in left.items() if texts[text]), None)
                if rule is None:
                    others.read(place, text)
                    continue
                left[rule][text] -= 1
                balance.words += (count := word_count(text))
                if rule == KEPT:
                    balance.kept += count
                else:
                    balance.left_out[rule] += count
                    balance.first.setdefault(rule, place)
                    balance.pieces.append((place, rule, text))
        self._rows.clear()
        for rule, texts in left.items():
            others.leave_out(rule, *texts.elements())
        self._add(balance)
        self.settle(others)

    def settle(self, account: Account) -> None:
        """Add the account of a file, which is complete."""
        self._add(account.balance(None if self.is_explained else (REPEALED,)))

    def _add(self, balance: Balance) -> None:
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


def cells_of(value: object) -> Iterator[str]:
    """Yield the texts in a value of a table: of a list of headings or ids one, of an object those of its values."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | tuple) and all(isinstance(one, str) for one in value):
        yield PATH_SEPARATOR.join(value)
    elif isinstance(value, dict | list | tuple):
        yield from _texts(value.values() if isinstance(value, dict) else value)
    elif value is not None and not isinstance(value, bool):
        yield str(value)


def _numbers_in(mark: str) -> Iterable[int]:
    """Return the numbers of the articles that a mark stands for: 12 to 15 of "§§ 12 bis 15 (weggefallen)"."""
    first, *through = map(int, _ANY_NUMBER.findall(mark)[:2] or (0,))
    last = max(first, *through, 0)
    return range(first, last + 1) if last < first + _MOST_REPEALED else (first,)


def _in_order(found: tuple[str, str, str]) -> list[tuple[int, str]]:
    """Return what sorts places as they follow each other: law.md:9 before law.md:10."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in _ANY_NUMBER.split(found[0])]
