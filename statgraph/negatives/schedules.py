"""How often each bucket of difficulty is drawn from, epoch by epoch (CuSINeS, section 3)."""

from __future__ import annotations

from collections.abc import Callable


def curriculum_shares(buckets: int, epoch: int, epochs: int) -> tuple[float, ...]:
    """Return each bucket's share, easy to difficult, in a curriculum of as many phases as there are buckets.

    Phase i draws 0.7 from bucket i. The remaining 0.3 goes to the other buckets j in proportion to
    `buckets` - |i - j|: the nearer in difficulty, the more. Three buckets give the paper's shares: 0.7, 0.2, 0.1,
    then 0.15, 0.7, 0.15, then 0.1, 0.2, 0.7. One bucket has it all.

    Epoch e of n belongs to phase ceil(phases * e / n), five epochs each in the paper's 15. With fewer epochs than
    phases, epoch e is phase e and the last phases are left out: a curriculum begins with what is easy.
    """
    if buckets == 1:
        return (1.0,)
    phase = epoch if epochs < buckets else -(-buckets * epoch // epochs)
    weights = [buckets - abs(phase - 1 - number) for number in range(buckets)]
    others = sum(weights) - buckets  # the phase's own bucket has the weight `buckets`
    # As fractions of whole numbers, which round to the paper's decimals; 0.3 * 2 / 3 would not.
    return tuple(0.7 if number == phase - 1 else 3 * weight / (10 * others) for number, weight in enumerate(weights))


def uniform_shares(buckets: int, epoch: int, epochs: int) -> tuple[float, ...]:
    """Return equal shares."""
    return (1 / buckets,) * buckets


def hardest_shares(buckets: int, epoch: int, epochs: int) -> tuple[float, ...]:
    """Return all for the most difficult bucket."""
    return (0.0,) * (buckets - 1) + (1.0,)


# What `negatives.schedule` can name: `(buckets, epoch, epochs) -> shares`; epochs count from 1.
SCHEDULES: dict[str, Callable[[int, int, int], tuple[float, ...]]] = {
    "curriculum": curriculum_shares,
    "uniform": uniform_shares,
    "hardest": hardest_shares,
}
