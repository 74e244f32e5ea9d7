import gzip
import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from statgraph.errors import RunError, UsageError
from statgraph.studies.reproduce import Request, reproduce
from statgraph.studies.spec import read_table
from statgraph.studies.table_files import check_folder, check_table, markdown_beside, read_values, write_values
from tools.results_page import table_page

RESULTS = Path(__file__).parents[2] / "docs" / "results"
PUBLISHED = sorted(RESULTS.glob("*.json.gz"))


@pytest.fixture(scope="module", params=[False, True], ids=["plain", "by set"])
def published(request, small_table, town_corpus, no_display, tmp_path_factory):
    """Return the folder of a table of the town, made once: BM25 and BM25 with another b."""
    bm25 = small_table.rows[0]
    other = replace(bm25, name="BM25 without b", settings=("device=cpu", "bm25.b=0"))
    spec = replace(small_table, rows=(bm25, other), baseline="BM25", by_set=request.param)
    folder = tmp_path_factory.mktemp("published")
    request = Request(spec, seeds=1, split="test", work=folder / "work", command="statgraph reproduce small-table")
    reproduce(request, town_corpus, folder / "out", display=no_display)
    return folder / "out"


@pytest.fixture
def table(published, tmp_path):
    """Return the table.json.gz of a copy of that table."""
    return Path(shutil.copytree(published, tmp_path / "out")) / "table.json.gz"


def changed(path, change) -> None:
    values = read_values(path)
    change(values)
    write_values(path, values)


def test_a_table_follows_from_its_json_with_and_without_its_page(table):
    checked = check_table("small-table", table)
    assert checked.problems == ()
    figures = sum(line.count(".") for line in markdown_beside(table).read_text().splitlines() if line[:1] == "|")
    assert 8 < checked.n_figures <= figures
    assert table_page(table) == markdown_beside(table).read_text()
    markdown_beside(table).unlink()
    assert check_table("small-table", table) == checked


# Recomputing them all takes a minute and more of bootstrap: `make real`, and here the smallest.
QUICK = min(PUBLISHED, key=lambda path: path.stat().st_size)


@pytest.mark.parametrize(
    "path",
    [pytest.param(path, id=path.stem, marks=[] if path == QUICK else pytest.mark.real) for path in PUBLISHED],
)
def test_a_published_table_follows_from_its_json(path):
    assert check_table(read_values(path)["table"], path).problems == ()


def test_a_table_without_values_by_question_is_refused(table):
    changed(table, lambda values: values.pop("runs"))
    with pytest.raises(RunError, match=r"table\.json\.gz: holds no values by question, .*statgraph reproduce "):
        check_table("", table)


@pytest.mark.parametrize("name", ["gdsr-figure3", "gdsr-figure4"])
def test_a_figure_follows_from_the_values_of_its_questions_or_codes(name, town_corpus, no_display, tmp_path):
    request = Request(read_table(name), seeds=1, split="dev", work=tmp_path / "work", command="statgraph reproduce")
    reproduce(request, town_corpus, tmp_path / "out", display=no_display)
    path = tmp_path / "out" / "table.json.gz"
    checked = check_table(name, path)
    assert checked.problems == ()
    assert checked.n_figures > 4

    def other(values):
        if name == "gdsr-figure3":
            code, (mean, pairs) = next(iter(values["by_code"]["1"].items()))
            values["by_code"]["1"][code] = [mean + 0.1, pairs]
        else:
            values["by_question"][values["metric"]][0] = [0.123] * len(town_corpus.split("dev"))

    changed(path, other)
    assert len(check_table(name, path).problems) == 2  # the line that is wrong, and the one that is missing


def test_a_summary_that_does_not_follow_from_the_values_by_question_is_found(table):
    def of_summary(values):
        values["rows"][0]["strata"]["all"]["metrics"]["R@1"]["mean"] += 0.01

    def of_a_question(values):
        values["runs"]["BM25, seed 0"]["questions"]["metrics"]["R@1"][0] += 0.5

    for change in (of_summary, of_a_question):
        before = table.read_bytes()
        changed(table, change)
        problems = check_table("small-table", table).problems
        assert [problem for problem in problems if ": BM25, strata, all, metrics, R@1, mean is " in problem]
        table.write_bytes(before)


@pytest.mark.parametrize(
    ("place", "change"),
    [
        ("BM25, seed 0", lambda values: values["runs"]["BM25, seed 0"]["config"]["bm25"].update(k1=9.0)),
        ("BM25, seed 0", lambda values: values["runs"]["BM25, seed 0"].update(commit="1234567")),
        ("BM25, seed 0", lambda values: values["runs"]["BM25, seed 0"]["corpus"].update(content_hash="0" * 64)),
        ("BM25, seed 0", lambda values: values["records"].pop("BM25, seed 0")),
        ("the table", lambda values: values["about"].update(commits=["1234567"])),
        ("the table", lambda values: values["rows"][1].update(settings=["device=cpu"])),
    ],
    ids=["setting", "commit", "corpus", "no digest", "commits of the table", "setting of a row"],
)
def test_a_record_that_was_changed_by_hand_is_one_line(table, place, change):
    values = read_values(table)
    change(values)
    table.write_bytes(gzip.compress(json.dumps(values).encode()))
    (problem,) = check_table("small-table", table).problems
    assert problem == (
        f"{table}: the record of {place} (settings, commit, machine, times) is not the one written; "
        "publish table.json.gz and table.md as 'statgraph reproduce' wrote them"
    )


def test_every_table_of_a_folder_is_checked(table):
    folder = table.parent
    (folder / "README.md").write_text("# Tables\n")
    assert [checked.problems for checked in check_folder(folder).values()] == [()]
    (folder / "other.md").write_text("| row |\n")
    shutil.copy(table, folder / "third.json.gz")  # has no page, and needs none
    checked = check_folder(folder)
    assert [path.name for path, one in checked.items() if one.problems] == ["other.json.gz"]
    with pytest.raises(UsageError, match="has no table"):
        check_folder(folder / "nothing")


def test_the_json_is_the_same_file_each_time(table):
    before = table.read_bytes()
    write_values(table, read_values(table))
    assert table.read_bytes() == before


@pytest.mark.parametrize(
    "content", [b"{}", gzip.compress(b"{", mtime=0), gzip.compress(b"[]", mtime=0), gzip.compress(b"{}", mtime=0)[:-9]]
)
def test_a_damaged_json_is_refused(tmp_path, content):
    path = tmp_path / "table.json.gz"
    path.write_bytes(content)
    with pytest.raises(RunError, match=r"table\.json\.gz: not .*; publish"):
        check_table("t", path)


def test_runs_may_have_questions_of_their_own(table):
    def put_back(values):
        asked = values.pop("questions")
        for run in values["runs"].values():
            run["questions"] |= asked

    changed(table, put_back)
    assert check_table("small-table", table).problems == ()


@pytest.mark.parametrize(
    "change",
    [
        lambda values: values.pop("rows"),
        lambda values: values["runs"]["BM25, seed 0"].pop("questions"),
        lambda values: values.update(runs=[{"id": "BM25, seed 0"}]),
    ],
)
def test_a_json_without_what_the_figures_follow_from_is_refused(table, change):
    changed(table, change)
    with pytest.raises(RunError, match=r"table\.json\.gz: .*; (publish|make the table again)"):
        check_table("small-table", table)


def test_another_table_is_refused(table):
    with pytest.raises(UsageError, match="small-table"):
        check_table("qabisar-table1", table)
