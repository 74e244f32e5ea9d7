"""The account of tables, whose cells are nearly all kept as they stand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from operator import itemgetter

from statgraph.law.account import KEPT, Account, Balance, is_unspaced, word_count

PATH_SEPARATOR = " > "


class CellAccount(Account):
    """An account whose pieces are cells: those that are kept or left out as they stand are not searched for."""

    def __init__(self) -> None:
        super().__init__()
        self._rows: list[tuple[str, Iterable[object]]] = []
        self._values: dict[str, list[str]] = {KEPT: []}  # by rule

    @property
    def is_empty(self) -> bool:
        """Return whether no row was read."""
        return not self._rows

    def read_row(self, place: str, values: Iterable[object]) -> None:
        """Add the cells of a row, values as JSON has them."""
        self._rows.append((place, values))

    def _add(self, rule: str, texts: Iterable[str]) -> None:
        self._values.setdefault(rule, []).extend(texts)

    def balance(self) -> Balance:
        balance = Balance()
        by_rule = {rule: Counter(texts) for rule, texts in self._values.items()}
        kept = by_rule.pop(KEPT)
        for place, text in filter(itemgetter(1), self._cells()):
            if kept.get(text):
                kept[text] -= 1
                balance.kept += _words(text)
            elif rule := next((rule for rule, texts in by_rule.items() if texts.get(text)), ""):
                by_rule[rule][text] -= 1
                balance.left_out[rule] += _words(text)
                balance.first.setdefault(rule, place)
                balance.pieces.append((place, rule, text))
            else:
                self.read(place, text)
        self._rows.clear()
        balance.words = balance.kept + balance.left_out.total()
        if self._places:
            for rule, texts in {KEPT: kept, **by_rule}.items():
                super()._add(rule, texts.elements())
            balance.add(super().balance())
        return balance

    def _cells(self) -> Iterator[tuple[str, str]]:
        for place, values in self._rows:
            for value in values:
                if isinstance(value, str):
                    yield place, value
                else:
                    yield from ((place, text) for text in cells_of(value))


def _words(text: str) -> int:
    """Return about how many words a cell has, in a fraction of the time of `word_count`."""
    return word_count(text) if is_unspaced(text) else 1 + text.count(" ") + text.count("\n")


def cells_of(value: object) -> Iterator[str]:
    """Yield the texts in a value of a table: of a list of headings or ids one, of an object those of its values."""
    if isinstance(value, str):
        yield value
    elif value is None or isinstance(value, bool):
        return
    elif isinstance(value, dict):
        for one in value.values():
            yield from cells_of(one)
    elif isinstance(value, list | tuple):
        try:
            yield PATH_SEPARATOR.join(value)
        except TypeError:
            for one in value:
                yield from cells_of(one)
    else:
        yield str(value)
