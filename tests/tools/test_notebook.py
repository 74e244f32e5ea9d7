"""The tutorial: its notebook is its page, and every cell runs."""

import json
from pathlib import Path

from tools.notebook import notebook

PAGE = Path(__file__).parents[2] / "docs" / "tutorial.md"


def test_text_and_code_take_turns():
    text, code, rest = json.loads(notebook("# A\n\nText.\n\n```python\na = 1\n\nb = 2\n```\n\nMore.\n"))["cells"]
    assert (text["cell_type"], "".join(text["source"])) == ("markdown", "# A\n\nText.")
    assert (code["cell_type"], "".join(code["source"])) == ("code", "a = 1\n\nb = 2")
    assert "".join(rest["source"]) == "More."


def test_the_notebook_is_the_tutorial_and_every_cell_runs(tmp_path, monkeypatch, capsys):
    written = PAGE.with_suffix(".ipynb").read_text(encoding="utf-8")
    assert written == notebook(PAGE.read_text(encoding="utf-8")), "docs/tutorial.ipynb is out of date; run 'make docs'"
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
