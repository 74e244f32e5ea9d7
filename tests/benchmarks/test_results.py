from dataclasses import asdict

from benchmarks import results
from benchmarks.measuring import Row
from statgraph.artifacts import write_json
from tools.material import BEGIN, END, with_tables

ABOUT = {"command": "python -m benchmarks x", "commit": "abc", "date": "2026-01-02", "machine": "m", "peak_mib": 1234}
ROWS = [
    Row("speed", "rival", "2 times", "3.0 times", True, note="how it was measured"),
    Row("size", "", "1 MB", "2 MB", False, note="tried smaller"),
    Row("cuda", "rival", "3 times", "not measured", None, note="no GPU"),
    Row("cuda too", "rival", "3 times", "not measured", None, note="no GPU"),
]
RESULTS = {"x": {"about": ABOUT, "rows": [asdict(row) for row in ROWS]}}


def test_the_table_says_what_holds_and_numbers_the_notes():
    assert results.performance(RESULTS.values()) == [
        "| what | against | asked | reached |  |",
        "| --- | --- | --- | --- | --- |",
        "| speed | rival | 2 times | 3.0 times | holds |",
        "| size |  | 1 MB | 2 MB | **falls short** (1) |",
        "| cuda | rival | 3 times | not measured | (2) |",
        "| cuda too | rival | 3 times | not measured | (2) |",
        "",
        "1. tried smaller",
        "2. no GPU",
        "",
        "- `python -m benchmarks x`: commit abc, 2026-01-02, m",
    ]


def test_the_page_gets_the_results_on_disk(tmp_path, monkeypatch):
    monkeypatch.setattr(results, "PAGE", tmp_path / "performance.md")
    monkeypatch.setattr(results, "FOLDER", tmp_path)
    write_json(tmp_path / "x.json", RESULTS["x"])
    results.PAGE.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n")
    results.write_pages(["not-measured", "x"])
    assert results.PAGE.read_text() == with_tables(results.PAGE, results.performance(RESULTS.values()))
    assert "\nold\n" not in results.PAGE.read_text()


def test_tools_have_a_table_a_law():
    figures = {"S@1": 30, "S@3": 55, "R@100": 100, "first_s": 12.3, "again_s": 4.56, "question_ms": 7.8}
    figures |= {"memory_mb": 1234, "disk_mb": 5.6, "lines": 19}
    rows = [Row("law", "ours", "", "x", None, figures), Row("law", "theirs", "", "not measured", None, {}, "not here")]
    rows.append(Row("law 2", "ours", "", "x", None, figures))
    lines = results.tools_tables({"about": ABOUT, "rows": [asdict(row) for row in rows]})
    assert [line for line in lines if "**" in line] == ["**law**", "**law 2**"]
    assert "| ours | 30.0 | 55.0 | 100.0 | 12 | 4.6 | 7.8 | 1,234 | 5.6 | 19 |" in lines
    assert lines[5] == "| theirs | not here |  |  |  |  |  |  |  |  |"
    assert {line.count("|") for line in lines if line.startswith("|")} == {11}
    assert lines[-1] == "`python -m benchmarks x`: commit abc, 2026-01-02, m."
