import pytest

from statgraph.corpus.fields import id_field, ids_field, json_type, object_field, path_field, string_field


def test_json_type_is_what_json_calls_a_value():
    values = [None, True, 1, 0.5, "x", [], {}]
    assert [json_type(value) for value in values] == [
        "null", "true or false", "a number", "a number", "a string", "a list", "an object",
    ]  # fmt: skip


def test_ids_may_be_numbers_and_stand_under_either_key(draft, recorded):
    assert id_field(draft, "f:1", {"id": 7}, "_id", "id") == "7"
    assert id_field(draft, "f:1", {"_id": "x", "id": 7}, "_id", "id") == "x"
    assert id_field(draft, "f:1", {"_id": None, "id": 0}, "_id", "id") == "0"
    assert id_field(draft, "f:1", {}, "_id", "id") == ""
    assert recorded() == []


@pytest.mark.parametrize(("value", "kind"), [(True, "true or false"), (1.5, "a number"), (["x"], "a list")])
def test_other_values_are_no_ids(draft, recorded, value, kind):
    assert id_field(draft, "f:1", {"_id": value}, "_id") is None
    assert recorded() == [f"f:1: '_id' is {kind}, not a string; put the id in quotes"]


def test_absent_and_null_are_empty(draft, recorded):
    for record in ({}, {"x": None}):
        assert string_field(draft, "f:1", record, "x") == ""
        assert object_field(draft, "f:1", record, "x") == {}
        assert path_field(draft, "f:1", record, "x") == ()
        assert ids_field(draft, "f:1", record, "x") == ()
    assert recorded() == []


def test_wrong_types_are_problems_and_reading_goes_on(draft, recorded):
    assert string_field(draft, "f:1", {"text": 3}, "text") == "?"
    assert object_field(draft, "f:2", {"metadata": "x"}, "metadata") == {}
    assert path_field(draft, "f:3", {"path": "Code"}, "path", label="metadata.path") == ("?",)
    assert path_field(draft, "f:4", {"path": ["Code", None]}, "path") == ("?",)
    assert ids_field(draft, "f:5", {"articles": "a1"}, "articles") == ()
    assert ids_field(draft, "f:6", {"articles": ["a1", None]}, "articles") == ()
    assert recorded() == [
        "f:1: 'text' is a number, not a string; put it in quotes",
        'f:2: \'metadata\' is a string, not an object; write it like {"name": "value"}',
        "f:3: 'metadata.path' is not a list of strings; name the headings above the article, from the code down",
        "f:4: 'path' is not a list of strings; name the headings above the article, from the code down",
        'f:5: \'articles\' is not a list of ids; write it like ["id 1", "id 2"]',
        'f:6: \'articles\' is not a list of ids; write it like ["id 1", "id 2"]',
    ]
