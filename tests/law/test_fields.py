import pytest

from statgraph.law.fields import (
    FieldNames,
    draft_article,
    id_field,
    ids_field,
    object_field,
    path_field,
    string_field,
)


@pytest.mark.parametrize(
    ("value", "kind"),
    [(True, "true or false"), (1.5, "a number"), (["x"], "a list"), ({}, "an object")],
)
def test_other_values_are_no_ids(draft, recorded, value, kind):
    assert id_field(draft, "f:1", {"_id": value}, "_id") is None
    (only,) = recorded()
    assert only.startswith(f"f:1: '_id' is {kind}, not a string; ")


def test_wrong_types_are_problems_and_reading_goes_on(draft, recorded):
    assert string_field(draft, "f:1", {"text": 3}, "text") == "?"
    assert object_field(draft, "f:2", {"metadata": "x"}, "metadata") == {}
    assert path_field(draft, "f:3", {"path": "Code"}, "path", within="metadata") == ("?",)
    assert path_field(draft, "f:4", {"path": ["Code", None]}, "path") == ("?",)
    assert ids_field(draft, "f:5", {"articles": "a1"}, "articles") == ()
    assert ids_field(draft, "f:6", {"articles": ["a1", None]}, "articles") == ()
    assert [problem.partition(";")[0] for problem in recorded()] == [
        "f:1: 'text' is a number, not a string",
        "f:2: 'metadata' is a string, not an object",
        "f:3: 'metadata.path' is not a list of strings",
        "f:4: 'path' is not a list of strings",
        "f:5: 'articles' is not a list of ids",
        "f:6: 'articles' is not a list of ids",
    ]


NAMES = FieldNames(
    id=("nr", "id"), title="name", text=("content", "body"), path="place", order="rank", metadata=("state",)
)


def test_an_article_is_read_by_the_names_that_its_source_has(draft):
    record = {"id": 7, "name": "Art. 7", "body": "Lamps burn.", "place": ["Code"], "rank": 3, "state": "new", "x": "y"}
    draft_article(draft, "f:1", record, NAMES, derive=lambda article: {"title": f"{article['title']}, Code"})
    (article,) = draft.drafted_articles()
    assert (article.article_id, article.title, article.text) == ("7", "Art. 7, Code", "Lamps burn.")
    assert (article.path, article.order, article.metadata) == (("Code",), 3, {"state": "new"})
