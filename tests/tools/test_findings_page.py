from pathlib import Path
from xml.etree import ElementTree

import pytest

from statgraph.studies.table_files import write_values
from tools.findings_page import first_three, page, plot

DOCS = Path(__file__).parents[2] / "docs"
PAGE = """## Does it help?

- Our rows: French [mAP](results/a.md "ours"), [S@3](results/a.md "ours"); German [mAP](results/a.md "ours / de").

| ranker | mAP | S@3 |
| --- | ---: | ---: |
| ours | | |

[first](results/a.md)
"""


def compared(points, low, high, p_value) -> dict:
    ends = {"difference": points / 100, "low": low / 100, "high": high / 100}
    return {**ends, "p_value": p_value, "significant": low > 0 or high < 0, "n_questions": 4}


def write(path, differences) -> None:
    means = {"mAP": 0.31, "S@3": 0.275}
    metrics = {metric: {"mean": mean, "sd": None, "n_seeds": 1} for metric, mean in means.items()}
    strata = {"all": {"n_questions": 4, "metrics": metrics}}
    row = {"name": "ours", "system": "dsr", "seeds": [0], "against": "theirs", "paper": {}, "strata": strata}
    of_table = {"table": "t", "title": "T", "source": "S", "metrics": ["mAP", "S@3"]}
    write_values(path, {**of_table, "rows": [{**row, "differences": differences}]})


@pytest.fixture
def tables(tmp_path):
    """Write a table, of which S@3 is significant before p is adjusted (0.04 * 2 / 2), and mAP is not after."""
    on_all = {"mAP": compared(2, 1, 3, 0.03), "S@3": compared(-4, -6, 0, 0.04)}
    write(tmp_path / "a.json.gz", {"all": on_all, "de": {"mAP": compared(25, 12, 38, 0.06)}})
    return tmp_path


def test_the_page_follows_from_the_published_tables():
    text = (DOCS / "results.md").read_text(encoding="utf-8")
    assert page(text, DOCS / "results") == text, "docs/results.md is out of date; run 'make docs'"
    for name, made in (("findings", plot(text, DOCS / "results")), ("first-three", first_three(DOCS / "results"))):
        assert made == (DOCS / "images" / f"{name}.svg").read_text(encoding="utf-8"), "run 'make docs'"


def test_differences_and_figures_are_those_of_the_tables(tables):
    text = page(PAGE, tables)
    assert '[mAP +2.0 [+1.0, +3.0]](results/a.md "ours"), [S@3 -4.0 [-6.0, +0.0] n.s.](results/a.md "ours")' in text
    assert 'German [mAP +25.0 [+12.0, +38.0] n.s.](results/a.md "ours / de").' in text
    assert "\n| ours | 31.0 | 27.5 |\n" in text
    assert page(text, tables) == text


def test_the_plot_has_the_first_difference_of_each_law(tables):
    svg = ElementTree.fromstring(plot(PAGE, tables))
    space = "{http://www.w3.org/2000/svg}"
    said = [text.text for text in svg.iter(f"{space}text")]
    assert said[-4:] == ["Does it help?", "Our rows", "French, mAP", "German, mAP"]
    assert said[:-4] == ["0", "+10", "+20", "+30", "+40"]
    circles = [(circle.get("class"), float(circle.get("cx"))) for circle in svg.iter(f"{space}circle")]
    assert circles == [("ours", 204.0), ("open", 365.0)]


@pytest.mark.parametrize("wrong", ['[R@100](results/a.md "ours")', '[mAP](results/a.md "others")'])
def test_a_difference_or_a_ranker_that_no_table_has_is_refused(tables, wrong):
    with pytest.raises(ValueError, match=r"docs/results\.md: a compares no"):
        page(f"- Finding: French {wrong}.\n", tables)
    with pytest.raises(ValueError, match="no ranker 'others' in a"):
        page(PAGE.replace("| ours |", "| others |"), tables)
