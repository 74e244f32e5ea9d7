"""Profiles: what the elements of one format of official XML are, read from a short YAML file.

A profile of statgraph is `profiles/NAME.yaml`; one of a user's own is named by its file. `docs/formats.md` teaches how
to write one. `fitting_profile` finds the profile of a file by its beginning.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import cache, cached_property
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, get_type_hints

from statgraph.errors import UsageError, marked, reason_of, unknown_name
from statgraph.formats.acts.selectors import Selector, Value, pattern_of, selectors_of
from statgraph.registry import PROFILE_HOOKS
from statgraph.settings import check_settings, overlaid, setting

PROFILES = Path(__file__).parent / "profiles"
INHERITED = "inherited"  # in a list: the elements of the profile that this one is based on
SYNTAXES = ("xml", "html")

# What the texts of a key are.
Selectors = Annotated[tuple[str, ...], "selectors"]
Values = Annotated[tuple[str, ...], "values"]
Patterns = Annotated[tuple[str, ...], "patterns"]
Written = Annotated[tuple[str, ...], "written"]
Words = Annotated[tuple[str, ...], "words"]


@dataclass(frozen=True)
class Recognition:
    """By what a file of the format is recognised; every condition that is given must hold."""

    root: Selectors = setting((), help="Root elements.")
    namespace: tuple[str, ...] = setting((), help="Beginnings of the root element's namespace.")
    declares: tuple[str, ...] = setting((), help="Beginnings of a namespace that the root element declares.")
    contains: Patterns = setting((), help="Regular expressions, one of which the first 64 KiB match.")


@dataclass(frozen=True)
class ActRules:
    """What the file says of the whole act; values start from the root element, whose `@file` is the file's name."""

    id: Values = setting((), help="Identifier of the act, the same in each of its versions.")
    title: Values = setting((), help="Title of the act.")
    abbreviation: Values = setting((), help="By which it is cited; written in brackets behind the title.")
    language: Values = setting((), help="Language, as a code or as an address that ends in one.")
    licence: Values = setting((), help="Licence of the text.")
    date: Values = setting((), help="Day from which this version is in force, or of which it is.")
    parts: bool = setting(False, help="Whether each file holds a part of an act, such as one article.")


@dataclass(frozen=True)
class HeadingRules:
    """The headings above articles: elements that contain what they head (`elements`), or stand before it
    (`siblings`)."""

    elements: Selectors = setting((), help="Elements that contain what they head.")
    siblings: Selectors = setting(
        (), help="Elements that stand before what they head, from the highest level to the lowest."
    )
    continued_by: Selectors = setting((), help="Elements whose text goes on that of the sibling before.")
    level: Values = setting(
        (), help="Level of a sibling, 1 the highest, or one of `words`; without it, its place in the list."
    )
    digits: int = setting(
        0, at_least=0, help="Digits that each level adds to `level` where that is a number like 010020."
    )
    when: Values = setting((), help="What must be there for the element to be a heading.")
    number: Values = setting((), help="Number of the heading.")
    title: Values = setting((), help="Title of the heading.")
    words: tuple[str, ...] = setting(
        (),
        help="Words that begin a heading before its number, from the highest level to the lowest; one that holds "
        "several headings is split before each.",
    )


@dataclass(frozen=True)
class ArticleRules:
    """The articles; values start from their element."""

    elements: Selectors = setting((), help="Elements of articles.")
    begins: Selectors = setting(
        (), help="Elements that only begin an article: what follows them, up to the next, is its text."
    )
    lowest: Selectors = setting((), help="Elements that are articles if they contain none, and else headings.")
    when: Values = setting((), help="What must be there for the element to be an article.")
    outside: Values = setting((), help="What is there only if the article is under no heading before it.")
    number: Values = setting((), help="Number of the article.")
    word: Words = setting(
        (),
        help="Word before a number that has none, such as Section, or one for each element, as ELEMENT = WORD; not in "
        "annexes.",
    )
    rubric: Values = setting((), help="The article's own title.")
    id: Values = setting((), help="Identifier, the same in each version of the act; without it, the number.")
    valid_from: Values = setting((), help="First day in force.")
    valid_to: Values = setting((), help="First day no longer in force.")
    last_day: Values = setting((), help="Last day in force, where the file has that in place of `valid_to`.")
    repealed: Values = setting((), help="What is there only if the article is repealed.")
    versions: bool = setting(
        False, help="Whether files hold the versions of an article side by side, each with its `valid_from`."
    )


