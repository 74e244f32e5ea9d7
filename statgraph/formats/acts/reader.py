"""The articles of an act, read from its file. Nothing outside the file is ever loaded: no DTD, no external entity."""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from itertools import takewhile
from pathlib import PurePosixPath

from lxml import etree

from statgraph.errors import CorpusError, reason_of
from statgraph.formats.acts.codes import iso_date, language_code
from statgraph.formats.acts.profile import Profile
from statgraph.formats.acts.selectors import Element, Selector, local_name
from statgraph.formats.acts.text import TextReader
from statgraph.formats.repealed import is_repealed as says_repealed
from statgraph.law.account import Account

_AROUND = " \t\n.:;,–—-"
_WORD = re.compile(r"\w")
_OPTIONS = {"no_network": True, "huge_tree": False, "remove_comments": True, "remove_pis": True}


@dataclass(frozen=True, slots=True)
class ActArticle:
    """An article of an act, before it is part of a corpus.

    `number` ("§ 12", "Section 4"), `rubric` and `text` are as an `Article` has them, `path` holds the headings above it
    without the act's title. `local_id` identifies it within its act. `valid_from` and `valid_to` are ISO dates or "",
    `targets` what its references point to, `line` where it begins in its file, whose name drafting adds. `annex` is the
    local id of the annex that it belongs to, "" for one of the act itself.
    """

    number: str
    rubric: str
    text: str
    path: tuple[str, ...]
    local_id: str
    line: int = 0
    annex: str = ""
    valid_from: str = ""
    valid_to: str = ""
    targets: tuple[str, ...] = ()
    file: str = ""


@dataclass(frozen=True, slots=True)
class Act:
    """What a file says of its act: its identifier in all versions, its title, an ISO 639 code, a licence, and the ISO
    date of this version; "" where it does not say it."""

    act_id: str
    title: str
    language: str
    licence: str
    date: str


@dataclass(slots=True)
class _Open:
    """A heading or annex that is being read: the headings among its children, as (level, title), and how many articles
    were in it. That of the whole act has no element."""

    element: Element = None
    title: str = ""
    annex_id: str = ""
    is_lowest: bool = False
    siblings: list[tuple[int, str]] = field(default_factory=list)
    n_articles: int = 0


# The keys of a profile whose elements are parts of an act, or are not looked into.
_LEAVE_OUT, _QUOTED, _ANNEX = "leave_out", "quoted", "annexes.elements"
_ARTICLE, _BEGINS, _LOWEST = "articles.elements", "articles.begins", "articles.lowest"
_HEADING, _SIBLING, _CONTINUED = "headings.elements", "headings.siblings", "headings.continued_by"
_KEYS = (_LEAVE_OUT, _QUOTED, _ARTICLE, _BEGINS, _LOWEST, _ANNEX, _CONTINUED, _SIBLING, _HEADING)
_WHEN = {_ARTICLE: "articles.when", _BEGINS: "articles.when", _ANNEX: "annexes.when", _SIBLING: "headings.when"}


