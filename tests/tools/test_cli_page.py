from pathlib import Path

from tools.cli_page import page

PAGE = Path(__file__).parents[2] / "docs" / "cli.md"


def test_the_page_is_what_help_says():
    assert PAGE.read_text(encoding="utf-8") == page(), "docs/cli.md is out of date; run 'make docs'"


def test_help_as_a_user_sees_it(run_cli):
    done = run_cli("search", "--help", env={"COLUMNS": "100"})
    section = page().partition("## statgraph search\n\n```text\n")[2].partition("```")[0]
    assert done.stdout.split() == section.split()


def test_the_settings_as_a_user_sees_them(run_here):
    shown = " ".join(run_here("train", "--help-settings").stdout.split())
    assert "stage1.lr=2e-05 Learning rate; the default is the paper's. [a number greater than 0]" in shown
    assert shown.startswith("Everything that decides a run: system=qabisar ")
    assert "## Settings\n\n```text\nEverything that decides a run:\n  system=qabisar " in page()
