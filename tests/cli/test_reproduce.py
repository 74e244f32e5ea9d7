import re
from pathlib import Path

import pytest

from statgraph.studies import spec as spec_module
from statgraph.studies.spec import table_names

SPEC = """title: A small table
source: "nobody's paper, table 0"
baseline: BM25
metrics: [R@1, R@200, mAP]
rows:
  - {name: BM25, system: bm25, seeded: false}
  - {name: BM25 without b, system: bm25, seeded: false, settings: [bm25.b=0]}
"""


@pytest.fixture
def small_table(tmp_path, monkeypatch):
    """Put a table of two quick rows in the place of the papers', for commands run in this process."""
    (tmp_path / "specs").mkdir()
    (tmp_path / "specs" / "small.yaml").write_text(SPEC)
    monkeypatch.setattr(spec_module, "SPECS", tmp_path / "specs")


@pytest.fixture
def reproduce(run_here):
    """Return a function that runs `statgraph reproduce` in this process: (exit code, standard output, error)."""
    return lambda *arguments: run_here("reproduce", *arguments)


def test_a_table(reproduce, small_table, town, tmp_path):
    code, stdout, stderr = reproduce("small", "--corpus", town, "--seeds", 2, "--backbone", "embedded:static")
    assert code == 0
    lines = stdout.splitlines()
    assert lines[0] == "| row | seeds | R@1 | mAP | paper (BSARD) |"
    assert lines[2].startswith("| BM25 | 1 | 100.0 | ")
    assert lines[-1] == "Table folder: results/small-town-static"
    assert [line.partition(":")[0] for line in stderr.splitlines()] == ["BM25, seed 0", "BM25 without b, seed 0"]
    text = (tmp_path / "results" / "small-town-static" / "table.md").read_text()
    assert f"- Command: `statgraph reproduce small --corpus {town.name} --seeds 2 --backbone embedded:static`\n" in text
    assert len(list((tmp_path / "runs" / "reproduce" / "runs").glob("*/result.json"))) == 2


def test_a_published_table_is_checked(reproduce, small_table, town):
    reproduce("small", "--corpus", town, "--seeds", 1, "--out", "o")
    code, stdout, stderr = reproduce("small", "--check", "o/table.json.gz")
    assert (code, stderr) == (0, "")
    assert re.fullmatch(r"o/table\.json\.gz: all \d+ figures of table\.md follow from it\n", stdout)
    markdown = Path("o") / "table.md"
    markdown.write_text(markdown.read_text().replace("| BM25 | 1 | 100.0 |", "| BM25 | 1 | 99.0 |"))
    code, stdout, stderr = reproduce("small", "--check", "o/table.json.gz")
    assert (code, stdout) == (1, "")
    assert stderr.startswith("o/table.md:")
    assert "does not follow from table.json.gz, which gives '| BM25 | 1 | 100.0 |" in stderr


def test_the_tables_are_listed(reproduce):
    code, stdout, _ = reproduce("--list")
    assert (code, [line.split()[0] for line in stdout.splitlines()]) == (0, list(table_names()))
    assert "qabisar-table1    QABISAR and what it is made of\n" in stdout


def test_the_rows_are_listed(reproduce, small_table):
    code, stdout, _ = reproduce("small", "--list")
    assert code == 0
    assert stdout.splitlines()[:2] == ["small: A small table", "After nobody's paper, table 0"]
    assert stdout.splitlines()[3].split("  ")[1:] == ["BM25 without b", *[""] * 15, "bm25 bm25.b=0"]


def test_ctrl_c_says_how_to_go_on(reproduce, small_table, town, monkeypatch):
    from statgraph.studies import running

    def interrupted(*run, **more):
        raise KeyboardInterrupt

    monkeypatch.setattr(running, "train_run", interrupted)
    code, _, stderr = reproduce("small", "--corpus", town)
    assert (code, stderr) == (130, "\nTo resume, run the same command again\nInterrupted\n")
