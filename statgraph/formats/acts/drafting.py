"""Acts as articles of a corpus: their ids, their versions in time, and what they refer to."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain, pairwise

from statgraph.formats.acts.profile import Profile
from statgraph.formats.acts.reader import Act, ActArticle
from statgraph.formats.acts.references import ReferenceIndex
from statgraph.law.citations.references import REFERENCES
from statgraph.law.draft import Draft
from statgraph.law.records import REFERENCES_ELSEWHERE
from statgraph.law.validity import VALID_FROM, VALID_TO

_AGAIN = "~"  # before the count of an id that comes again in an act

_State = dict[str, ActArticle]  # the articles of an act on a day, by ids that are unique in the act
_Versions = dict[str, list[ActArticle]]  # by these ids, oldest first


@dataclass(frozen=True, slots=True)
class ReadAct:
    """An act, or a version or part of one, as its file has it."""

    act: Act
    articles: tuple[ActArticle, ...]
    profile: Profile
    place: str


def draft_acts(draft: Draft, read: Iterable[ReadAct]) -> Counter[bool]:
    """Add the articles of acts to a draft, and count by whether they lead to one of them the references with a target.

    Files with the same act id are versions of it, or its parts if the profile has `act.parts`.
    """
    by_id: dict[str, list[ReadAct]] = {}
    for one in read:
        by_id.setdefault(one.act.act_id, []).append(one)
    acts = [(max(files, key=lambda one: one.act.date), _versions_of(draft, files)) for files in by_id.values()]
    index = ReferenceIndex()
    for latest, articles in acts:
        for local_id, versions in articles.items():
            ends = [(article_id, one.valid_to) for article_id, one in versions]
            index.add(latest.act.act_id, local_id, versions[-1][1].number, ends)
    counts: Counter[bool] = Counter()
    titles: Counter[str] = Counter()
    for latest, articles in acts:
        title = " ".join((latest.act.title or latest.act.act_id).split())
        titles[title] += bool(articles)
        if titles[title] > 1:
            title = f"{title} ({latest.act.act_id})"
        for article_id, article in chain.from_iterable(articles.values()):
            _add(draft, article, article_id, title, latest, index, counts)
    return counts


def _add(
    draft: Draft,
    article: ActArticle,
    article_id: str,
    title: str,
    act: ReadAct,
    index: ReferenceIndex,
    counts: Counter[bool],
) -> None:
    patterns, act_id = act.profile["references.pattern"], act.act.act_id
    found = {target: index.find(target, act_id, patterns, article.valid_from) for target in article.targets}
    counts.update(one is not None for one in found.values())
    metadata = {
        VALID_FROM: article.valid_from,
        VALID_TO: article.valid_to,
        REFERENCES: list(dict.fromkeys(one for one in found.values() if one and one != article_id)),
        REFERENCES_ELSEWHERE: [target for target, one in found.items() if one is None],
    }
    named = article.number or article.rubric
    repeats_title = _letters(" ".join(article.path[:1])) == _letters(title)  # in its highest heading
    draft.add_article(
        f"{article.file}:{article.line}" if article.line else article.file,
        article_id=article_id,
        title="" if article.number else f"{named}, {title}" if named else title,
        text=article.text,
        path=(title, *article.path[repeats_title:]),
        metadata={key: value for key, value in metadata.items() if value},
        number=article.number,
        rubric=article.rubric,
    )


def _versions_of(draft: Draft, files: list[ReadAct]) -> dict[str, list[tuple[str, ActArticle]]]:
    """Return each article's versions by its id in the act, oldest first, with their ids in the corpus; none, with the
    problem recorded, if they cannot be ordered."""
    profile = files[0].profile.settings
    by_day: dict[str, list[ReadAct]] = {"": files} if profile.act.parts else {}
    for one in () if profile.act.parts else sorted(files, key=lambda one: one.act.date):
        by_day.setdefault(one.act.date, []).append(one)
    states = [(day, dict(_keyed(of_day))) for day, of_day in by_day.items()]
    for (_, before), (_, after) in pairwise(states):
        # A file of which a later state has nothing was not given then, and is not repealed.
        continued = {article.file for local_id, article in before.items() if local_id in after}
        after.update({local_id: one for local_id, one in before.items() if one.file not in continued})
    ids = {one.place: {(article.annex, article.local_id) for article in one.articles} for one in files}
    others = [(ids[of_day[0].place], one) for of_day in by_day.values() for one in of_day[1:]]
    repeated = next((one for first, one in others if not first.isdisjoint(ids[one.place])), None)
    if repeated is not None and not profile.act.parts:
        draft.add_problem(
            repeated.place,
            f"holds the act '{repeated.act.act_id}' as another file does, and both say that they apply from "
            f"'{repeated.act.date}'; import one of them",
        )
        return {}
    versions = {local_id: _versions(local_id, states) for local_id in _sequence([state for _, state in states])}
    if profile.articles.versions:
        versions = dict(_joined(versions))
    return {local_id: list(_identified(files[0].act.act_id, local_id, listed)) for local_id, listed in versions.items()}


def _identified(act_id: str, local_id: str, versions: list[ActArticle]) -> Iterator[tuple[str, ActArticle]]:
    """Yield the versions of an article with their ids: that of the last one is the article's."""
    is_whole = local_id.startswith((act_id, "/", "http:", "https:"))
    whole = local_id if is_whole else f"{act_id}#{local_id}"
    for one in versions:
        yield f"{whole}@{one.valid_from}" if one.valid_from and one is not versions[-1] else whole, one


