import pytest

from benchmarks.measures.ensemble_million import rows_of

BUILT = {
    "index": "ivf-pq",
    "build_s": 61.4,
    "steps": [{"name": "articles", "seconds": 2.2, "peak_mib": 10}],
    "bytes": 3 * 2**20,
    "peak_mib": 4000,
}


@pytest.mark.parametrize(("slow_s", "holds"), [(0.05, True), (0.2, False)])
def test_the_rows_say_what_holds(slow_s, holds):
    searched = {
        "seconds": {"ours": [0.03, 0.04, 0.05], "trees": [0.05, slow_s, slow_s], "plain": [0.06, 0.08, 0.2]},
        "load": 0.1,
        "load_s": 1.5,
        "first_s": 0.5,
        "first_named_s": 20,
        "named_s": [0.04],
        "search_peak_mib": 2000,
    }
    fixed, trees, rival, memory = rows_of(1_000_000, BUILT, searched)
    assert (fixed.reached, fixed.holds) == ("40 ms; p99 49.8 ms", True)
    assert trees.holds is holds
    assert rival.reached == "2.0 times [2.0 to 4.0]"
    assert "2,000 MiB" in memory.reached
    assert "3 MiB on disk" in memory.reached
    assert "built in 61 s (articles 2 s)" in memory.reached
