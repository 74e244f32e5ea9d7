"""Acts as articles of a corpus: their ids, their versions in time, and what they refer to."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise

from statgraph.formats.acts.profile import Profile
from statgraph.formats.acts.reader import Act, ActArticle
from statgraph.formats.acts.references import ArticleVersion, ReferenceIndex
from statgraph.law.citations.references import REFERENCES
from statgraph.law.draft import Draft
from statgraph.law.records import REFERENCES_ELSEWHERE
from statgraph.law.validity import VALID_FROM, VALID_TO

_AGAIN = "~"  # before the count of an id that comes again in an act


@dataclass(frozen=True, slots=True)
class ReadAct:
    """An act, or a version or part of one, as its file has it."""

    act: Act
    articles: tuple[ActArticle, ...]
    profile: Profile
    place: str


@dataclass(frozen=True, slots=True)
class _Version:
    """An article as it was in a time, and the id that it gets."""

    article: ActArticle
    valid_from: str
    valid_to: str
    place: str
    article_id: str = ""


@dataclass(slots=True)
class _DraftedAct:
    act: Act
    profile: Profile
    title: str
    versions: dict[str, list[_Version]] = field(default_factory=dict)  # by local id, oldest first


def draft_acts(draft: Draft, read: Iterable[ReadAct]) -> Counter[bool]:
    """Add the articles of acts to a draft, and count by whether they lead to one of them the references with a target.

    Files with the same act id are versions of it, or its parts if the profile has `act.parts`.
    """
    by_id: dict[str, list[ReadAct]] = {}
    for one in read:
        by_id.setdefault(one.act.act_id, []).append(one)
    acts = [drafted for files in by_id.values() if (drafted := _drafted(draft, files)) is not None]
    index = ReferenceIndex()
    for act in acts:
        for local_id, versions in act.versions.items():
            dated = [ArticleVersion(one.article_id, one.valid_from, one.valid_to) for one in versions]
            index.add(act.act.act_id, local_id, versions[-1].article.number, dated)
    counts: Counter[bool] = Counter()
    titles: dict[str, int] = {}
    for act in acts:
        titles[act.title] = titles.get(act.title, 0) + 1
        title = act.title if titles[act.title] == 1 else f"{act.title} ({act.act.act_id})"
        for version in (one for versions in act.versions.values() for one in versions):
            _add(draft, act, title, version, index, counts)
    return counts


def _add(
    draft: Draft, act: _DraftedAct, title: str, version: _Version, index: ReferenceIndex, counts: Counter[bool]
) -> None:
    article = version.article
    metadata: dict[str, object] = {}
    for key, day in ((VALID_FROM, version.valid_from), (VALID_TO, version.valid_to)):
        if day:
            metadata[key] = day
    patterns = act.profile.patterns("references.pattern")
    found = {target: index.find(target, act.act.act_id, patterns, version.valid_from) for target in article.targets}
    resolved = list(dict.fromkeys(one for one in found.values() if one and one != version.article_id))
    elsewhere = [target for target, one in found.items() if one is None]
    counts.update(one is not None for one in found.values())
    metadata |= {REFERENCES: resolved} if resolved else {}
    metadata |= {REFERENCES_ELSEWHERE: elsewhere} if elsewhere else {}
    named = article.number or article.rubric
    draft.add_article(
        f"{version.place}:{article.line}" if article.line else version.place,
        article_id=version.article_id,
        title="" if article.number else f"{named}, {title}" if named else title,
        text=article.text,
        path=_path(title, article.path),
        metadata=metadata,
        number=article.number,
        rubric=article.rubric,
    )


def _path(title: str, headings: tuple[str, ...]) -> tuple[str, ...]:
    """Return the whole path; a code whose highest heading repeats its title has it once."""
    return (title, *(headings[1:] if headings and _plain(headings[0]) == _plain(title) else headings))


def _plain(title: str) -> str:
    return re.sub(r"\W+", "", title).casefold()


def _drafted(draft: Draft, files: list[ReadAct]) -> _DraftedAct | None:
    """Return an act with its articles' versions; None, with the problem recorded, if the versions cannot be ordered."""
    latest = max(files, key=lambda one: one.act.date)
    title = " ".join((latest.act.title or latest.act.act_id).split())
    drafted = _DraftedAct(latest.act, latest.profile, title)
    if latest.profile.settings.act.parts:
        states = {"": files}
    else:
        states = {}
        for one in sorted(files, key=lambda one: one.act.date):
            states.setdefault(one.act.date, []).append(one)
    keyed = [(day, dict(_keyed(state))) for day, state in states.items()]
    for (_, before), (_, after) in pairwise(keyed):
        after.update(_missing_parts(before, after))
    repeated = next((one for state in states.values() for one in state[1:] if _overlap(state[0], one)), None)
    if repeated is not None and not latest.profile.settings.act.parts:
        draft.add_problem(
            repeated.place,
            f"holds the act '{repeated.act.act_id}' as another file does, and both say that they apply from "
            f"'{repeated.act.date}'; import one of them",
        )
        return None
    for local_id in _sequence([articles for _, articles in keyed]):
        drafted.versions[local_id] = _versions(local_id, keyed)
    if latest.profile.settings.articles.versions:
        drafted.versions = dict(_joined(drafted.versions))
    for local_id, versions in drafted.versions.items():
        earlier = [one.valid_from for one in versions[:-1]]
        drafted.versions[local_id] = [
            replace(one, article_id=_article_id(drafted.act.act_id, local_id, day))
            for one, day in zip(versions, [*earlier, ""], strict=True)
        ]
    return drafted


