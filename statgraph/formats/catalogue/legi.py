"""French codes as JSON trees (`LEGITEXT*.json`, the layout of the npm package @socialgouv/legi-data).

A node has a `type` (code, section, article), `data` and, unless it is an article, `children` in the order of the code.
Only articles in force become articles of the corpus; a section without one leaves no heading.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from html import unescape
from pathlib import Path
from typing import Any

from statgraph.errors import described
from statgraph.law.citations.numbers import article_number
from statgraph.law.draft import Draft, SourceFormat
from statgraph.law.html_text import plain_text
from statgraph.law.validity import VALID_FROM, VALID_TO, validity_problem

FILE_PATTERN = "LEGITEXT*.json"
IN_FORCE = ("VIGUEUR", "VIGUEUR_DIFF", "ABROGE_DIFF")

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_NO_END_MS = 32_000_000_000_000  # in the year 2984
_LATEST_MS = 253_000_000_000_000  # in the year 9987
_TAG = re.compile("<[^>]+>")
_NUMBER = re.compile(r"(?:LO|[LRDA])?\*{0,2}\d[\d-]*(?: ?-?[A-Z])?")


@dataclass(frozen=True)
class LegiIndex:
    """What a citation needs to find its articles.

    `order` holds the article ids of each code (by title) from first to last; `numbers` maps a code's article numbers,
    in the form of `article_number`, to ids; `sections` maps a section id to the ids of all articles below it;
    `versions` maps every id an article has had (its own, its cid, those of its earlier versions) to its present id.
    """

    order: dict[str, list[str]] = field(default_factory=dict)
    numbers: dict[str, dict[str, str]] = field(default_factory=dict)
    sections: dict[str, list[str]] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)


def draft_legi(draft: Draft, source: Path) -> LegiIndex:
    """Return the index of the codes in a file, or in a folder of `LEGITEXT*.json`, after adding them to the draft."""
    index = LegiIndex()
    files = sorted(source.glob(FILE_PATTERN)) if source.is_dir() else [source]
    if not files:
        draft.add_problem(str(source), f"holds no {FILE_PATTERN}; name the folder of the codes or one of its files")
    for file in files:
        try:
            root = json.loads(file.read_bytes())
            json.dumps(root, ensure_ascii=False).encode("utf-8")  # no lone surrogates
            code = _title(root, "code")
            if code in index.order:
                raise ValueError(f"'{code}' is in another file too")
            _CodeReader(draft, index, file.name, code, _milliseconds(root["data"].get("dateDebutVersion"))).walk(
                root, (code,)
            )
            draft.report.read_cells(file.name, list(_texts(root)))
            draft.report.keep_cells((code,))
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
            draft.add_problem(file.name, f"is not the tree of a code ({described(error)}); download the file again")
    return index


def _title(node: Mapping[str, Any], kind: str) -> str:
    """Return the title of a node of a kind, spaces collapsed."""
    title = " ".join(str(node["data"].get("title") or "").split())
    if node["type"] != kind or not title:
        raise ValueError(f"a node of type '{node['type']}' and title '{title}' where a {kind} belongs")
    return title


class _CodeReader:
    """Walks one code's tree in order; `order` in the corpus is the running position of the article in that walk."""

    def __init__(self, draft: Draft, index: LegiIndex, place: str, code: str, day_ms: float | None):
        self._draft, self._index, self._place, self._code, self._day_ms = draft, index, place, code, day_ms
        self._order = index.order.setdefault(code, [])
        self._numbers = index.numbers.setdefault(code, {})
        self._ambiguous: set[str] = set()

    def walk(self, node: Mapping[str, Any], path: tuple[str, ...]) -> None:
        for child in node.get("children", []):
            if child["type"] == "article":
                self._add_article(child["data"], path)
                continue
            first = len(self._order)
            self.walk(child, (*path, _title(child, "section")))
            for identity in {str(child["data"][key]) for key in ("id", "cid") if child["data"].get(key)}:
                self._index.sections.setdefault(identity, []).extend(self._order[first:])

    def _add_article(self, data: Mapping[str, Any], path: tuple[str, ...]) -> None:
        article_id = data["id"]
        text = plain_text(str(data.get("texteHtml") or data.get("texte") or ""))
        number = " ".join(str(data.get("num") or "").split())
        if not text or not _in_force(data, self._day_ms):
            self._draft.report.leave_out_cells("not in force", (number, text))
            return
        self._order.append(article_id)
        self._draft.add_article(
            self._place,
            article_id=article_id,
            title=f"{_citation(number) or article_id}, {self._code}",
            text=text,
            path=path,
            order=len(self._order),
            number=_citation(number),
            metadata={"cid": data.get("cid"), "etat": data.get("etat"), **_validity(data)},
        )
        number = article_number(number)
        # A code has several 'Annexe I', and none of them can be cited alone.
        if number in self._ambiguous or self._numbers.setdefault(number, article_id) != article_id:
            self._ambiguous.add(number)
            self._numbers.pop(number, None)
        earlier = [version.get("id") for version in data.get("articleVersions") or []]
        for known_id in filter(None, (data.get("cid"), *earlier)):
            self._index.versions.setdefault(known_id, article_id)
        self._index.versions[article_id] = article_id


def _texts(node: Mapping[str, Any]) -> Iterator[str]:
    """Yield the titles, numbers and texts of a tree, whatever its nodes are."""
    data = node.get("data") or {}
    html = data.get("texteHtml") or data.get("texte") or ""
    yield from (str(data.get("title") or ""), str(data.get("num") or ""), unescape(_TAG.sub(" ", str(html))))
    for child in node.get("children") or ():
        yield from _texts(child)


def _citation(number: str) -> str:
    return f"Art. {number}" if _NUMBER.fullmatch(number) else number


def _in_force(data: Mapping[str, Any], day_ms: float | None) -> bool:
    """Return whether an article applies on the day of its code.

    The state alone does not decide: an article that a later reform will replace can be `MODIFIE` years ahead, and some
    carry no state. For those the article's own dates decide; without dates, only an article without a state is kept.
    """
    state, start_ms, end_ms = data.get("etat"), data.get("dateDebut"), data.get("dateFin")
    if state in IN_FORCE:
        return True
    if day_ms is None or not isinstance(start_ms, int) or not isinstance(end_ms, int):
        return not state
    return start_ms <= day_ms < end_ms


def _validity(data: Mapping[str, Any]) -> dict[str, str]:
    """Return when an article is in force, as far as its dates say it.

    The source ends in 2999 what has no end; what begins there has no known beginning yet, and is not in force today.
    """
    dates = ((VALID_FROM, "dateDebut", _LATEST_MS), (VALID_TO, "dateFin", _NO_END_MS))
    validity = {
        key: (_EPOCH + timedelta(milliseconds=value)).date().isoformat()
        for key, name, latest in dates
        if isinstance(value := data.get(name), int) and -_NO_END_MS < value < latest
    }
    return {} if validity_problem(validity) else validity


def _milliseconds(day: object) -> float | None:
    try:
        return datetime.fromisoformat(str(day)).replace(tzinfo=UTC).timestamp() * 1000
    except ValueError:
        return None


FORMAT = SourceFormat("the JSON trees of the French codes", draft_legi, language="fr", files=("LEGITEXT*.json",))
