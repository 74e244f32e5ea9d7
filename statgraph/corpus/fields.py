"""Typed fields of a JSON record. A value of the wrong type becomes a problem of the draft, and reading goes on."""

from __future__ import annotations

from collections.abc import Mapping

from statgraph.corpus.draft import Draft

# Stands in for a value whose problem is recorded, so that the rest of the record is still checked.
UNREADABLE = "?"

_TYPE_NAMES = {bool: "true or false", int: "a number", float: "a number", str: "a string", list: "a list"}


def json_type(value: object) -> str:
    """Return what JSON calls a value: "a list", "a number", "null"..."""
    return "null" if value is None else _TYPE_NAMES.get(type(value), "an object")


def id_field(draft: Draft, place: str, record: Mapping[str, object], *keys: str) -> str | None:
    """Return the id under the first key that holds one; "" where none does, None with the problem recorded.

    Numbers without a fraction are ids too.
    """
    key = next((key for key in keys if record.get(key) is not None), keys[0])
    value = record.get(key)
    if value is None:
        return ""
    if not _is_id(value):
        draft.add_problem(place, f"'{key}' is {json_type(value)}, not a string; put the id in quotes")
        return None
    return str(value)


def string_field(draft: Draft, place: str, record: Mapping[str, object], key: str) -> str:
    """Return the string under a key, "" where it is absent or null."""
    value = record.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        draft.add_problem(place, f"'{key}' is {json_type(value)}, not a string; put it in quotes")
        return UNREADABLE
    return value


def object_field(draft: Draft, place: str, record: Mapping[str, object], key: str) -> Mapping[str, object]:
    """Return the object under a key, {} where it is absent or null."""
    value = record.get(key)
    if value is None:
        return {}
    if not isinstance(value, dict):
        draft.add_problem(place, f'\'{key}\' is {json_type(value)}, not an object; write it like {{"name": "value"}}')
        return {}
    return value


def path_field(draft: Draft, place: str, record: Mapping[str, object], key: str, *, label: str = "") -> tuple[str, ...]:
    """Return the headings under a key, () where it is absent or null. A problem calls the key by its `label`."""
    value = record.get(key)
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(heading, str) for heading in value):
        draft.add_problem(
            place, f"'{label or key}' is not a list of strings; name the headings above the article, from the code down"
        )
        return (UNREADABLE,)
    return tuple(value)


def ids_field(draft: Draft, place: str, record: Mapping[str, object], key: str) -> tuple[str, ...]:
    """Return the ids in the list under a key, () where it is absent or null."""
    value = record.get(key)
    if value is None:
        return ()
    if not isinstance(value, list) or not all(_is_id(item) for item in value):
        draft.add_problem(place, f'\'{key}\' is not a list of ids; write it like ["id 1", "id 2"]')
        return ()
    return tuple(str(item) for item in value)


def _is_id(value: object) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool)
