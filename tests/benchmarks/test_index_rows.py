import pytest

from benchmarks import index_rows
from benchmarks.index_rows import rows_of, rows_of_kind, step_figures

MIB = 2**20


@pytest.fixture
def figures():
    """Return figures of ours at 2 ms, FAISS at 50 and torch at 30."""
    times = {"ours": [0.002] * 3, "faiss": [0.05] * 3, "torch": [0.03] * 3}
    return {
        "drawn": {},
        "built": {
            "kind": "ivf-pq",
            "bytes": {"index.faiss": 3 * MIB, "vectors.npy": 9 * MIB},
            "build_s": 7.0,
            "peak_mib": 800,
        },
        "searched": {
            "recall": 0.97,
            "alone_s": times,
            "together_s": times,
            "n_exact": 10**6,
            "search_peak_mib": 500,
        },
    }


def test_a_million_reach_what_was_asked_or_do_not(figures):
    rows = rows_of(10**6, "auto", figures, n_batch=64)
    assert [row.holds for row in rows] == [True, False, True, False, None]
    assert rows[0].what == "index of 1,000,000 articles, auto (ivf-pq), one question at a time"
    assert rows[0].reached == "recall 0.970, 25.0 times [25.0 to 25.0]; 2.00 ms each"
    assert rows[3].what.endswith("64 questions at once")
    assert [row.note for row in rows] == ["", index_rows._SHORT_NOTE, "", index_rows._SHORT_NOTE, ""]
    assert rows[4].reached == (
        "3 MiB of index in memory, 12 MiB on disk; peak of a searching process 500 MiB, of the building one 800 MiB; "
        "built in 7 s"
    )


def test_poor_recall_does_not_hold(figures):
    figures["searched"]["recall"] = 0.94
    assert [row.holds for row in rows_of(10**6, "auto", figures, n_batch=64)][:4] == [False] * 4


def test_few_articles_and_named_kinds_are_asked_nothing(figures):
    figures["searched"]["n_exact"] = 10**5
    assert {row.holds for row in rows_of(10**5, "auto", figures, n_batch=64)} == {None}
    assert {row.asked for row in rows_of(10**6, "ivf-pq", figures, n_batch=64)} == {""}


@pytest.mark.parametrize(("peak_mib", "holds"), [(11_444, True), (11_445, False)])  # 12 GB are 11,444.1 MiB
def test_ten_million_must_fit_and_are_compared_with_a_part(figures, peak_mib, holds):
    figures["built"]["peak_mib"] = peak_mib
    rows = rows_of(10**7, "auto", figures, n_batch=64)
    assert (rows[4].asked, rows[4].holds) == ("within 12 GB", holds)
    assert rows[0].note.startswith("The rivals hold the first 1,000,000 vectors, float32 in memory; their times are mu")
    assert "multiplied by 10, since" in rows[0].note


def test_a_step_that_has_run_is_not_run_again(tmp_path, monkeypatch):
    runs = []
    monkeypatch.setattr(
        index_rows, "run_step", lambda trial, step, folder, **options: runs.append(step) or {"n": len(runs)}
    )
    assert (
        step_figures(tmp_path, "ivf-pq-built", "build") == step_figures(tmp_path, "ivf-pq-built", "build") == {"n": 1}
    )
    assert runs == ["build"]


def test_each_kind_is_built_anew_over_the_same_vectors(tmp_path, monkeypatch, figures):
    steps = []

    def run_step(trial, step, folder, **options):
        steps.append(step)
        if step == "build":
            (folder / "index").mkdir()  # refused were the last one still there
        return figures[{"draw": "drawn", "build": "built", "search": "searched"}[step]]

    monkeypatch.setattr(index_rows, "run_step", run_step)
    for kind in ("ivf-pq", "auto"):
        rows_of_kind(tmp_path, 100, kind, n_queries=5, n_single=1, rounds=1)
    assert steps == ["draw", "build", "search", "build", "search"]
