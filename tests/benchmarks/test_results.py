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
    results.write_page(["not-measured", "x"])
    assert results.PAGE.read_text() == with_tables(results.PAGE, results.performance(RESULTS.values()))
    assert "\nold\n" not in results.PAGE.read_text()
