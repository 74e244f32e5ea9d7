from benchmarks import engine_rows
from benchmarks.engine_rows import rows_of_engines
from benchmarks.engine_trial import conditions


def test_each_engine_has_a_row_for_each_condition_or_says_why_not(monkeypatch):
    steps = {
        "best": {},
        "write": {"write_s": 2.0, "disk_mib": 46.4, "peak_mib": 300},
        "search": {"recall": dict.fromkeys(conditions(), 0.985), "open_s": 0.5, "peak_mib": 200},
        "compare": {"load": 1.0, "seconds": {"ours": {name: [0.001, 0.002, 0.009] for name in conditions()}}},
    }
    monkeypatch.setattr(engine_rows, "run_step", lambda trial, step, folder, **options: steps.get(step, {}))
    rows = rows_of_engines(3_000, n_queries=3, engines={"ours": "numpy", "theirs": "no_such_package"})
    assert [row.what for row in rows[:2]] == [
        "engine ours, 3,000 articles, all",
        "engine ours, 3,000 articles, in force (90%)",
    ]
    assert [(row.reached, row.holds) for row in rows[:4]] == [("recall 0.985; p50 2.00 ms", False)] * 4
    assert rows[4].reached == (
        "written in 2.0 s, 46 MiB on disk; peak of the writing process 300 MiB, of a searching one 200 MiB; "
        "opened in 0.50 s"
    )
    assert (rows[5].reached, rows[5].note) == ("not measured", "no_such_package was not installed.")