@dataclass(frozen=True)
class AnnexRules:
    """Annexes: headings of their articles; what has none, down to its lowest headings, is an article itself."""

    elements: Selectors = setting((), help="Elements of annexes.")
    when: Values = setting((), help="What must be there for the element to be an annex.")
    number: Values = setting((), help="Number of the annex.")
    title: Values = setting((), help="Title of the annex.")
    id: Values = setting((), help="Identifier, the same in each version of the act; without it, number or title.")


@dataclass(frozen=True)
class ReferenceRules:
    """References to articles, of this act and of others."""

    elements: Selectors = setting((), help="Elements of references.")
    target: Values = setting((), help="What the reference points to.")
    pattern: Patterns = setting(
        (),
        help="Regular expressions of a target, tried in order; their groups `act`, `article` (an id) and `number` say "
        "which article it is, and an act that is missing is the file's own.",
    )


@dataclass(frozen=True)
class LeftOutRules:
    """What is no text of the act, by what it is; the summary of an import says how much of each there was."""

    metadata: Selectors = setting((), help="What is said about the act or the file.")
    notes: Selectors = setting((), help="Notes of editors, footnotes, histories, and the marks that point to them.")
    contents: Selectors = setting((), help="Tables of contents.")
    navigation: Selectors = setting((), help="Scripts, links and buttons of a page.")
    pages: Selectors = setting((), help="Heads and feet of pages.")
    preamble: Selectors = setting((), help="What comes before the articles, wherever it stands.")
    closing: Selectors = setting((), help="Signatures and other closing words.")
    quoted: Selectors = setting((), help="Provisions of other acts that stand beside those of this one.")
    other: Selectors = setting((), help="Anything else; what a list alone names.")


# What a key of `leave_out` is called in the account of an import, where that is not its name.
RULES = {
    "pages": "heads and feet of pages",
    "closing": "closing words",
    "quoted": "quoted act",
    "other": "other elements that the profile names",
}


@dataclass(frozen=True)
class ProfileSettings:
    """A profile as its YAML file has it."""

    summary: str = setting("", help="What the format is, in a few words.")
    based_on: str = setting("", help="Profile whose keys apply where this one has none.")
    syntax: str = setting("xml", choices=SYNTAXES, help="How the files are parsed.")
    recognise: Recognition = field(default_factory=Recognition)
    act: ActRules = field(default_factory=ActRules)
    headings: HeadingRules = field(default_factory=HeadingRules)
    articles: ArticleRules = field(default_factory=ArticleRules)
    annexes: AnnexRules = field(default_factory=AnnexRules)
    references: ReferenceRules = field(default_factory=ReferenceRules)
    lines: Selectors = setting((), help="Elements that begin a line of the text, and end it.")
    marks: Selectors = setting(
        (), help="Elements of marks, such as (a), which stay on the line of the text behind them."
    )
    first: Selectors = setting((), help="Elements whose text comes before that of the siblings in front of them.")
    rows: Selectors = setting((), help="Rows of tables.")
    cells: Selectors = setting((), help="Cells of tables.")
    counted: Selectors = setting((), help="Lists whose items carry no mark; they are numbered as their attributes say.")
    write: Written = setting(
        (),
        help="What is written for an element, as ELEMENT = TEXT, where @NAME is an attribute, @. the element's own "
        "text, and U+@NAME the character of that hexadecimal code.",
    )
    raised: Selectors = setting((), help="Elements of superscripts, beside those of HTML.")
    line_ends: bool = setting(False, help="Whether the lines of the file are lines of the text.")
    leave_out: LeftOutRules = field(default_factory=LeftOutRules)
    quoted: Selectors = setting((), help="Elements that quote another act: articles inside them are text.")
    remove: Patterns = setting((), help="Regular expressions of what is removed from titles and text.")
    empty: Patterns = setting(
        (), help="Regular expressions of a whole text that stands for none: the article is repealed."
    )
    hook: str = setting(
        "",
        help="Function of an article and its element that returns the article, or None to leave it out.",
    )


