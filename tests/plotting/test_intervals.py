import numpy as np
import pytest

from statgraph.plotting.intervals import doubling_counts


@pytest.mark.parametrize(
    ("values", "names", "counts"),
    [
        ([0, 0, 1, 2, 3, 4, 7, 8], ["0", "1", "2–3", "4–7", "8–15"], [2, 1, 2, 2, 1]),
        ([5, 40], ["4–7", "8–15", "16–31", "32–63"], [1, 0, 0, 1]),
        ([1024], ["1,024–2,047"], [1]),
        ([], [], []),
    ],
)
def test_intervals_that_double(values, names, counts):
    assert doubling_counts(np.array(values, dtype=np.int64)) == (names, counts)
