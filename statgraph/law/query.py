"""A query and its ranked rows: what goes into and comes out of every layer from the page to the engine."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import date
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from statgraph.errors import UsageError, unknown_name
from statgraph.law.validity import TODAY, asked_day

if TYPE_CHECKING:  # `from statgraph import Query` loads no NumPy
    import numpy as np

    from statgraph.law.allowed_rows import AllowedRows


class Ranked(NamedTuple):
    """The articles found for one question, best first.

    Attributes:
        rows: (found,) int64 article rows.
        scores: (found,) float32, falling.
    """

    rows: np.ndarray
    scores: np.ndarray


class Ranks(Protocol):
    """What can be measured: a retriever, an ensemble, or another ranking of the same articles."""

    def rank(self, questions: Sequence[str], k: int, /) -> list[Ranked]:
        """Return the best `k` articles for each question."""
        ...


class Judged(Ranked):
    """A ranking that knows for each article the probability that it answers, (found,) float64."""

    probabilities: np.ndarray

    @classmethod
    def of(cls, ranked: Ranked, probabilities: np.ndarray) -> Judged:
        """Return a ranking with these probabilities."""
        judged = cls(*ranked)
        judged.probabilities = probabilities
        return judged


def known_probabilities(ranked: Ranked) -> Sequence[float | None]:
    """Return the probability of each article of a ranking, None each where it has none."""
    return ranked.probabilities.tolist() if isinstance(ranked, Judged) else [None] * len(ranked.rows)


def reciprocal_rank_fusion(ranks: Iterable[np.ndarray], constant: float) -> np.ndarray:
    """Return each item's sum of 1 / (constant + rank) over some rankings, (items,) float64: the higher, the better
    (Cormack, Clarke and Büttcher 2009).

    Args:
        ranks: of each ranking (items,), from 1; infinite where it does not hold an item.
        constant: how little the first ranks differ; 60 in the paper.
    """
    first, *others = (1.0 / (constant + ranking) for ranking in ranks)
    return sum(others, start=first)


def check_k(k: Any) -> int:
    """Return the number of hits that is asked for.

    Raises:
        UsageError: if it is not a whole number of at least 1.
    """
    if isinstance(k, bool) or not hasattr(k, "__index__"):
        raise UsageError(f"k: must be a whole number of at least 1 (got {k!r})")
    if k < 1:
        raise UsageError(f"k: must be at least 1 (got {k})")
    return int(k)


# What the value of a limit is: how many, texts in any number, a heading's titles from the code down, or a day.
COUNT, TEXTS, PATH, DAY = "count", "texts", "path", "day"


@dataclass(frozen=True)
class Limit:
    """A field of `Query` as it is offered on the command line, over HTTP, to assistants and in other frameworks.

    Attributes:
        kind: what its value is.
        help: what it does, without a full stop: each place adds how the value is written there.
        option: its spelling on the command line.
        metavar: what stands for the value in the command's help.
        default: the value that limits nothing.
        words: what the page of a service calls it, by language, `en` among them; none where the page has a place of its
            own for it, or does not offer it. It takes one text.
    """

    kind: str
    help: str
    option: str
    metavar: str
    default: Any = None
    words: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_filter(self) -> bool:
        """Return whether it leaves articles out by their text or place, if it is given."""
        return self.kind in (TEXTS, PATH)


@dataclass(frozen=True)
class Query:
    """A question and what limits its answer. Whatever searches offers the fields that have a `Limit`: `LIMITS`.

    Attributes:
        text: the question.
        k: how many hits.
        codes: titles of the codes to search; none for all.
        heading: the path of the heading to search under, its titles from the code down; none for all.
        as_of: the day whose law is searched, where the corpus has dates: a date, ISO text, `today`, or `always` for all
            articles. An article without dates is always in force.
        among: the article rows to search, (rows,) whole numbers in any order or `AllowedRows`; None for all.
        day: the ordinal of `as_of` when the query was made; None for `always`.

    Raises:
        UsageError: if a value has the wrong type, the question is blank, `k` is below 1, or `as_of` is not a date.
    """

    text: str
    k: int = field(default=10, metadata={"limit": Limit(COUNT, "Number of hits", "-k", "N")})
    codes: Sequence[str] = field(
        default=(), metadata={"limit": Limit(TEXTS, "Search only this code", "--code", "TITLE")}
    )
    heading: Sequence[str] = field(
        default=(), metadata={"limit": Limit(PATH, "Search only under a heading", "--heading", "PATH")}
    )
    as_of: str | date = field(
        default=TODAY, metadata={"limit": Limit(DAY, "Search the law in force on a day", "--as-of", "DATE")}
    )
    among: np.ndarray | AllowedRows | None = None
    day: int | None = field(init=False)

    def __post_init__(self) -> None:
        _check_question(self.text)
        object.__setattr__(self, "k", check_k(self.k))
        for name, limit in LIMITS.items():
            if limit.is_filter:
                object.__setattr__(self, name, _titles(name, getattr(self, name)))
        object.__setattr__(self, "day", asked_day(self.as_of))

    @property
    def limits(self) -> tuple[object, ...]:
        """Return a key that is equal for queries that can be ranked together: those that differ in their text alone."""
        values = {item.name: getattr(self, item.name) for item in fields(self)}
        del values["text"], values["as_of"]  # `day` has what the latter means
        return tuple((values | {"among": id(self.among)}).values())


LIMITS: Mapping[str, Limit] = {
    item.name: replace(item.metadata["limit"], default=item.default) for item in fields(Query) if item.metadata
}  # by the field's name


def check_limits(names: Iterable[str]) -> None:
    """Raise UsageError if one of the names is no limit: a misspelt `as_of` would search today's law."""
    known = (*LIMITS, "among")
    for name in names:
        if name not in known:
            raise unknown_name("limit of a search", name, known)


def queries_of(questions: Iterable[str | Query], k: int, limits: Mapping[str, Any], **defaults: Any) -> list[Query]:
    """Return the query of each question: a text's has `k` and the limits (fields of `Query`), a `Query` its own.

    Raises:
        UsageError: as `Query` does, if a limit is unknown, and if limits are given beside a `Query`.
    """
    check_limits(limits)
    questions = list(questions)
    if limits and any(isinstance(question, Query) for question in questions):
        raise UsageError(f"{next(iter(limits))}: a Query has its own limits; give it there")
    settings = {"k": k, **defaults, **limits}
    return [question if isinstance(question, Query) else Query(question, **settings) for question in questions]


def _check_question(text: object) -> None:
    if not isinstance(text, str):
        raise UsageError(f"the question: must be text (got {type(text).__name__})")
    if not text.strip():
        raise UsageError("the question is blank; ask something")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise UsageError(
            f"the question: character {error.start + 1} is half a character (a byte that is not UTF-8, or a lone "
            "surrogate); type it again in UTF-8"
        ) from None


def _titles(name: str, titles: object) -> tuple[str, ...]:
    if isinstance(titles, str) or not isinstance(titles, Sequence):
        raise UsageError(f"{name}: must be a list of titles, such as [{str(titles)!r}] (got {titles!r})")
    unfit = next((title for title in titles if not isinstance(title, str)), None)
    if unfit is not None:
        raise UsageError(f"{name}: each title must be text (got {unfit!r})")
    return tuple(titles)
