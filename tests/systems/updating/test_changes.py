import pytest

from statgraph.law.records import Article
from statgraph.runs.article_store import StoredArticle
from statgraph.systems.updating.changes import article_changes


def stored(ids: str) -> list[StoredArticle]:
    return [StoredArticle(name, f"Art. {name}", f"text of {name}", ("Code", "I")) for name in ids]


def version(ids: str, **changes: dict) -> list[Article]:
    fields = {name: {"title": f"Art. {name}", "text": f"text of {name}", "path": ("Code", "I")} for name in ids}
    return [
        Article(article_id=name, order=row, **fields[name] | changes.get(name, {})) for row, name in enumerate(ids, 1)
    ]


def test_the_same_version_changes_nothing():
    changes = article_changes(stored("abc"), version("abc"))
    assert changes.counts() == {
        "added": 0, "repealed": 0, "amended": 0, "unchanged": 3,
        "amended_parts": {"text": 0, "path": 0, "title": 0, "rubric": 0, "place": 0, "dates": 0},
    }  # fmt: skip


def test_each_kind_is_told_apart_and_an_article_counts_once():
    new = version("xacde", a={"text": "new", "title": "new"}, c={"path": ("Code", "II"), "rubric": "new"})
    changes = article_changes(stored("abcde"), new)
    assert (changes.added, changes.repealed) == (("x",), ("b",))
    assert changes.amended == {
        "text": ("a",), "path": ("c",), "title": ("a",), "rubric": ("c",), "place": (), "dates": (),
    }  # fmt: skip
    assert changes.amended_ids == {"a", "c"}
    assert changes.counts()["unchanged"] == 2


@pytest.mark.parametrize(
    ("order", "moved"),
    [("bcdea", {"a"}), ("eabcd", {"e"}), ("abdce", {"c"}), ("edcba", set("edcb")), ("zabcde", set())],
)
def test_as_few_as_possible_have_moved(order, moved):
    found = set(article_changes(stored("abcde"), version(order)).amended["place"])
    assert len(found) == len(moved)
    assert found == moved or order in ("abdce", "edcba")  # of two that swapped, either may be the one that moved
