import pytest

from statgraph.negatives.schedules import SCHEDULES, curriculum_shares

EASY, MIDDLE, DIFFICULT = (0.7, 0.2, 0.1), (0.15, 0.7, 0.15), (0.1, 0.2, 0.7)


def test_three_buckets_over_15_epochs_are_the_papers():
    shares = [curriculum_shares(3, epoch, 15) for epoch in range(1, 16)]
    assert shares == [EASY] * 5 + [MIDDLE] * 5 + [DIFFICULT] * 5  # to the last bit


@pytest.mark.parametrize(
    ("epochs", "phases"),
    [
        (1, [EASY]),
        (2, [EASY, MIDDLE]),
        (3, [EASY, MIDDLE, DIFFICULT]),
        (4, [EASY, MIDDLE, DIFFICULT, DIFFICULT]),
        (6, [EASY, EASY, MIDDLE, MIDDLE, DIFFICULT, DIFFICULT]),
        (7, [EASY, EASY, MIDDLE, MIDDLE, DIFFICULT, DIFFICULT, DIFFICULT]),
    ],
)
def test_phases_scale_with_the_epochs(epochs, phases):
    assert [curriculum_shares(3, epoch, epochs) for epoch in range(1, epochs + 1)] == phases


def test_other_numbers_of_buckets():
    assert curriculum_shares(1, 1, 15) == (1.0,)
    assert [curriculum_shares(2, epoch, 2) for epoch in (1, 2)] == [(0.7, 0.3), (0.3, 0.7)]
    # Weights 3, (4), 3, 2 of the second of four phases: 0.3 * 3/8, 0.7, 0.3 * 3/8, 0.3 * 2/8.
    assert curriculum_shares(4, 2, 4) == (0.1125, 0.7, 0.1125, 0.075)


@pytest.mark.parametrize("name", ["curriculum", "uniform", "hardest"])
@pytest.mark.parametrize("buckets", [1, 2, 3, 10])
def test_shares_add_up_to_one(name, buckets):
    for epochs in (1, 2, 5, 15):
        for epoch in range(1, epochs + 1):
            shares = SCHEDULES[name](buckets, epoch, epochs)
            assert len(shares) == buckets
            assert sum(shares) == pytest.approx(1)
            assert min(shares) >= 0


def test_uniform_and_hardest():
    assert SCHEDULES["uniform"](4, 3, 9) == (0.25, 0.25, 0.25, 0.25)
    assert SCHEDULES["hardest"](3, 1, 9) == (0, 0, 1)
    assert SCHEDULES["hardest"](1, 1, 9) == (1,)
