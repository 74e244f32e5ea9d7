"""French codes as JSON trees (`LEGITEXT*.json`, the layout of the npm package @socialgouv/legi-data).

A node has a `type` (code, section, article), `data` and, unless it is an article, `children` in the order of the code.
Only articles in force become articles of the corpus; a section without one leaves no heading.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

from statgraph.corpus.citations.references import article_number
from statgraph.corpus.draft import Draft, SourceFormat
from statgraph.corpus.html_text import plain_text
from statgraph.corpus.validity import VALID_FROM, VALID_TO, validity_problem

FILE_PATTERN = "LEGITEXT*.json"
MAX_DEPTH = 100
IN_FORCE = ("VIGUEUR", "VIGUEUR_DIFF", "ABROGE_DIFF")

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_NO_END_MS = 32_000_000_000_000  # in the year 2984
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
    source = Path(source)
    index = LegiIndex()
    files = sorted(source.glob(FILE_PATTERN)) if source.is_dir() else [source]
    if not files:
        draft.add_problem(str(source), f"holds no {FILE_PATTERN}; name the folder of the codes or one of its files")
    for file in files:
        root = _read_tree(draft, file)
        if root is not None:
            _draft_code(draft, index, file.name, root)
    return index


def _draft_code(draft: Draft, index: LegiIndex, place: str, root: Mapping[str, Any]) -> None:
    code = _title(root["data"])
    if not code:
        draft.add_problem(place, "the code has no title; give its data a 'title'")
    elif code in index.order:
        draft.add_problem(place, f"'{code}' is in another file too; keep one file per code")
    else:
        _CodeReader(draft, index, place, code, _milliseconds(root["data"].get("dateDebutVersion"))).read(root)


class _CodeReader:
    """Walks one code's tree in order; `order` in the corpus is the running position of the article in that walk."""

    def __init__(self, draft: Draft, index: LegiIndex, place: str, code: str, day_ms: float | None):
        self._draft = draft
        self._index = index
        self._place = place
        self._add_problem = partial(draft.add_problem, place)
        self._code = code
        self._day_ms = day_ms
        self._order = index.order.setdefault(code, [])
        self._numbers = index.numbers.setdefault(code, {})
        self._ambiguous: set[str] = set()

    def read(self, root: Mapping[str, Any]) -> None:
        self._walk_children(root, path=(self._code,), above=())

    def _walk_children(self, node: Mapping[str, Any], path: tuple[str, ...], above: tuple[str, ...]) -> None:
        children = node.get("children", [])
        if not isinstance(children, list):
            return self._add_problem(f"children of '{path[-1]}' are not a list; download the file again")
        for child in children:
            if not _is_node(child):
                self._add_problem(f"a child of '{path[-1]}' is not a node; a node is an object with 'type' and 'data'")
            elif child["type"] == "article":
                self._add_article(child["data"], path)
            elif child["type"] == "section":
                self._walk_section(child, path, above)
            else:
                self._add_problem(f"unknown node type '{child['type']}' under '{path[-1]}'; use section or article")

    def _walk_section(self, section: Mapping[str, Any], path: tuple[str, ...], above: tuple[str, ...]) -> None:
        data = section["data"]
        title = _title(data)
        identities = {str(data[key]) for key in ("id", "cid") if data.get(key)}
        if not title:
            return self._add_problem(f"a section under '{path[-1]}' has no title; give its data a 'title'")
        if identities & set(above):
            return self._add_problem(
                f"section '{title}' ({min(identities & set(above))}) is nested in itself; "
                "remove the inner one or download the file again",
            )
        if len(path) >= MAX_DEPTH:
            return self._add_problem(
                f"section '{title}' is {len(path) + 1} levels deep; a code has at most {MAX_DEPTH}"
            )
        first = len(self._order)
        self._walk_children(section, (*path, title), (*above, *identities))
        for identity in identities:
            self._index.sections.setdefault(identity, []).extend(self._order[first:])
        return None

    def _add_article(self, data: Mapping[str, Any], path: tuple[str, ...]) -> None:
        article_id = data.get("id")
        if not isinstance(article_id, str) or not article_id:
            return self._add_problem(f"an article under '{path[-1]}' has no id; give its data an 'id'")
        text = plain_text(str(data.get("texteHtml") or data.get("texte") or ""))
        if not text or not _in_force(data, self._day_ms):
            return None
        number = re.sub(r"\s+", " ", str(data.get("num") or "")).strip()
        self._order.append(article_id)
        self._draft.add_article(
            self._place,
            article_id=article_id,
            title=f"{_citation(number) or article_id}, {self._code}",
            text=text,
            path=path,
            order=len(self._order),
            metadata={"number": number, "cid": data.get("cid"), "etat": data.get("etat"), **_validity(data)},
        )
        self._register_number(article_number(number), article_id)
        self._register_versions(data, article_id)
        return None

    def _register_number(self, number: str, article_id: str) -> None:
        """Keep numbers that name one article: a code has several 'Annexe I', and none of them can be cited alone."""
        if number in self._ambiguous or self._numbers.setdefault(number, article_id) != article_id:
            self._ambiguous.add(number)
            self._numbers.pop(number, None)

    def _register_versions(self, data: Mapping[str, Any], article_id: str) -> None:
        versions = data.get("articleVersions")
        earlier = [v.get("id") for v in versions if isinstance(v, Mapping)] if isinstance(versions, list) else []
        for known_id in (data.get("cid"), *earlier):
            if isinstance(known_id, str):
                self._index.versions.setdefault(known_id, article_id)
        self._index.versions[article_id] = article_id