class Profile:
    """A profile, its selectors and values compiled.

    Args:
        name: of the profile, or of its file, for messages.
        settings: of its YAML file.

    Raises:
        UsageError: if a selector, a value or a pattern cannot be parsed, or a required key is missing.
    """

    def __init__(self, name: str, settings: ProfileSettings):
        self.name, self.settings = name, settings
        self._compiled: dict[str, Any] = {}  # by dotted name of the key
        self._compile(settings, "")
        # The elements of `leave_out`, each with its rule.
        self.left_out: tuple[tuple[Selector, str], ...] = tuple(
            (selector, RULES.get(item.name, item.name))
            for item in fields(settings.leave_out)
            for selector in self[f"leave_out.{item.name}"]
        )
        self._compiled["leave_out"] = tuple(selector for selector, _ in self.left_out)
        articles = settings.articles
        if not (articles.elements or articles.begins or articles.lowest):
            raise UsageError(f"{name}: 'articles.elements' is missing; name the elements of articles")
        self.hook = PROFILE_HOOKS.load(settings.hook) if settings.hook else None

    def _compile(self, group: Any, prefix: str) -> None:
        kinds = get_type_hints(type(group), include_extras=True)
        for item in fields(group):
            value, key = getattr(group, item.name), f"{prefix}{item.name}"
            if is_dataclass(value):
                self._compile(value, f"{key}.")
            elif compiled := _COMPILED.get(kinds[item.name]):
                try:
                    self._compiled[key] = compiled(value)
                except ValueError as error:
                    raise UsageError(f"{self.name}: '{key}': {error}") from None

    def __getitem__(self, key: str) -> Any:
        """Return what a key is, by its dotted name: selectors, a value, regular expressions, or pairs of a selector and
        what is written for it."""
        return self._compiled[key]

    @cached_property
    def named(self) -> frozenset[str]:
        """Return the names of the elements that a key names, as what it selects or on the way to a text."""
        listed = chain.from_iterable([one] if isinstance(one, Value) else one for one in self._compiled.values())
        return frozenset().union(*(one.names for one in listed if isinstance(one, Value | Selector)))


def _written(texts: tuple[str, ...]) -> tuple[tuple[Selector, str], ...]:
    """Return the elements that entries like Omissis = ... name, each with what is written for it."""
    entries = [(entry, *entry.partition(" = ")) for entry in texts]
    if bare := [entry for entry, _, equals, _ in entries if not equals]:
        raise ValueError(f"'{bare[0]}' has no ' = '; write it like Omissis = ...")
    return tuple((one, text.strip()) for _, names, _, text in entries for one in selectors_of(names.strip()))


def _words(texts: tuple[str, ...]) -> tuple[tuple[Selector | None, str], ...]:
    """Return the words of an entry each, with None where it names no elements."""
    return tuple(one for text in texts for one in (_written((text,)) if " = " in text else [(None, text)]))


_COMPILED: dict[Any, Callable[[tuple[str, ...]], Any]] = {
    Selectors: lambda texts: tuple(chain.from_iterable(map(selectors_of, texts))),
    Values: lambda texts: Value(*texts),
    Patterns: lambda texts: tuple(map(pattern_of, texts)),
    Written: _written,
    Words: _words,
}


def profile_names() -> tuple[str, ...]:
    """Return the names of statgraph's own profiles."""
    return tuple(sorted(path.stem for path in PROFILES.glob("*.yaml")))


def profile_named(name: str) -> Profile:
    """Return a profile by its name, or by its file.

    Raises:
        UsageError: if there is none of that name, or its file is faulty; the text names the key.
    """
    path = Path(name)
    if path.suffix.lower() not in (".yaml", ".yml"):
        return _own(name)
    return Profile(str(path), _settings(path, str(path)))


