from pathlib import Path

import pytest

from tools.public_sets_page import page

PAGE = Path(__file__).parents[2] / "docs" / "public-sets.md"


def test_the_table_is_what_the_catalogue_says():
    text = PAGE.read_text(encoding="utf-8")
    assert text == page(text), "docs/public-sets.md is out of date; run 'make docs'"
    row = next(line for line in text.splitlines() if line.startswith("| `aila-statutes`"))
    assert row.endswith("| en | 82 | 50 | CC BY 4.0 | credit the authors |")


def test_the_text_around_the_table_stays():
    head = "| name | law and questions | language | articles | questions | licence | terms |"
    written = page(f"# Sets\n\n{head}\n| old |\n\nMore.\n")
    assert written.startswith(f"# Sets\n\n{head}\n| --- |")
    assert written.endswith(" |\n\nMore.\n")
    assert "| old |" not in written
    with pytest.raises(ValueError, match="no table"):
        page("# Sets\n")
