import pytest

from statgraph.retrieval.search.hits import Hit, nothing_fits


@pytest.mark.parametrize(
    ("probabilities", "expected"),
    [((0.04, 0.01), True), ((0.04, 0.05), False), ((None, None), False), ((), False)],
    ids=["all unlikely", "one likely", "unknown", "no hits"],
)
def test_nothing_fits_where_every_hit_is_unlikely(probabilities, expected):
    hits = [Hit(1, 1.0, "a", "Art. 1", ("Code",), "Text.", probability=probability) for probability in probabilities]
    assert nothing_fits(hits) is expected