def _joined(listed: _Versions) -> Iterator[tuple[str, list[ActArticle]]]:
    """Yield each article of a file that lists versions side by side with all of them, oldest first: each ends where the
    next one begins."""
    by_id: _Versions = {}
    for key, versions in listed.items():
        by_id.setdefault(key.partition(_AGAIN)[0], []).extend(versions)
    for local_id, versions in by_id.items():
        versions.sort(key=lambda one: one.valid_from)
        ended = [
            replace(one, valid_to=min(filter(None, (one.valid_to, following.valid_from)), default=""))
            for one, following in pairwise(versions)
        ]
        if in_force := [one for one in (*ended, versions[-1]) if one.text]:
            yield local_id, in_force


def _letters(title: str) -> str:
    return re.sub(r"\W+", "", title).casefold()


def _keyed(files: Iterable[ReadAct]) -> Iterator[tuple[str, ActArticle]]:
    """Yield each article with an id that is unique in the act: its own, behind that of its annex."""
    met: Counter[str] = Counter()
    for one in files:
        for article in one.articles:
            local_id = re.sub(r"\s+", "_", article.local_id or article.rubric or "article")
            annex = re.sub(r"\s+", "_", article.annex)
            if annex and not local_id.startswith((annex, one.act.act_id)):
                local_id = f"{annex}/{local_id}"
            met[local_id] += 1
            yield (
                local_id if met[local_id] == 1 else f"{local_id}{_AGAIN}{met[local_id]}",
                replace(article, file=one.place),
            )


def _sequence(states: list[_State]) -> list[str]:
    """Return the ids of the newest state in its order, each repealed one behind what it stood behind."""
    order = list(states[-1])
    known = set(order)
    for state in reversed(states[:-1]):
        for before, local_id in pairwise([None, *state]):
            if local_id not in known and local_id is not None:
                order.insert(order.index(before) + 1 if before is not None else 0, local_id)
                known.add(local_id)
    return order


def _versions(local_id: str, states: list[tuple[str, _State]]) -> list[ActArticle]:
    """Return the versions of an article, oldest first: states in which nothing changed are one version."""
    if len(states) == 1:
        day, one = states[0][0], states[0][1][local_id]
        is_known = one.valid_from or (one.valid_to and one.valid_to <= day)
        return [one if is_known else replace(one, valid_from=day)]
    versions: list[ActArticle] = []
    was_there = False
    for day, articles in states:
        now = articles.get(local_id)
        before = versions[-1] if was_there else None
        if now is not None and before is not None and _said(before) == _said(now):
            versions[-1] = replace(now, valid_from=before.valid_from)
            continue
        first = day
        if (
            now is not None
            and "" < now.valid_from <= day
            and (not versions or now.valid_from > versions[-1].valid_from)
        ):
            first = now.valid_from
        if before is not None:
            versions[-1] = replace(before, valid_to=first)
        if now is not None:
            versions.append(replace(now, valid_from=first))
        was_there = now is not None
    return [replace(one, valid_to=one.valid_to if one.valid_to > one.valid_from else "") for one in versions]


def _said(article: ActArticle) -> tuple[str, str, str]:
    return (article.number, article.rubric, article.text)
