"""The articles of an act, read from its file one by one.

An article's elements are removed from the tree once it is read, so that a file of any size takes the memory of its
largest article. Nothing outside the file is ever loaded: no DTD, no external entity, no address.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from pathlib import PurePosixPath
from typing import NamedTuple

from lxml import etree

from statgraph.errors import CorpusError, reason_of
from statgraph.formats.acts.codes import iso_date, language_code
from statgraph.formats.acts.documents import Readable
from statgraph.formats.acts.profile import Profile
from statgraph.formats.acts.selectors import Element, Selector, local_name
from statgraph.formats.acts.text import TextReader
from statgraph.formats.repealed import is_repealed as says_repealed
from statgraph.law.account import Account

CHUNK_BYTES = 1 << 18
_AROUND = " \t\n.:;,–—-"
_WORD = re.compile(r"\w")


@dataclass(frozen=True, slots=True)
class ActArticle:
    """An article of an act, before it is part of a corpus.

    `number` ("§ 12", "Section 4"), `rubric` and `text` are as an `Article` has them, `path` holds the headings above it
    without the act's title. `local_id` identifies it within its act. `valid_from` and `valid_to` are ISO dates or "",
    `targets` what its references point to, `line` where it begins in its file. `annex` is the local id of the annex
    that it belongs to, "" for one of the act itself.
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


@dataclass(frozen=True, slots=True)
class Act:
    """What a file says of its act: its identifier in all versions, its title, an ISO 639 code, a licence, and the ISO
    date of this version; "" where it does not say it."""

    act_id: str = ""
    title: str = ""
    language: str = ""
    licence: str = ""
    date: str = ""


class FoundHeading(NamedTuple):
    """A heading, the line on which it begins and its depth below the act, from 1."""

    line: int
    depth: int
    title: str


@dataclass(slots=True)
class _Open:
    """An element that is being read: what it may be, its title if it is a heading, the headings among its children, as
    (level, title), and whether all that is in it has been read."""

    element: Element
    kinds: tuple[str, ...]
    title: str | None = None
    is_read: bool = False
    siblings: list[tuple[int, str]] = field(default_factory=list)
    n_articles: int = 0
    local_id: str = ""

    @property
    def is_heading(self) -> bool:
        """Return whether it is a heading that contains what it heads, or an annex."""
        return _HEADING in self.kinds or _ANNEX in self.kinds or _LOWEST in self.kinds


# The keys of a profile whose elements the reader stops at, in the order in which they are asked.
_LEAVE_OUT, _QUOTED, _ANNEX = "leave_out", "quoted", "annexes.elements"
_ARTICLE, _BEGINS, _LOWEST = "articles.elements", "articles.begins", "articles.lowest"
_HEADING, _SIBLING, _CONTINUED = "headings.elements", "headings.siblings", "headings.continued_by"
_KEYS = (_LEAVE_OUT, _QUOTED, _ARTICLE, _BEGINS, _LOWEST, _ANNEX, _CONTINUED, _SIBLING, _HEADING)


