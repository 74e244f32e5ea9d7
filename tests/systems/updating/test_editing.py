import pytest

from statgraph import Retriever
from statgraph.artifacts import held_folder
from statgraph.errors import CorpusError, RunError, UsageError
from statgraph.runs.article_store import ArticleStore
from statgraph.runs.run import RunFolder
from statgraph.systems.updating import update
from statgraph.systems.updating.editing import edit_run
from tests.systems.updating.test_update import rankings

BELLS = {"id": "bells", "text": "Bells ring at noon.", "path": ["Town Code", "Book I. Rights"], "number": "7a"}


def ids(folder) -> list[str]:
    return [article.article_id for article in ArticleStore(folder)]


@pytest.mark.parametrize("system", ["qabisar", "bm25"])
def test_what_was_added_is_found_and_once_removed_all_is_as_before(run, system):
    folder = run(system)
    before, hits = ids(folder), rankings(folder)
    summary = edit_run(folder, add=[BELLS])
    assert (summary.changes.added, summary.articles) == (("bells",), 17)
    found = {hit.article_id: hit for hit in Retriever.load(folder, device="cpu").search("When do bells ring?", 99)}
    assert (found["bells"].number, found["bells"].title) == ("7a", "7a, Town Code")
    assert edit_run(folder, remove=["bells"]).changes.repealed == ("bells",)
    assert (ids(folder), rankings(folder)) == (before, hits)
    assert [entry["articles"]["added"] for entry in RunFolder.read(folder).updates] == [1, 0]


def test_an_article_comes_behind_the_last_under_its_heading(run):
    folder = run("bm25")
    articles = list(ArticleStore(folder))
    last = max(row for row, article in enumerate(articles) if article.path[:2] == tuple(BELLS["path"]))
    deeper = [*BELLS["path"], "Chapter 9. Bells"]
    edit_run(folder, add=[BELLS, BELLS | {"id": "peals", "path": deeper}, BELLS | {"id": "new", "path": ["Bell Code"]}])
    assert [ids(folder).index(name) for name in ("bells", "peals", "new")] == [last + 1, last + 2, 18]


def test_an_article_is_replaced_where_it_is_or_moves_with_its_path(run):
    folder = run("bm25")
    edit_run(folder, add=[BELLS])
    place = ids(folder).index("bells")
    with pytest.raises(UsageError, match=r"article 'bells': .* has one of this id; add (--)?replace, or remove it"):
        edit_run(folder, add=[BELLS])
    edit_run(folder, add=[BELLS | {"text": "Bells are silent."}], overwrite=True)
    assert ArticleStore(folder).read([place])[0].text == "Bells are silent."
    edit_run(folder, add=[BELLS | {"path": ["Bell Code"]}], overwrite=True)
    assert ids(folder)[-1] == "bells"
    assert len(ids(folder)) == 17


def test_a_file_has_an_article_a_line(run, tmp_path):
    file = tmp_path / "new.jsonl"
    file.write_text('{"id": "bells", "text": "Bells ring.", "path": ["Town Code"], "valid_from": "2027-01-01"}\n')
    folder = run("bm25")
    edit_run(folder, add=file)
    assert ArticleStore(folder).validity(ids(folder).index("bells")) == ("2027-01-01", None)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('{"id": "bells"', r"new\.jsonl:1: invalid JSON at column"),
        ("[]", r"new\.jsonl:1: .*instead of an object"),
        ('{"id": "bells", "path": ["Town Code"]}', r"new\.jsonl: no article has a text"),
        ('{"id": "bells", "text": "Bells."}', r"new\.jsonl:1: .*path"),
    ],
)
def test_what_is_no_article_is_refused(run, tmp_path, line, problem):
    file, folder = tmp_path / "new.jsonl", run("bm25")
    file.write_text(line + "\n")
    with pytest.raises(CorpusError, match=problem):
        edit_run(folder, add=file)
    assert not RunFolder.read(folder).updates


def test_other_refusals_leave_the_run_as_it_was(run):
    folder = run("bm25")
    before = ids(folder)
    with pytest.raises(UsageError, match=r"article 'gone': .* has none of this id"):
        edit_run(folder, remove=[before[0], "gone"])
    with pytest.raises(UsageError, match="no article would be left"):
        edit_run(folder, remove=before)
    with held_folder(folder), pytest.raises(RunError, match="another process changes it"):
        edit_run(folder, add=[BELLS])
    assert ids(folder) == before


def test_a_refused_edit_removes_what_a_killed_one_has_left(run):
    folder = run("bm25")
    left = folder.parent / f".{folder.name}-0123abcd"
    left.mkdir()
    with pytest.raises(UsageError, match="has none of this id"):
        edit_run(folder, remove=["gone"])
    assert not left.exists()


def test_of_two_edits_at_once_none_is_lost(run, monkeypatch):
    folder, read = run("bm25"), update.article_changes

    def meanwhile(*arguments):
        monkeypatch.setattr(update, "article_changes", read)
        edit_run(folder, add=[BELLS])
        return read(*arguments)

    monkeypatch.setattr(update, "article_changes", meanwhile)
    with pytest.raises(RunError, match="another process has changed it meanwhile"):
        edit_run(folder, remove=ids(folder)[:1])
    assert "bells" in ids(folder)
    assert len(ids(folder)) == 17
