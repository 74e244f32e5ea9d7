"""The account of tables, whose cells are nearly all kept as they stand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator

from statgraph.law.account import KEPT, Account, Balance, is_unspaced, word_count

_SAMPLE = 2_000  # characters that show the script of a table
PATH_SEPARATOR = " > "


class CellAccount:
    """The account of tables: only cells that are neither kept nor left out as they stand are searched for."""

    def __init__(self) -> None:
        self._rows: list[tuple[str, Iterable[object]]] = []
        self._values: dict[str, list[str]] = {KEPT: []}  # by rule

    @property
    def is_empty(self) -> bool:
        """Return whether no row was read."""
        return not self._rows

    def read(self, place: str, values: Iterable[object]) -> None:
        """Add the cells of a row, values as JSON has them."""
        self._rows.append((place, values))

    def keep(self, texts: Iterable[str]) -> None:
        """Add what is in the corpus."""
        self._values[KEPT] += texts

    def leave_out(self, rule: str, texts: Iterable[str]) -> None:
        """Add what is left out by a rule, such as "hidden sheets"."""
        self._values.setdefault(rule, []).extend(texts)

    def balance(self, named: Collection[str] | None = None) -> Balance:
        """Return how many words of the tables went where, and forget the rows."""
        balance, account = Balance(), Account()
        by_rule = {rule: Counter(texts) for rule, texts in self._values.items()}
        left = by_rule.pop(KEPT)
        kept: list[str] = []
        has_others = False
        for place, values in self._rows:
            for text in filter(None, _texts(values)):
                if count := left.get(text):
                    left[text] = count - 1
                    kept.append(text)
                elif rule := next((rule for rule, texts in by_rule.items() if texts.get(text)), ""):
                    by_rule[rule][text] -= 1
                    balance.left_out[rule] += word_count(text)
                    balance.first.setdefault(rule, place)
                    balance.pieces.append((place, rule, text))
                else:
                    has_others = True
                    account.read(place, text)
        self._rows.clear()
        balance.kept = _words(kept)
        balance.words = balance.kept + balance.left_out.total()
        if has_others:
            for rule, texts in {KEPT: left, **by_rule}.items():
                for text in texts.elements():
                    account.put(rule, text)
            balance.add(account.balance(named))
        return balance


def _texts(values: Iterable[object]) -> list[str]:
    texts: list[str] = []
    for value in values:
        if type(value) is str:  # as most are
            texts.append(value)
        else:
            texts += cells_of(value)
    return texts


def _words(texts: list[str]) -> int:
    """Return about how many words the texts have, in a fraction of the time of `word_count`."""
    joined = "\n".join(texts)
    sample = joined[:: 1 + len(joined) // _SAMPLE]
    if is_unspaced(sample) and word_count(sample) > len(sample) / 10:
        return word_count(joined)
    return joined.count(" ") + joined.count("\n") + bool(joined)


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
