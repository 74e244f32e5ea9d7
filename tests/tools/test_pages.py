import json
import re

import pytest

from statgraph.law.query import LIMITS
from statgraph.registry import SIGNALS
from tools.material import DOCS, with_tables
from tools.pages import cli_page, notebook, public_sets


@pytest.mark.parametrize("name", ["cli.md", "public-sets.md", "tutorial.ipynb"])
def test_a_generated_page_is_up_to_date(name):
    made = {
        "cli.md": cli_page,
        "public-sets.md": lambda: with_tables(DOCS / "public-sets.md", public_sets()),
        "tutorial.ipynb": lambda: notebook(tutorial),
    }
    text, tutorial = (DOCS / name).read_text(encoding="utf-8"), (DOCS / "tutorial.md").read_text(encoding="utf-8")
    assert made[name]() == text, f"docs/{name} is out of date; run 'make docs'"


@pytest.mark.parametrize(
    ("page", "names"),
    [("ranking.md", SIGNALS.built_in), ("serving.md", LIMITS), ("integrations.md", LIMITS)],
)
def test_a_table_of_a_page_that_people_write_has_every_name(page, names):
    """The signals, and the limits of a search; a new one needs its place there."""
    rows = "".join(re.findall(r"^\| .*\n", (DOCS / page).read_text(encoding="utf-8"), re.MULTILINE))
    assert [name for name in names if f"`{name}`" not in rows] == []


def test_help_as_a_user_sees_it(run_cli):
    done = run_cli("search", "--help", env={"COLUMNS": "100"})
    section = cli_page().partition("## statgraph search\n\n```text\n")[2].partition("```")[0]
    assert done.stdout.split() == section.split()


def test_the_settings_as_a_user_sees_them(run_here):
    shown = " ".join(run_here("train", "--help-settings").stdout.split())
    assert "stage1.lr=2e-05 Learning rate; the default is the paper's. [a number greater than 0]" in shown
    assert shown.startswith("Everything that decides a run: system=qabisar ")
    assert "## Settings\n\n```text\nEverything that decides a run:\n  system=qabisar " in cli_page()


def test_text_and_code_take_turns():
    text, code, rest = json.loads(notebook("# A\n\nText.\n\n```python\na = 1\n\nb = 2\n```\n\nMore.\n"))["cells"]
    assert (text["cell_type"], "".join(text["source"])) == ("markdown", "# A\n\nText.")
    assert (code["cell_type"], "".join(code["source"])) == ("code", "a = 1\n\nb = 2")
    assert "".join(rest["source"]) == "More."


@pytest.mark.real  # a training and a service; what it calls, docs/python.md calls too, which test_api.py runs
def test_every_cell_of_the_notebook_runs(tmp_path, monkeypatch, capsys):
    written = (DOCS / "tutorial.ipynb").read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    names = {}
    for cell in json.loads(written)["cells"]:
        if cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), f"tutorial.ipynb: {cell['id']}", "exec"), names)
    said = capsys.readouterr().out
    assert "4 | Section 4 | Quiet hours | Part 2 Living together" in said
    assert "1. Section 4 Quiet hours" in said
    assert "S@1: 0.67, 95 % interval" in said
    assert said.endswith("Section 5, Community Garden Act\n")