class ActReader:
    """Reads the articles of one file.

    Text under a heading that is in none of its articles is an article without a number. What comes before the first
    article and after the last, under no heading that contains it, is left out.

    Args:
        root: of the file, as `parsed` returns it; articles are emptied once they are read.
        profile: of its format.
        place: its name, for messages.
        account: where to say what is kept, and left out by which rule.

    Attributes:
        act: what the file says of the act.
        articles: every one, in order.
        headings: every one, as (line on which it begins, title).
        repealed: how many articles had no text, and are left out.
        quoted: how many articles stand inside a quotation or another article, and are text.
    """

    def __init__(self, root: Element, profile: Profile, place: str, account: Account | None = None):
        self._profile, self._place = profile, place
        self._account = account or Account()
        self.text = TextReader(profile)
        self.articles: list[ActArticle] = []
        self.headings: list[tuple[int, str]] = []
        self.repealed = self.quoted = 0
        self._titles: set[Element] = set()  # elements that are read as the number or title of something
        self._hold_titles: set[Element] = set()
        self._unread: list[Element | str | None] = []  # texts and elements in no article since what was read last
        self._loose: list[ActArticle] = []  # what follows the last article, under no heading that contains it
        self._base = _Open()
        self._open = [self._base]
        self._kinds: dict[Element, set[str]] = {}  # the keys that name an element and whose conditions hold
        self._left_out: dict[Element, str] = {}  # with their rules
        self._parts: set[Element] = set()  # of the act, and what holds some
        self.root = root
        root.set("file", PurePosixPath(place).name)
        self._find_parts()
        self._left_tags = {one.tag for one in self._left_out}
        self._wrap_begun()
        self.act = self._act()
        self._read(self.root)
        self._take_unread()
        self._leave_loose()
        self._account.leave_out("notes", *self.text.removed)

    def _find_parts(self) -> None:
        """Find what is left out or quoted, and the parts of the act: what is neither, nor inside an article."""
        rules: dict[str, list[tuple[Selector, str]]] = {}
        for key in _KEYS:
            for selector in self._profile[key]:
                rules.setdefault(selector.name, []).append((selector, key))
        for element in self.root.iter(*(f"{{*}}{name}" for name in rules)):
            named = rules[local_name(element)]
            kinds = {key for selector, key in named if selector.fits(element) and self._holds(key, element)}
            if not kinds:
                continue
            self._kinds[element] = kinds
            around = {kind for outer in element.iterancestors() for kind in self._kinds.get(outer, ())}
            if _LEAVE_OUT in around:
                continue
            if _LEAVE_OUT in kinds:
                rule = next(rule for selector, rule in self._profile.left_out if selector.matches(element))
                self._left_out[element] = rule
            elif _QUOTED in kinds or not around.isdisjoint((_QUOTED, _ARTICLE)):
                self.quoted += _ARTICLE in kinds
            else:
                self._parts.update((element, *element.iterancestors()))

    def _holds(self, key: str, element: Element) -> bool:
        condition = self._profile[_WHEN[key]] if key in _WHEN else None
        return not condition or bool(condition.text(element, self.text.line))

    def _wrap_begun(self) -> None:
        """Put each element that begins an article into one element with its siblings up to the next part."""
        for begun in [one for one, kinds in self._kinds.items() if _BEGINS in kinds and one in self._parts]:
            whole = begun.makeelement(local_name(begun))
            whole.sourceline = begun.sourceline
            begun.addprevious(whole)
            whole.extend([begun, *takewhile(lambda one: one not in self._parts, list(begun.itersiblings()))])
            self._kinds[whole] = self._kinds.pop(begun)
            self._parts.add(whole)

    def _act(self) -> Act:
        """Return what the file says of its act, with its name for an id or a title that it does not say."""
        title, used = self._profile["act.title"].find(self.root, self.text.line)
        short, used_short = self._profile["act.abbreviation"].find(self.root, self.text.line)
        if title and short and short not in title.split():
            title = f"{title} ({short})"
        self._add_titles([*used, *used_short])
        self._account.keep(title)
        name = PurePosixPath(self._place).name.partition(".")[0]
        act_id = " ".join(self._found("act.id", self.root).split()) or name
        return Act(
            act_id=act_id,
            title=title or act_id,
            language=language_code(self._found("act.language", self.root)),
            licence=self._found("act.licence", self.root),
            date=iso_date(self._found("act.date", self.root)),
        )

    def _found(self, key: str, element: Element) -> str:
        found: str = self._profile[key].text(element, self.text.line)
        return found

    def _read(self, element: Element) -> None:
        """Read an element and what is in it."""
        kinds = self._kinds.get(element, set())
        if element not in self._parts:
            self._pass(element)
        elif kinds & {_ARTICLE, _BEGINS} or (_LOWEST in kinds and not self._has_articles(element)):
            self._article(element)
        elif kinds & {_HEADING, _LOWEST, _ANNEX}:
            self._heading_or_annex(element, kinds)
        elif _CONTINUED in kinds:
            self._continue_heading(element)
        elif _SIBLING in kinds:
            self._sibling(element)
        else:
            self._read_inside(element)

    def _read_inside(self, element: Element) -> None:
        self._unread.append(element.text)
        for child in list(element):
            self._read(child)
            self._unread.append(child.tail)

    def _has_articles(self, element: Element) -> bool:
        """Return whether an article or annex is inside an element."""
        inside = (self._kinds.get(one, set()) for one in element.iterdescendants() if one in self._parts)
        return any(kinds & {_ARTICLE, _BEGINS, _LOWEST, _ANNEX} for kinds in inside)

    # Text in no article

    def _pass(self, element: Element) -> None:
        """Take an element for text in no article."""
        self._unread.append(element)
        self._leave_out_in(element)

    def _leave_out_in(self, element: Element) -> None:
        for one in element.iter(*self._left_tags) if self._left_tags else ():
            if one in self._left_out:
                self._account.leave_out(self._left_out[one], "".join(one.itertext()))

    def _take_unread(self) -> None:
        """Make an article of the text since what was read last, under the innermost open heading."""
        copy = etree.Element("p")
        self._copy(self._unread, copy)
        self._unread.clear()
        if not len(copy) and not copy.text:
            return
        path = self._path()
        if not path and not self._base.n_articles:
            self._account.leave_out("preamble", "".join(copy.itertext()))
            return
        text, targets = self.text.lines(copy)
        if not _WORD.search(text):
            return
        name = path[-1] if path else ""
        line = next((one.sourceline for one in (*copy, self._open[-1].element) if one is not None), None) or 0
        article = ActArticle("", name, text, path, name, line, self._annex, targets=tuple(targets))
        if len(self._open) > 1:
            self._keep(article, copy, False)
        else:
            self._loose.append(article)

    def _copy(self, nodes: Iterable[Element | str | None], copy: Element) -> None:
        """Copy texts and elements without titles and what is left out."""
        for node in nodes:
            if node is None or isinstance(node, str):
                if node and len(copy):
                    copy[-1].tail = (copy[-1].tail or "") + node
                elif node and not node.isspace():
                    copy.text = (copy.text or "") + node
            elif node in self._titles or node in self._left_out:
                pass
            elif node in self._hold_titles:
                self._copy((node.text, *(part for child in node for part in (child, child.tail))), copy)
            else:
                copy.append(deepcopy(node))
                copy[-1].tail = None

    def _leave_loose(self) -> None:
        self._account.leave_out("closing words", *(article.text for article in self._loose))
        self._loose.clear()

    def _add_titles(self, elements: Iterable[Element]) -> None:
        """Keep elements that are read as titles out of the text in no article."""
        for element in elements:
            self._titles.add(element)
            self._hold_titles.update(element.iterancestors())

    # Headings and annexes

    def _heading_or_annex(self, element: Element, kinds: set[str]) -> None:
        """Read a heading or annex with all that is in it. An annex, or a heading in one, in which there is no article
        is an article itself."""
        is_annex = _ANNEX in kinds
        has_lowest = any(outer.is_lowest for outer in self._open)
        if has_lowest and not is_annex and not self._has_articles(element):
            return self._pass(element)  # it is text of what may be an article
        above = self._open[-1]
        if is_annex:
            above.siblings.clear()  # they are of what came before
        kind = "annexes" if is_annex else "headings"
        number, title, used = self._named(element, kind, "title")
        opened = _Open(element, " ".join(f"{number} {title}".split()), is_lowest=_LOWEST in kinds)
        if is_annex:
            known = (self._found(key, element) for key in ("annexes.id", "annexes.number"))
            opened.annex_id = next(filter(None, (*known, opened.title)), "annex")
        elif parts := self._split(opened.title):
            opened.title = ""
            for level, part in parts:
                self._set_level(above.siblings, level, part)
                self._record(element, part)
        if opened.title:
            self._record(element, opened.title)
        self._take_unread()
        is_in_annex = bool(self._annex)
        self._open.append(opened)
        self._read_inside(element)
        if opened.n_articles or not (is_annex or is_in_annex):
            self._take_unread()
            self._open.pop()
            return None
        self._open.pop()
        self._unread.clear()
        text, targets = self.text.lines(element, used)
        if text:
            local_id, line = opened.annex_id or number or title, element.sourceline or 0
            article = ActArticle(number, title, text, self._path(), local_id, line, self._annex, targets=tuple(targets))
            self._keep(article, element, False)
        return None

    @property
    def _annex(self) -> str:
        """The local id of the annex that is open, "" where none is."""
        return next((outer.annex_id for outer in self._open if outer.annex_id), "")

    def _path(self) -> tuple[str, ...]:
        """Return the headings above what is being read."""
        path: list[str] = []
        for outer in self._open:
            path += [outer.title, *(title for _, title in outer.siblings)]
        return tuple(filter(None, path))

    def _named(self, element: Element, kind: str, title_key: str) -> tuple[str, str, set[Element]]:
        """Return (number, title, the elements that they are the text of)."""
        number, used = self._profile[f"{kind}.number"].find(element, self.text.line)
        title, used_title = self._profile[f"{kind}.{title_key}"].find(element, self.text.line)
        self._add_titles(used + used_title)
        return number.strip(_AROUND), title, {*used, *used_title}

    def _split(self, title: str) -> list[tuple[int, str]]:
        """Return the headings that one text holds with their levels, by the words of the profile."""
        words = [word.lower() for word in self._profile.settings.headings.words]
        named = "|".join(map(re.escape, words))
        before, *parts = re.split(rf"(?i)(?<!\w)(?=(?:{named})\s+(?:[IVXLC]+\b|\d))", title) if words else [title]
        return [
            (next(level for level, word in enumerate(words, start=1) if part.lower().startswith(word)), part.strip())
            for part in parts
            if not before
        ]

    @staticmethod
    def _set_level(siblings: list[tuple[int, str]], level: int, title: str) -> None:
        siblings[:] = [(other, text) for other, text in siblings if other < level]
        siblings.append((level, title))

    def _sibling(self, element: Element) -> None:
        """Read a heading that stands before what it heads."""
        self._take_unread()
        number, title, _ = self._named(element, "headings", "title")
        title = " ".join(f"{number} {title}".split())
        self._set_level(self._open[-1].siblings, self._level(element), title)
        self._record(element, title)
        self._pass(element)  # of which the titles are read

    def _level(self, element: Element) -> int:
        found = self._found("headings.level", element)
        rules = self._profile.settings.headings
        if found in rules.words:
            return rules.words.index(found) + 1
        if found and not found.isdecimal():
            known = f" or one of {', '.join(rules.words)}" if rules.words else ""
            raise CorpusError(
                f"{self._place}:{element.sourceline}: the level of a heading is '{found}'; let 'headings.level' of the "
                f"profile {self._profile.name} find a number{known}"
            )
        if found:
            return max(1, len(found) // rules.digits) if rules.digits else int(found)
        selectors = self._profile["headings.siblings"]
        return next((level for level, selector in enumerate(selectors, start=1) if selector.matches(element)), 1)

    def _continue_heading(self, element: Element) -> None:
        siblings = self._open[-1].siblings
        if siblings and self.headings:
            level, title = siblings[-1]
            continued = self.text.line(element)
            self._account.keep(continued)
            siblings[-1] = (level, f"{title} {continued}".strip())
            self.headings[-1] = (self.headings[-1][0], siblings[-1][1])
        self._leave_out_in(element)

    def _record(self, element: Element, title: str) -> None:
        self.headings.append((element.sourceline or 0, title))
        self._account.keep(title)

    # Articles

    def _article(self, element: Element) -> None:
        if self._found("articles.outside", element):
            for outer in self._open:
                outer.siblings.clear()
        path, annex = self._path(), self._annex
        number, rubric, used = self._named(element, "articles", "rubric")
        if number[:1].isdigit() and not annex:
            words = (
                word
                for selector, word in self._profile["articles.word"]
                if selector is None or selector.matches(element)
            )
            number = f"{next(words, '')} {number}".strip()
        self._take_unread()
        if annex:
            self._leave_loose()
        while self._loose:
            self._keep(self._loose.pop(0), element, False)
        text, targets = self.text.lines(element, used)
        valid_from, valid_to, last_day = (
            iso_date(self._found(f"articles.{key}", element)) for key in ("valid_from", "valid_to", "last_day")
        )
        if last_day and not valid_to:
            valid_to = (date.fromisoformat(last_day) + timedelta(days=1)).isoformat()
        article = ActArticle(
            number=number,
            rubric=rubric.rstrip(_AROUND),
            text=text,
            path=path,
            local_id=self._found("articles.id", element) or number,
            line=element.sourceline or 0,
            annex=annex,
            valid_from=valid_from,
            valid_to=valid_to,
            targets=tuple(targets),
        )
        self._keep(article, element, bool(self._found("articles.repealed", element)))
        self._leave_out_in(element)
        element.text = None
        del element[:]

    def _keep(self, article: ActArticle, element: Element, is_repealed: bool) -> None:
        """Add an article, unless it is repealed or a hook leaves it out."""
        for outer in self._open:
            outer.n_articles += 1
        text = article.text
        said = (article.number, article.rubric, text)
        if is_repealed or says_repealed(text) or any(one.fullmatch(text) for one in self._profile["empty"]):
            self.repealed += 1
            self._account.leave_out("repealed", *said)
            if self._profile.settings.articles.versions and article.valid_from:
                self.articles.append(replace(article, text=""))  # ends the version before it
        else:
            changed = self._profile.hook(article, element) if self._profile.hook else article
            if changed is not None:
                self._account.keep(*said)
                self.articles.append(changed)
        self._account.leave_out("notes", *self.text.removed)
        self.text.removed.clear()


def parsed(data: bytes, syntax: str, place: str) -> Element:
    """Return the root of a file; `syntax` is that of its profile, `place` its name for messages.

    Raises:
        CorpusError: if it is not well-formed, or tries to expand entities without measure.
    """
    is_html = syntax == "html"  # which rarely declares its charset as its parser wants it
    parser = (
        etree.HTMLParser(encoding="utf-8", **_OPTIONS)
        if is_html
        else etree.XMLParser(load_dtd=False, resolve_entities="internal", **_OPTIONS)
    )
    try:
        return etree.fromstring(data, parser)
    except etree.XMLSyntaxError as error:
        line = f":{error.lineno}" if error.lineno else ""
        raise CorpusError(f"{place}{line}: {_xml_problem(error)}") from None


def _xml_problem(error: etree.XMLSyntaxError) -> str:
    """Return what is wrong with a file and what to do about it, in one line."""
    problem = re.sub(r", line \d+, column \d+.*", "", reason_of(error))
    if entity := re.search(r"Entity '(\S+)' not defined", problem):
        return (
            f"entity '&{entity[1]};' has no text in this file, and nothing outside it is loaded; "
            "expand it first, such as with xmllint --loaddtd --noent"
        )
    return f"not well-formed XML ({problem}); download it again, or correct it there"


def root_of(head: bytes) -> Element | None:
    """Return the root element of a file that begins so, without what is in it; None if it is no XML."""
    parser = etree.XMLPullParser(("start",), load_dtd=False, no_network=True, resolve_entities=False)
    with suppress(etree.XMLSyntaxError):  # further on; the root may have been read
        parser.feed(head)
    return next((element for _, element in parser.read_events()), None)