@cache
def _own(name: str) -> Profile:
    if name not in profile_names():
        raise unknown_name("profile", name, (*profile_names(), "a file that ends in .yaml"))
    return Profile(name, _settings(PROFILES / f"{name}.yaml", name))


def _settings(path: Path, place: str) -> ProfileSettings:
    read = _read(path, place)
    base_name = read.get("based_on") or ""
    if not isinstance(base_name, str) or (base_name and base_name not in profile_names()):
        raise UsageError(f"{place}: 'based_on' is {base_name!r}; use one of {', '.join(profile_names())}, or none")
    base = _own(base_name).settings if base_name else ProfileSettings()
    start = replace(base, recognise=Recognition(), summary="", based_on="")
    settings = overlaid(start, _listed(read, base, place), place=place)
    try:
        check_settings(settings)
    except UsageError as error:
        raise UsageError(f"{place}: {marked(error)}") from None
    return settings


def _read(path: Path, place: str) -> Mapping[str, object]:
    import yaml

    try:
        read = yaml.load(path.read_text(encoding="utf-8"), getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except OSError as error:
        raise UsageError(f"{place}: cannot be read ({error.strerror}); name the file of a profile") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{place}:{mark.line + 1}" if mark else place
        problem = getattr(error, "problem", None) or reason_of(error)
        raise UsageError(f"{where}: invalid YAML ({problem}); put texts with brackets, colons or # in quotes") from None
    if not isinstance(read, Mapping):
        raise UsageError(f"{place}: holds no keys; begin with 'articles:' and its elements")
    if isinstance(left_out := read.get("leave_out"), str | list):
        return {**read, "leave_out": {"other": left_out}}
    return read


def _listed(read: Mapping[str, object], base: Any, place: str, prefix: str = "") -> dict[str, object]:
    """Return a mapping with a list where a key takes several texts, and the base's in place of `inherited`.

    A text is not split at its commas: those of a selector separate alternatives, those of a pattern are its own.
    """
    listed: dict[str, object] = {}
    for key, value in read.items():
        current = getattr(base, str(key), None)
        if is_dataclass(current) and isinstance(value, Mapping):
            value = _listed(value, current, place, f"{prefix}{key}.")
        elif isinstance(current, tuple) and not isinstance(value, Mapping):
            items = value if isinstance(value, list) else [value]
            wrong = [item for item in items if not isinstance(item, str | int | float) or isinstance(item, bool)]
            if wrong:
                raise UsageError(
                    f"{place}: '{prefix}{key}' holds {wrong[0]!r}, which is no text; put it in quotes, or list texts"
                )
            value = [text for item in items for text in (current if item == INHERITED else (str(item),))]
        listed[str(key)] = value
    return listed


def fitting_profile(head: bytes, root: Any) -> Profile | None:
    """Return which of statgraph's own profiles is that of a file; None where none fits.

    Of several, it is the one with most conditions, and of those one that is based on another.

    Args:
        head: the first 64 KiB of the file.
        root: its root element, None if it has none that can be parsed.
    """
    fitting = [
        (count, bool(profile.settings.based_on), profile)
        for profile in map(_own, profile_names())
        if (count := _conditions(profile, head, root))
    ]
    return max(fitting, key=lambda found: found[:2])[2] if fitting else None


def _conditions(profile: Profile, head: bytes, root: Any) -> int:
    """Return how many conditions of a profile a file fulfils, 0 if it fails one."""
    wanted = profile.settings.recognise
    spaces = () if root is None else (root.tag[1:].partition("}")[0],)
    declared = () if root is None else root.nsmap.values()
    text = head.decode("utf-8", errors="replace")
    roots = [one for one in profile["recognise.root"] if root is not None and one.matches(root)]
    fulfilled = {
        "root": roots,
        "namespace": [space for space in spaces if space.startswith(wanted.namespace)],
        "declares": [space for space in declared if space.startswith(wanted.declares)],
        "contains": [one for one in profile["recognise.contains"] if one.search(text)],
    }
    given = {key: found for key, found in fulfilled.items() if getattr(wanted, key)}
    return len(given) + any(one.condition for one in roots) if all(given.values()) else 0