class ActReader:
    """Iterates over the articles of one file; what else there is to know is complete when they are all read.

    Text under a heading that is in none of its articles is an article without a number. What comes before the first
    article and after the last, under no heading that contains it, is left out.

    Args:
        stream: the file, open for reading bytes.
        profile: of its format.
        place: its name, for messages.
        account: where to say what is kept, and left out by which rule.

    Attributes:
        act: what the file says of the act; empty before the first article.
        headings: every heading, in order.
        repealed: how many articles had no text, and are left out.
        quoted: how many articles stand inside a quotation or another article, and are text.
    """

    def __init__(self, stream: Readable, profile: Profile, place: str, account: Account | None = None):
        self._stream, self._profile, self._place = stream, profile, place
        self._account = account or Account()
        self.text = TextReader(profile)
        self.act = Act()
        self.headings: list[FoundHeading] = []
        self.repealed = 0
        self.quoted = 0
        self._titles: set[Element] = set()  # elements that are read as the number or title of something
        self._notes: list[tuple[str, str]] = []  # what is left out within an article, by rule
        self._loose: list[ActArticle] = []  # what follows the last article, under no heading that contains it
        self._at: tuple[Element, bool] | None = None  # the element up to which all is read, and whether to its end
        self._rules: dict[str, list[tuple[Selector, str]]] = {}
        for key in _KEYS:
            for selector in profile.selectors(key):
                self._rules.setdefault(selector.name, []).append((selector, key))
        self._kinds: dict[str, tuple[str, ...]] = {}  # by tag, where nothing else decides
        self._root: Element | None = None
        self._knows_act = False
        self._base = _Open(None, ())
        self._depth = dict.fromkeys(_KEYS, 0)  # how many open elements each key names
        self._open: list[_Open] = [self._base]
        self._begun: Element | None = None
        self._empty = profile.patterns("empty")

    def __iter__(self) -> Iterator[ActArticle]:
        """Yield the articles.

        Raises:
            CorpusError: if the file is not well-formed, or tries to expand entities without measure.
        """
        is_html = self._profile.settings.syntax == "html"
        events = etree.iterparse(
            self._stream,
            events=("start", "end"),
            tag=[f"{{*}}{name}" for name in self._rules],
            html=is_html,
            encoding="utf-8" if is_html else None,  # which HTML rarely declares as its parser wants it
            load_dtd=False,
            no_network=True,
            resolve_entities="internal",
            huge_tree=False,
            remove_comments=True,
            remove_pis=True,
            chunk_size=CHUNK_BYTES,
        )
        try:
            for event, element in events:
                ended = self._start(element) if event == "start" else self._end(element)
                if ended:
                    yield from ended
            self._root = events.root if self._root is None else self._root
        except etree.XMLSyntaxError as error:
            line = f":{error.lineno}" if error.lineno else ""
            raise CorpusError(f"{self._place}{line}: {_xml_problem(error)}") from None
        yield from self._close_begun(None)
        self._learn_act(self._root)
        list(self._unread(self._root, to_its_end=True))
        self._leave_loose()
        self._leave_notes()

    def act_or(self, name: str) -> Act:
        """Return what the file says of its act, with a name for an id or a title that it does not say."""
        return replace(self.act, act_id=self.act.act_id or name, title=self.act.title or self.act.act_id or name)

    def _start(self, element: Element) -> tuple[ActArticle, ...]:
        """Open an element, and return the articles that end with it."""
        kinds = self._kinds_of(element)
        if self._root is None:
            self._root = element.getroottree().getroot()
        ended: tuple[ActArticle, ...] = ()
        if self._begun is not None and not {_ANNEX, _HEADING, _SIBLING, _ARTICLE}.isdisjoint(kinds):
            ended = tuple(self._close_begun(element))
        if _ANNEX in kinds and _ARTICLE not in kinds:
            self._open[-1].siblings.clear()  # they are of what came before
        self._open.append(_Open(element, kinds))
        for kind in kinds:
            self._depth[kind] += 1
        return ended

    def _kinds_of(self, element: Element) -> tuple[str, ...]:
        """Return the keys of the profile that name an element."""
        kinds = self._kinds.get(element.tag)
        if kinds is None:
            rules = self._rules.get(local_name(element), [])
            kinds = tuple(key for selector, key in rules if selector.fits(element))
            if all(selector.is_name for selector, _ in rules):
                self._kinds[element.tag] = kinds
        return kinds

    def _end(self, element: Element) -> tuple[ActArticle, ...]:
        """Close an element, and return the articles that end with it; clear what is read."""
        ended: tuple[ActArticle, ...] = ()
        closed = self._open[-1]
        kinds, depth = closed.kinds, self._depth
        if self._begun is not None and closed.is_heading:
            ended = tuple(self._close_begun(None))  # which is in this element
        for kind in kinds:
            depth[kind] -= 1
        is_text = depth[_LEAVE_OUT] or depth[_QUOTED] or depth[_ARTICLE] or _QUOTED in kinds
        if not kinds or is_text or _LEAVE_OUT in kinds:
            self._open.pop()
            if _LEAVE_OUT in kinds and not depth[_LEAVE_OUT]:
                rule = next(rule for selector, rule in self._profile.left_out if selector.matches(element))
                self._notes.append((rule, "".join(element.itertext())))
                if not depth[_ARTICLE]:
                    self._leave_notes()
                is_read_later = local_name(element) in self._profile.on_the_way
                self._clear(element, unless=depth[_ARTICLE] or depth[_BEGINS] or is_read_later)
            self.quoted += bool(is_text) and _ARTICLE in kinds and not depth[_LEAVE_OUT] and _LEAVE_OUT not in kinds
            return ()
        ended += self._ended(closed)
        if closed.is_read:
            self._at = (element, True)
            self._clear(element)
        return ended

    def _ended(self, closed: _Open) -> tuple[ActArticle, ...]:
        """Return the articles that an element is or that end with it, and close it."""
        element, kinds = closed.element, closed.kinds
        ended: tuple[ActArticle, ...] = ()
        is_annex = _ANNEX in kinds and self._holds("annexes.when", element)
        is_article = _ARTICLE in kinds and self._holds("articles.when", element)
        is_article = is_article or (_LOWEST in kinds and not closed.n_articles)
        is_heading = _HEADING in kinds or _LOWEST in kinds
        if not (is_article or is_annex or closed.n_articles) and is_heading and self._depth[_LOWEST]:
            self._open.pop()
            return ()  # it is text of what may be an article
        if not is_article and (is_annex or is_heading):
            self._title(closed)
            if closed.n_articles or not (is_annex or self._depth[_ANNEX]):
                ended = tuple(self._unread(element, to_its_end=True))
                closed.is_read = True
        self._open.pop()
        if is_article:
            closed.is_read = True
            return tuple(self._article(element, self._found("articles.id", element)))
        if _BEGINS in kinds and self._holds("articles.when", element):
            ended = tuple(self._close_begun(element))
            self._begun = element
        elif is_annex or is_heading:
            if _ARTICLE in kinds:
                self._open[-1].siblings.clear()  # they are of what came before
            if not closed.is_read:
                ended = (*self._unread(element), *self._whole(closed))
                closed.is_read = True
        elif _CONTINUED in kinds:
            self._continue_heading(element)
            self._titles.add(element)
        elif _SIBLING in kinds and self._holds("headings.when", element):
            ended = tuple(self._unread(element))
            self._add_sibling(element)
            self._at = (element, element in self._titles)
        return ended

    def _clear(self, element: Element, *, unless: object = False) -> None:
        """Free what is inside an element that has ended, once the act is known; its name and attributes stay."""
        if self._knows_act and not unless:
            element.text = None
            del element[:]

    # Text in no article

    def _unread(self, stop: Element, *, to_its_end: bool = False) -> Iterator[ActArticle]:
        """Yield what stands between all that is read and an element as articles, one for each heading it is under."""
        for outer in self._open:
            if outer.title is None and outer.is_heading:
                self._title(outer)  # finds the elements that are titles
        for opened, copy, line in self._passed(stop, to_its_end):
            if not len(copy) and not copy.text:
                continue
            path = self._path(opened)
            if not path and not self._base.n_articles:
                self._account.leave_out("preamble", "".join(copy.itertext()))
                continue
            text, targets = self.text.lines(copy)
            if not _WORD.search(text):
                continue
            self._learn_act(stop)
            name = path[-1] if path else ""
            line, annex = copy[0].sourceline or line if len(copy) else line, self._annex(opened)
            article = ActArticle("", name, text, path, name, line, annex, targets=tuple(targets))
            if opened.is_heading:
                yield from self._kept(article, copy, False)
            else:
                self._loose.append(article)

    def _passed(self, stop: Element, to_its_end: bool) -> Iterator[tuple[_Open, Element, int]]:
        """Yield copies of what stands between all that is read and an element, without titles and what is left out,
        each with the innermost open heading that it is in and the line of what follows it."""
        around = {stop, *stop.iterancestors()}
        headings = {outer.element: outer for outer in self._open if outer.is_heading}
        hold_titles = {above for title in self._titles for above in title.iterancestors()}
        node, is_end = self._at or (stop.getroottree().getroot(), False)
        above = node.iterancestors() if is_end else (node, *node.iterancestors())
        inside = next((headings[one] for one in above if one in headings), self._base)
        copy = etree.Element("p")
        while True:
            text = node.tail if is_end else node.text
            if text and (len(copy) or not text.isspace()):
                if len(copy):
                    copy[-1].tail = (copy[-1].tail or "") + text
                else:
                    copy.text = (copy.text or "") + text
            following = node.getnext() if is_end else next(iter(node), None)
            if following is None:
                node, is_end = node.getparent() if is_end else node, True
                if node is stop or node is None:
                    break
            elif following is stop and not to_its_end:
                break
            elif following in around or (following in hold_titles and _LEAVE_OUT not in self._kinds_of(following)):
                node, is_end = following, False
                if node in headings:
                    yield inside, copy, node.sourceline or 0
                    inside, copy = headings[node], etree.Element("p")
            else:
                node, is_end = following, True
                if node not in self._titles and _LEAVE_OUT not in self._kinds_of(node):
                    copy.append(deepcopy(node))
                    copy[-1].tail = None
        self._titles.clear()
        yield inside, copy, node.sourceline or 0 if node is not None else 0

    def _holds(self, key: str, element: Element) -> bool:
        condition = self._profile.value(key)
        return not condition or bool(condition.text(element, self.text.line))

    def _found(self, key: str, element: Element) -> str:
        return self._profile.value(key).text(element, self.text.line)

    # Headings

    def _around(self, until: _Open | None) -> list[_Open]:
        """Return the open headings and annexes, or those down to one of them."""
        containers = [outer for outer in self._open if outer.is_heading]
        return containers if until is None else containers[: containers.index(until) + 1 if until.is_heading else 0]

    def _path(self, until: _Open | None = None) -> tuple[str, ...]:
        """Return the headings above what is being read."""
        containers = self._around(until)
        for outer in containers:
            self._title(outer)  # may add to the headings of those around it
        path: list[str] = []
        for outer in (self._base, *containers):
            path += [outer.title] if outer.title else []
            path += [title for _, title in outer.siblings if title]
        return tuple(path)

    def _title(self, opened: _Open) -> str:
        """Return the title of an open heading or annex, found when it is first needed: its children then are there."""
        if opened.title is None:
            kind = "annexes" if _ANNEX in opened.kinds else "headings"
            opened.title = self._heading_text(opened.element, kind)
            parts = self._split(opened.title)
            if kind == "headings" and parts:
                above = self._open[self._open.index(opened) - 1] if opened in self._open else self._open[-1]
                opened.title = ""
                for level, title in parts:
                    self._set_level(above.siblings, level, title)
                    self._record(opened.element, title)
            elif opened.title:
                self._record(opened.element, opened.title)
        return opened.title

    def _named(self, element: Element, kind: str, title_key: str = "title") -> tuple[str, str, list[Element]]:
        """Return (number, title, the elements that they are the text of)."""
        number, used = self._profile.value(f"{kind}.number").find(element, self.text.line)
        title, used_title = self._profile.value(f"{kind}.{title_key}").find(element, self.text.line)
        return number.strip(_AROUND), title, used + used_title

    def _heading_text(self, element: Element, kind: str) -> str:
        """Return number and title."""
        number, title, used = self._named(element, kind)
        self._titles.update(used)
        return " ".join(f"{number} {title}".split())

    def _split(self, title: str) -> list[tuple[int, str]]:
        """Return the headings that one text holds with their levels, by the words of the profile."""
        words = self._profile.settings.headings.words
        if not words or not title:
            return []
        named = "|".join(re.escape(word) for word in words)
        starts = [match.start() for match in re.finditer(rf"(?i)(?<!\w)(?:{named})(?=\s+(?:[IVXLC]+\b|\d))", title)]
        if not starts or starts[0] > 0:
            return []
        parts = [title[start:end].strip() for start, end in zip(starts, [*starts[1:], len(title)], strict=True)]
        lowered = [word.lower() for word in words]
        return [
            (next(level for level, word in enumerate(lowered, start=1) if part.lower().startswith(word)), part)
            for part in parts
        ]

    @staticmethod
    def _set_level(siblings: list[tuple[int, str]], level: int, title: str) -> None:
        siblings[:] = [(other, text) for other, text in siblings if other < level]
        siblings.append((level, title))

    def _add_sibling(self, element: Element) -> None:
        title = self._heading_text(element, "headings")
        self._set_level(self._open[-1].siblings, self._level(element), title)
        self._record(element, title)

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
        selectors = self._profile.selectors("headings.siblings")
        return next((level for level, selector in enumerate(selectors, start=1) if selector.matches(element)), 1)

    def _continue_heading(self, element: Element) -> None:
        siblings = self._open[-1].siblings
        if siblings and self.headings:
            level, title = siblings[-1]
            continued = self.text.line(element)
            self._account.keep(continued)
            siblings[-1] = (level, f"{title} {continued}".strip())
            self.headings[-1] = self.headings[-1]._replace(title=siblings[-1][1])

    def _record(self, element: Element, title: str) -> None:
        depth = sum(bool(outer.title) + len([title for _, title in outer.siblings if title]) for outer in self._open)
        self.headings.append(FoundHeading(element.sourceline or 0, max(depth, 1), title))
        self._account.keep(title)

    # Articles

    def _article(self, element: Element, local_id: str, whole: Element | None = None) -> Iterator[ActArticle]:
        self._learn_act(whole if whole is not None else element)
        if self._found("articles.outside", element):
            for outer in self._open:
                outer.siblings.clear()
        path = self._path()
        number, rubric, used = self._named(element, "articles", "rubric")
        annex = self._annex()
        if number[:1].isdigit() and not annex:
            words = (word for selector, word in self._profile.words if selector is None or selector.matches(element))
            number = f"{next(words, '')} {number}".strip()
        self._titles.update(one for one in used if element not in one.iterancestors())
        begin = whole if whole is not None else element
        yield from self._unread(begin)
        if annex:
            self._leave_loose()
        for loose in self._loose:
            yield from self._kept(loose, element, False)
        self._loose.clear()
        text, targets = self.text.lines(element, set(used))
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
            local_id=local_id or number,
            line=begin.sourceline or 0,
            annex=annex,
            valid_from=valid_from,
            valid_to=valid_to,
            targets=tuple(targets),
        )
        yield from self._kept(article, element, bool(self._found("articles.repealed", element)))

    def _kept(self, article: ActArticle, element: Element, is_repealed: bool) -> Iterator[ActArticle]:
        for outer in self._open:
            outer.n_articles += 1
        text = article.text
        said = (article.number, article.rubric, text)
        if is_repealed or says_repealed(text) or any(pattern.fullmatch(text) for pattern in self._empty):
            self.repealed += 1
            self._account.leave_out("repealed", *said)
            self._leave_notes()
            if self._profile.settings.articles.versions and article.valid_from:
                yield replace(article, text="")  # ends the version before it
            return
        changed = self._profile.hook(article, element) if self._profile.hook else article
        if changed is not None:
            self._account.keep(*said)
        self._leave_notes()
        if changed is not None:
            yield changed

    def _leave_notes(self) -> None:
        for rule, text in self._notes:
            self._account.leave_out(rule, text)
        self._notes.clear()
        self._account.leave_out("notes", *self.text.removed)
        self.text.removed.clear()

    def _leave_loose(self) -> None:
        self._account.leave_out("closing words", *(article.text for article in self._loose))
        self._loose.clear()

    def _annex(self, until: _Open | None = None) -> str:
        """Return the local id of the annex that is open, "" where none is."""
        return next((self._annex_id(outer) for outer in self._around(until) if _ANNEX in outer.kinds), "")

    def _annex_id(self, opened: _Open) -> str:
        if not opened.local_id:
            found = self._found("annexes.id", opened.element)
            opened.local_id = found or self._found("annexes.number", opened.element) or self._title(opened) or "annex"
        return opened.local_id

    def _whole(self, closed: _Open) -> Iterator[ActArticle]:
        """Yield what an annex, or a heading in one, is as an article, for no article was in it."""
        element = closed.element
        self._learn_act(element)
        kind = "annexes" if _ANNEX in closed.kinds else "headings"
        number, title, used = self._named(element, kind)
        text, targets = self.text.lines(element, set(used))
        path = self._path()
        local_id = self._annex_id(closed) if kind == "annexes" else number or title
        line, annex = element.sourceline or 0, self._annex()
        if text:
            article = ActArticle(number, title, text, path, local_id, line, annex, targets=tuple(targets))
            yield from self._kept(article, element, False)

    def _close_begun(self, following: Element | None) -> Iterator[ActArticle]:
        """Yield the article that an element began: itself and what follows it among its siblings."""
        begun, self._begun = self._begun, None
        if begun is None:
            return
        stop = {following, *following.iterancestors()} if following is not None else set()
        whole, read = etree.Element(local_name(begun)), [begun]
        whole.append(deepcopy(begun))
        for sibling in begun.itersiblings():
            if sibling in stop:
                break
            whole.append(deepcopy(sibling))
            read.append(sibling)
        yield from self._article(whole, self._found("articles.id", whole), whole=begun)
        for element in read:
            self._clear(element)
            element.tail = None
        self._at = (read[-1], True)

    def _learn_act(self, element: Element | None) -> None:
        """Read what the file says of its act, once: when the first article is there, and all that precedes it."""
        if self._knows_act or element is None:
            return
        self._knows_act = True
        root = element.getroottree().getroot()
        root.set("file", PurePosixPath(self._place).name)
        values = {key: self._profile.value(f"act.{key}") for key in ("id", "title", "language", "licence", "date")}
        found = {key: value.text(root, self.text.line) for key, value in values.items()}
        self._titles.update(values["title"].find(root, self.text.line)[1])
        self._account.keep(found["title"])
        self.act = Act(
            act_id=" ".join(found["id"].split()),
            title=found["title"],
            language=language_code(found["language"]),
            licence=found["licence"],
            date=iso_date(found["date"]),
        )


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
