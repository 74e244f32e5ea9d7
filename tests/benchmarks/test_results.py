from dataclasses import asdict

from benchmarks import results
from benchmarks.__main__ import MEASURES
from benchmarks.measuring import Row
from statgraph.artifacts import write_json
from tools.material import BEGIN, END, with_tables

ABOUT = {"command": "python -m benchmarks x", "commit": "abc", "date": "2026-01-02", "machine": "m", "peak_mib": 1234}
ROWS = [
    Row("a question", "", "1 ms", "2 ms", False, note="tried smaller"),
    Row("a question", "rival", "2 times faster", "3.0 times", True, note="how it was measured"),
    Row("64 questions at once", "rival", "", "4.0 times", None),
    Row("cuda", "rival", "3 times", "not measured", None, note="no GPU"),
]
RESULTS = {"serving": {"about": ABOUT, "rows": [asdict(row) for row in ROWS]}}


def test_a_user_s_question_has_a_table_with_a_line_for_each_thing():
    assert results.performance(RESULTS) == [
        "**How fast is an answer?**",
        "",
        "| what | measured |",
        "| --- | --- |",
        "| a question | 2 ms<br>beside rival: 3.0 times |",
        "",
        "Measures: `serving` (2026-01-02).",
    ]


def test_every_measure_answers_a_question_or_is_of_other_tools():
    answering = [name for names in results.QUESTIONS.values() for name in names]
    assert sorted([*answering, results.TOOLS]) == sorted(MEASURES)


def test_the_page_gets_the_results_on_disk(tmp_path, monkeypatch):
    monkeypatch.setattr(results, "PAGE", tmp_path / "performance.md")
    monkeypatch.setattr(results, "PLOT", tmp_path / "index-size.svg")
    monkeypatch.setattr(results, "FOLDER", tmp_path)
    write_json(tmp_path / "serving.json", RESULTS["serving"])
    results.PAGE.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n")
    results.write_pages(["query", "serving"])
    assert results.PAGE.read_text() == with_tables(results.PAGE, results.performance(RESULTS))
    assert "\nold\n" not in results.PAGE.read_text()


def test_the_plot_has_the_times_of_each_size():
    figures = {"ours": [0.001, 0.002, 0.001], "faiss": [0.1, 0.1, 0.3]}
    what = "index of 1,000,000 articles, auto (ivf-pq), one question at a time"
    rows = [asdict(Row(what, "exact search", "", "x", None, figures))]
    circles = [line for line in results.index_plot({"x": {"rows": rows}}).splitlines() if "<circle" in line]
    assert circles == [
        '<circle class="ours" cx="400.0" cy="240.0" r="4"/>',
        '<circle class="exact" cx="400.0" cy="140.0" r="4"/>',
    ]


def test_tools_have_a_table_a_law():
    figures = {"S@1": 30, "S@3": 55, "R@100": 100, "first_s": 12.3, "again_s": 4.56, "question_ms": 7.8}
    figures |= {"memory_mb": 1234, "disk_mb": 5.6, "lines": 19}
    rows = [Row("law", "ours", "", "x", None, figures), Row("law", "theirs", "", "not measured", None, {}, "not here")]
    rows.append(Row("law 2", "ours", "", "x", None, figures))
    lines = results.tools_tables({"about": ABOUT, "rows": [asdict(row) for row in rows]})
    assert [line for line in lines if "**" in line] == ["**law**", "**law 2**"]
    assert "| ours | 30.0 | 55.0 | 100.0 | 12 | 4.6 | 7.8 | 1,234 | 5.6 | 19 |" in lines
    assert not any("theirs" in line for line in lines)
    assert {line.count("|") for line in lines if line.startswith("|")} == {11}
    assert lines[-1] == "`python -m benchmarks x`, 2026-01-02, m."
