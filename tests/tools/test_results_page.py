from pathlib import Path

import pytest

from statgraph.studies.table_files import write_values
from tools.results_page import page

DOCS = Path(__file__).parents[2] / "docs"
PAGE = """Adjusted over 0 distinct comparisons.

| row | seeds | mAP |
| --- | --- | --- |
| as it was | 9 | 99.9 |

| row | against | mAP |
| --- | --- | --- |
| as it was | before | +9.9 [+9.9, +9.9], q = 0.999 |
| another | row | - |

[first](results/first.md), [again](results/first.md)

| row | against | mAP |
| --- | --- | --- |

[second](results/second.md)
"""


def difference(points, low, high, p_value) -> dict:
    significant = (low > 0 or high < 0) and p_value < 0.05
    ends = {"difference": points / 100, "low": low / 100, "high": high / 100}
    return {**ends, "p_value": p_value, "significant": significant, "n_questions": 4}


def write(path, *differences, paper=40.0, unseen=()) -> None:
    """Write a table whose rows differ so from a row "base", of which seeds deviate by 0.5 points of mAP."""
    mean = {"mean": 0.31, "sd": 0.005, "n_seeds": 3}
    rows = [{"name": "base", "against": "", "differences": {}}]
    for number, found in enumerate(differences, start=1):
        rows.append({"name": f"row {number}", "against": "base", "differences": {"all": {"mAP": found}}})
    for row, found in zip(rows[1:], unseen, strict=False):
        row["differences"]["unseen"] = {"mAP": found}
    for row in rows:
        strata = {"all": {"n_questions": 4, "metrics": {"mAP": mean}}}
        row |= {"system": "dsr", "seeds": [0, 1, 2], "strata": strata, "paper": {"mAP": paper} if paper else {}}
    write_values(path, {"table": "t", "title": "T", "source": "S", "metrics": ["mAP"], "rows": rows})


@pytest.fixture
def written(tmp_path):
    """Return a function that returns the page of two tables with these differences, as lines."""

    def lines(first, second, **more):
        write(tmp_path / "first.json.gz", *first, **more)
        write(tmp_path / "second.json.gz", *second)
        return page(PAGE, tmp_path).splitlines()

    return lines


def differences_of(lines) -> list[str]:
    return [line.rpartition(" | base | ")[2] for line in lines if " | base | " in line]


def test_the_page_follows_from_the_published_tables():
    text = (DOCS / "tables.md").read_text(encoding="utf-8")
    assert page(text, DOCS / "results") == text, "docs/tables.md is out of date; run 'make docs'"


def test_p_values_are_adjusted_over_all_tables(written):
    # By rank: 0.0004 * 4 / 1, 0.010 * 4 / 2, 0.030 * 4 / 3, 0.900 * 4 / 4.
    first = difference(2, 1, 3, 0.010), difference(-1, -2, 3, 0.900)
    second = difference(3, 1, 5, 0.030), difference(4, 1, 6, 0.0004)
    lines = written(first, second)
    assert lines[0] == "Adjusted over 4 distinct comparisons."
    assert differences_of(lines) == [
        "+2.0 [+1.0, +3.0], q = 0.020 |",
        "-1.0 [-2.0, +3.0], q = 0.900, n.s. |",
        "+3.0 [+1.0, +5.0], q = 0.040 |",
        "+4.0 [+1.0, +6.0], q = 0.002 |",
    ]


def test_a_comparison_and_its_mirror_are_one_test(written):
    lines = written([difference(2, 1, 3, 0.01)], [difference(-2, -3, -1, 0.01)])
    assert lines[0] == "Adjusted over 1 distinct comparisons."
    assert [row[-11:] for row in differences_of(lines)] == ["q = 0.010 |"] * 2


@pytest.mark.parametrize(("ends", "marked"), [((-0.4, 0.5), True), ((-0.5, 0.6), False)])
def test_seeds_that_deviate_more_than_the_interval_are_marked(written, ends, marked):
    lines = written([difference(0, *ends, 0.9)], [difference(3, 1, 5, 0.03)])
    assert ("†" in differences_of(lines)[0]) == marked


def test_a_table_without_a_link_is_refused(tmp_path):
    with pytest.raises(ValueError, match="results/"):
        page("| row | against | mAP |\n| --- | --- | --- |\n", tmp_path)
