from pathlib import Path

import pytest

from statgraph.studies.results_page import page

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


def published(differences: str, *, stratum: str = "Differences") -> str:
    return f"""# A table

| row | seeds | R@10 | mAP | R@10, paper |
| --- | --- | --- | --- | --- |
| base | 1 | 20.0 | 30.0 | - |
| graph | 3 | 21.0 ± 0.1 | 31.0 ± 0.5 | 40.0 |

## {stratum}

| row | against | mAP |
| --- | --- | --- |
{differences}

## Time and memory

| row | steps, s | training and evaluation | peak memory |
| --- | --- | --- | --- |
| base | evaluation 1 | 1 s | 10 MiB |
"""


def written(tmp_path, first: str, second: str) -> list[str]:
    """Return the rows of the page's two tables, and its first line, for these differences in the published files."""
    (tmp_path / "first.md").write_text(published(first))
    (tmp_path / "second.md").write_text(published(second))
    lines = page(PAGE, tmp_path).splitlines()
    return [
        lines[0],
        *(line for line in lines if line.startswith(("| base | graph", "| base | base", "| graph | base"))),
    ]


def test_the_page_follows_from_the_published_tables():
    text = (DOCS / "tables.md").read_text(encoding="utf-8")
    assert page(text, DOCS / "results") == text, "docs/tables.md is out of date; run 'make docs'"


def test_p_values_are_adjusted_over_all_tables(tmp_path):
    # By rank: 0.001 * 4 / 1, 0.010 * 4 / 2, 0.030 * 4 / 3, 0.900 * 4 / 4.
    first = "| graph | base | +2.0 [+1.0, +3.0], p = 0.010 |\n| base | graph | -1.0 [-2.0, +3.0], p = 0.900, n.s. |"
    second = "| graph | base | +3.0 [+1.0, +5.0], p = 0.030 |\n| base | graph | +4.0 [+1.0, +6.0], p < 0.001 |"
    assert written(tmp_path, first, second) == [
        "Adjusted over 4 distinct comparisons.",
        "| graph | base | +2.0 [+1.0, +3.0], q = 0.020 |",
        "| base | graph | -1.0 [-2.0, +3.0], q = 0.900, n.s. |",
        "| graph | base | +3.0 [+1.0, +5.0], q = 0.040 |",
        "| base | graph | +4.0 [+1.0, +6.0], q = 0.004 |",
    ]


def test_the_figures_are_those_of_the_file_linked_below(tmp_path):
    (tmp_path / "first.md").write_text(published("| graph | base | +2.0 [+1.0, +3.0], p = 0.010 |"))
    (tmp_path / "second.md").write_text(published("| graph | base | +3.0 [+1.0, +5.0], p = 0.030 |"))
    assert page(PAGE, tmp_path).split("\n\n")[1].splitlines() == [
        "| row | seeds | R@10 | mAP | R@10, paper |",
        "| --- | --- | --- | --- | --- |",
        "| base | 1 | 20.0 | 30.0 | - |",
        "| graph | 3 | 21.0 ± 0.1 | 31.0 ± 0.5 | 40.0 |",
    ]
    first = (tmp_path / "first.md").read_text()
    (tmp_path / "first.md").write_text(first.replace("R@10, paper", "paper (BSARD)").replace("40.0", "-"))
    assert page(PAGE, tmp_path).split("\n\n")[1].splitlines()[::2] == [
        "| row | seeds | R@10 | mAP |",
        "| base | 1 | 20.0 | 30.0 |",
    ]


def test_a_difference_above_the_level_once_adjusted_is_marked(tmp_path):
    rows = written(
        tmp_path,
        "| graph | base | +2.0 [+1.0, +3.0], p = 0.030 |",
        "| graph | base | +0.0 [-1.0, +1.0], p = 0.900, n.s. |",
    )
    assert rows[1].endswith("q = 0.060, n.s. |")


def test_a_comparison_and_its_mirror_are_one_test(tmp_path):
    rows = written(
        tmp_path,
        "| graph | base | +2.0 [+1.0, +3.0], p = 0.010 |",
        "| base | graph | -2.0 [-3.0, -1.0], p = 0.010 |",
    )
    assert rows[0] == "Adjusted over 1 distinct comparisons."
    assert [row[-11:] for row in rows[1:]] == ["q = 0.010 |"] * 2


def test_strata_are_adjusted_too_but_not_shown(tmp_path):
    (tmp_path / "first.md").write_text(
        published("| graph | base | +2.0 [+1.0, +3.0], p = 0.010 |")
        + "## Seen questions\n\n| row | against | mAP |\n| --- | --- | --- |\n"
        "| graph | base | +2.0 [+1.0, +3.0], p = 0.010 |\n| base | graph | +0.0 [-1.0, +1.0], p = 0.900, n.s. |\n"
    )
    (tmp_path / "second.md").write_text(published("| graph | base | +0.0 [-1.0, +1.0], p = 0.900, n.s. |"))
    text = page(PAGE, tmp_path)
    assert "over 4 distinct" in text
    assert text.count("| graph | base | +2.0 [+1.0, +3.0], q = 0.020 |") == 1


@pytest.mark.parametrize(("interval", "marked"), [("[-0.4, +0.5]", True), ("[-0.5, +0.5]", False)])
def test_seeds_that_deviate_more_than_the_interval_are_marked(tmp_path, interval, marked):
    cell = f"+0.0 {interval}, p = 0.900, n.s."
    rows = written(tmp_path, f"| graph | base | {cell} |", f"| base | base | {cell} |")
    assert [("†" in row) for row in rows[1:]] == [marked, False]


def test_what_cannot_be_read_is_said(tmp_path):
    with pytest.raises(ValueError, match="results/"):
        page("| row | against | mAP |\n| --- | --- | --- |\n", tmp_path)
    with pytest.raises(ValueError, match=r"\+2\.0"):
        written(tmp_path, "| graph | base | +2.0 |", "")
