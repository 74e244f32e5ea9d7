"""A small table on the town, and results made up for the arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import contextmanager

import numpy as np
import pytest

from statgraph.evaluation.metrics import METRICS, QuestionMetrics
from statgraph.progress import silent
from statgraph.retrieval.search.evaluating import SplitMetrics
from statgraph.studies.spec import RowSpec, TableSpec
from statgraph.studies.store import RunResult


@pytest.fixture(scope="session")
def small_table(quick_settings) -> TableSpec:
    """Return a table of three rows: BM25, a bi-encoder and QABISAR, each dense one trained within a second."""
    quick = tuple(setting for setting in quick_settings if not setting.startswith("stage2.epochs"))
    return TableSpec(
        name="small-table",
        title="A small table",
        source="nobody's paper, table 0",
        baseline="stage 1",
        metrics=("R@1", "R@200", "mAP"),
        rows=(
            RowSpec("BM25", "bm25", ("device=cpu",), seeded=False),
            RowSpec("stage 1", "dsr", (*quick, "stage1.epochs=2"), paper={"R@1": 77.7}),
            RowSpec("QABISAR", "qabisar", (*quick, "stage2.epochs=2"), against="BM25"),
        ),
    )


@pytest.fixture(scope="session")
def ensemble_settings(quick_settings, quick_backbone) -> tuple[str, ...]:
    """Return the settings of a small ensemble, a QABISAR and an untrained encoder."""
    own = (setting for setting in quick_settings if not setting.startswith("encoder.backbone"))
    return (*own, f"ensemble.members=qabisar@{quick_backbone},zero-shot@{quick_backbone}")


@pytest.fixture
def made_up():
    """Return a function that makes a result of four questions, the first two seen, from their R@200; every other metric
    is half of it."""

    def result(recalls: Sequence[float], *, seed: int = 0, **about) -> RunResult:
        values = {name: np.array(recalls) * (1 if name == "R@200" else 0.5) for name in METRICS}
        seen = np.array([True, True, False, False])
        masks = {"all": np.ones(4, dtype=bool), "seen": seen, "unseen": ~seen, "cites itself": np.zeros(4, dtype=bool)}
        known = {"seed": seed, "commit": "abc", "machine": "m", "seconds": 10.0, "resumed": False, "steps": []}
        return RunResult(SplitMetrics(("q1", "q2", "q3", "q4"), QuestionMetrics(values), masks), {**known, **about})

    return result


@pytest.fixture(scope="session")
def no_display():
    """Return what shows no progress."""

    @contextmanager
    def display():
        yield silent

    return display
