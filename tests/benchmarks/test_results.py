import re
from dataclasses import asdict
from xml.etree import ElementTree

import pytest

from benchmarks import results
from benchmarks.measuring import Row

SVG = "{http://www.w3.org/2000/svg}"
ABOUT = {"command": "python -m benchmarks x", "commit": "abc", "date": "2026-01-02", "machine": "m", "peak_mib": 1234}


def words_of(svg: str) -> list[str]:
    return [text.text for text in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def test_the_table_has_a_line_for_each_thing_and_its_measure():
    rows = [
        Row("serving", "", "2 ms", note="tried smaller"),
        Row("serving: memory", "", "3 MiB"),
        Row("a layer", "rival", "3.0 times", note="how it was measured"),
        Row("64 questions at once", "rival", "4.0 times"),
    ]
    assert results.performance({"serving": {"about": ABOUT, "rows": [asdict(row) for row in rows]}}) == [
        "| what | measured | measure |",
        "| --- | --- | --- |",
        "| serving | 2 ms<br>memory: 3 MiB | `serving` |",
        "| a layer | beside rival: 3.0 times | `serving` |",
    ]


@pytest.mark.parametrize("path", results.pages(), ids=lambda path: path.name)
def test_the_pages_and_plots_follow_from_the_results(path):
    assert results.pages()[path] == path.read_text(encoding="utf-8"), f"{path} is out of date; run 'make docs'"


def test_training_is_plotted_by_step_without_the_shortest():
    figures = {
        "s": 120,
        "steps": {"member heads@embedded:multilingual-e5-small": 90, "ranker": 29.5, "evaluation": 0.5},
    }
    row = Row("`train`, embedding included: law, 3 articles", "", "2.0 min, 5 MiB", figures)
    said = words_of(results.training_plot([asdict(row)]))
    assert said == ["minutes", "law, 3 articles: 2.0 min, 5 MiB", "heads@e5-small", "1.5", "ranker", "0.5"]


def test_answers_are_plotted_beside_those_of_a_plain_program():
    rows = [
        Row("one question, run loaded: law", "", "x", {"seconds": [0.002, 0.003], "plain_seconds": [0.02]}),
        Row("one question, run loaded: law", "a rival", "x"),
        Row("one question to an ensemble: a letter", "", "x", {"seconds": [0.1], "plain_seconds": [0.2]}),
    ]
    said = words_of(results.answers_plot(map(asdict, rows)))
    assert said[1:6] == ["law", "statgraph", "2.5", "put together by hand", "20"]
    assert said[6:] == ["ensemble: a letter", "statgraph", "100", "put together by hand", "200"]


def test_tools_have_a_table_and_bars_for_each_law():
    figures = {"S@1": 30, "S@3": 55, "R@100": 100, "first_s": 12.3, "again_s": 4.56, "question_ms": 7.8}
    figures |= {"memory_mb": 1234, "disk_mb": 5.6, "lines": 19}
    laws = ["law, 9 articles, 103 questions", "law 2, 9 articles, 166 questions"]
    rows = [Row(laws[0], "statgraph", "x", figures), Row(laws[0], "theirs", "not measured")]
    rows.append(Row("law, 9 articles, 20 questions", "statgraph", "too few", figures))
    without = {name: value for name, value in figures.items() if name != "first_s"}
    measured = [rows, [Row(laws[1], "LanceDB", "x", without)]]
    of_tools = [{"about": ABOUT, "rows": [asdict(row) for row in of_one]} for of_one in measured]
    lines = results.tools_tables(of_tools)
    assert [line for line in lines if "**" in line] == [f"**{law}**" for law in laws]
    assert "| statgraph | 12 | 4.6 | 1,234 | 5.6 | 19 |" in lines
    assert "| LanceDB | 4.6 | 1,234 | 5.6 | 19 |" in lines
    assert not any("theirs" in line for line in lines)
    assert lines[-1] == "`python -m benchmarks x`, 2026-01-02, m."
    svg = results.tools_plot(of_tools)
    assert re.findall(r'<rect class="(\w+)"', svg) == ["ours"] * 4 + ["theirs"] * 4
    assert words_of(svg)[4:] == [
        laws[0],
        "statgraph",
        "30.0",
        "55.0",
        "100.0",
        "7.8",
        laws[1],
        "LanceDB",
        *words_of(svg)[-4:],
    ]
