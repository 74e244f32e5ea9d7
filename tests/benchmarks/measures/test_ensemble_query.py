import numpy as np
import pytest

from benchmarks.measures.ensemble_query import fused, rows_of


@pytest.mark.parametrize(("asked_s", "holds"), [(0.025, True), (0.005, False)])
def test_the_rows_say_what_holds(asked_s, holds):
    time, rival = rows_of("one", asked_s, {"ours": [0.01, 0.02, 0.006], "plain": [0.02, 0.02, 0.03]}, (61.0, 44.5))
    assert (time.asked, time.reached, time.holds) == (f"p50 under {1000 * asked_s:g} ms", "10 ms [6 to 20]", holds)
    assert "Quality on dev 61.0, the rival's 44.5" in time.note
    assert (rival.reached, rival.holds) == ("2.0 times [1.0 to 5.0]", None)


def test_ranks_are_fused():
    # 1/61 + 1/62 for article 3, 1/62 for 1 and 1/61 for 0.
    assert fused((np.array([3, 1]), np.array([0, 3])), 5).tolist() == [3, 0, 1]