def _read_tree(draft: Draft, file: Path) -> Mapping[str, Any] | None:
    """Return the root of a code's tree, or None with the problem recorded."""
    place = file.name
    try:
        text = file.read_bytes().decode("utf-8-sig")
        root = json.loads(text)
        if "\\ud" in text.lower():
            json.dumps(root, ensure_ascii=False).encode("utf-8")
        if _is_node(root) and root["type"] == "code":
            return dict(root)
        problem = "does not hold a code; its outermost object must have the type 'code' and 'data'"
    except FileNotFoundError:
        place, problem = str(file), "no such file or folder; name a LEGITEXT*.json or the folder of them"
    except OSError as error:
        place, problem = str(file), f"cannot be read ({error.strerror}); put a readable file there"
    except UnicodeEncodeError:
        problem = "contains a lone surrogate (\\ud800 to \\udfff); write the character itself"
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        place = f"{file.name}:{line}"
        problem = f"byte 0x{error.object[error.start]:02x} is not UTF-8; save the file as UTF-8"
    except json.JSONDecodeError as error:
        place = f"{file.name}:{error.lineno}"
        problem = f"invalid JSON at column {error.colno} ({error.msg}); download the file again"
    except ValueError as error:  # a number of thousands of digits
        problem = f"invalid JSON ({error}); download the file again"
    except RecursionError:
        problem = "is nested too deeply for a code; download the file again"
    draft.add_problem(place, problem)
    return None


def _is_node(value: object) -> bool:
    return isinstance(value, Mapping) and isinstance(value.get("type"), str) and isinstance(value.get("data"), Mapping)


def _title(data: Mapping[str, Any]) -> str:
    return re.sub(r"\s+", " ", str(data.get("title") or "")).strip()


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
    """Return when an article is in force, as far as its dates say it; the source ends in 2999 what has no end."""
    dates = {VALID_FROM: data.get("dateDebut"), VALID_TO: data.get("dateFin")}
    known = {key: value / 1000 for key, value in dates.items() if isinstance(value, int) and abs(value) < _NO_END_MS}
    validity = {key: (_EPOCH + timedelta(seconds=seconds)).date().isoformat() for key, seconds in known.items()}
    return {} if validity_problem(validity) else validity


def _milliseconds(day: object) -> float | None:
    try:
        return datetime.fromisoformat(str(day)).replace(tzinfo=UTC).timestamp() * 1000
    except ValueError:
        return None


FORMAT = SourceFormat("the JSON trees of the French codes", draft_legi, language="fr")
