"""Two codes as the citations of fact sheets find them."""

from __future__ import annotations

import pytest

from statgraph.formats.catalogue.legi import LegiIndex

NUMBERS = ["L1-1", "L1-1-1", "L1-2", "L1-4", "L2-1A", "L2-1", "R1-1", "D1-2", "R1-3", "ANNEXEÀL'ARTICLER1-3"]


@pytest.fixture
def codes() -> LegiIndex:
    """An index of two codes whose article ids are their numbers, with the code's initial in front."""
    numbers = {"Code du vélo": {number: f"V {number}" for number in NUMBERS}, "Code de l'eau": {"L1-1": "E L1-1"}}
    return LegiIndex(
        order={title: list(ids.values()) for title, ids in numbers.items()},
        numbers=numbers,
        sections={"LEGISCTA000000000001": ["V L2-1A", "V L2-1"]},
        versions={"LEGIARTI000000000099": "V L1-4"},
    )