def _joined(listed: dict[str, list[_Version]]) -> Iterator[tuple[str, list[_Version]]]:
    """Yield each article of a file that lists versions side by side with all of them, oldest first: each ends where the
    next one begins."""
    by_id: dict[str, list[_Version]] = {}
    for key, versions in listed.items():
        by_id.setdefault(key.partition(_AGAIN)[0], []).extend(versions)
    for local_id, versions in by_id.items():
        versions.sort(key=lambda one: one.valid_from)
        ended = [
            _ended(one, min(filter(None, (one.valid_to, following.valid_from)), default=""))
            for one, following in pairwise(versions)
        ]
        if in_force := [one for one in (*ended, versions[-1]) if one.article.text]:
            yield local_id, in_force


def _overlap(first: ReadAct, other: ReadAct) -> bool:
    one, another = ({(article.annex, article.local_id) for article in read.articles} for read in (first, other))
    return not one.isdisjoint(another)


def _keyed(files: Iterable[ReadAct]) -> Iterator[tuple[str, _Version]]:
    """Yield each article with an id that is unique in the act: its own, behind that of its annex."""
    met: dict[str, int] = {}
    for one in files:
        for article in one.articles:
            local_id = re.sub(r"\s+", "_", article.local_id or article.rubric or "article")
            annex = re.sub(r"\s+", "_", article.annex)
            if annex and not local_id.startswith((annex, one.act.act_id)):
                local_id = f"{annex}/{local_id}"
            met[local_id] = met.get(local_id, 0) + 1
            key = local_id if met[local_id] == 1 else f"{local_id}{_AGAIN}{met[local_id]}"
            yield key, _Version(article, article.valid_from, article.valid_to, one.place)


def _missing_parts(before: dict[str, _Version], after: dict[str, _Version]) -> dict[str, _Version]:
    """Return the articles of files of which a later state has nothing: that part was not given, and is not repealed."""
    continued = {version.place for local_id, version in before.items() if local_id in after}
    return {local_id: version for local_id, version in before.items() if version.place not in continued}


def _article_id(act_id: str, local_id: str, earlier: str) -> str:
    is_whole = local_id.startswith((act_id, "/", "http:", "https:"))
    whole = local_id if is_whole else f"{act_id}#{local_id}"
    return f"{whole}@{earlier}" if earlier else whole


def _sequence(states: list[dict[str, _Version]]) -> list[str]:
    """Return the ids of the newest state in its order, each repealed one behind what it stood behind."""
    order = list(states[-1])
    known = set(order)
    for state in reversed(states[:-1]):
        for before, local_id in pairwise([None, *state]):
            if local_id not in known and local_id is not None:
                order.insert(order.index(before) + 1 if before is not None else 0, local_id)
                known.add(local_id)
    return order


def _versions(local_id: str, states: list[tuple[str, dict[str, _Version]]]) -> list[_Version]:
    """Return the versions of an article, oldest first: states in which nothing changed are one version."""
    if len(states) == 1:
        day, one = states[0][0], states[0][1][local_id]
        is_known = one.valid_from or (one.valid_to and one.valid_to <= day)
        return [one if is_known else replace(one, valid_from=day)]
    versions: list[_Version] = []
    unchanged = False
    for day, articles in states:
        now = articles.get(local_id)
        before = versions[-1] if versions else None
        if now is None:
            if before is not None and unchanged:
                versions[-1] = _ended(before, day)
            unchanged = False
        elif before is not None and unchanged and _same(before.article, now.article):
            versions[-1] = replace(before, article=now.article, valid_to=now.valid_to, place=now.place)
        else:
            first = now.valid_from if "" < now.valid_from <= day else day
            if before is not None:
                first = first if first > before.valid_from else day
                if unchanged:
                    versions[-1] = _ended(before, first)
            versions.append(replace(now, valid_from=first))
            unchanged = True
    return [replace(one, valid_to=one.valid_to if one.valid_to > one.valid_from else "") for one in versions]


def _ended(version: _Version, day: str) -> _Version:
    return replace(version, valid_to=day)


def _same(one: ActArticle, other: ActArticle) -> bool:
    return (one.number, one.rubric, one.text) == (other.number, other.rubric, other.text)
