import numpy as np
import pytest

from benchmarks.measures.stage2_epoch import (
    EVERY_NEIGHBOUR,
    OURS,
    SETTINGS,
    SUBGRAPH,
    WHOLE,
    Case,
    PlainStage,
    rows_of,
)
from statgraph.law.catalogue import sample_folder
from statgraph.systems.presets import resolve_config


@pytest.fixture(scope="module")
def case_of(statgraph_cache):
    """Return a function that makes the case of the sample with settings on top of the measure's; PyG is a peer that
    only `statgraph[bench]` brings."""
    pytest.importorskip("torch_geometric")
    return lambda *settings: Case.of(
        sample_folder(), resolve_config("qabisar", [*SETTINGS, "gnn.citation_dropout=0", *settings])
    )


def loss_of(stage, batch) -> float:
    stage.set_training(False)
    return stage.loss(batch).item()


def test_the_rows_say_what_holds():
    seconds = {OURS: [1.0, 2.0, 1.0], EVERY_NEIGHBOUR: [2.0, 2.0, 4.0], SUBGRAPH: [4.0, 10.0, 6.0]}
    row, unsampled = rows_of("this much", SUBGRAPH, seconds, {SUBGRAPH: 0.5, WHOLE: 2.0})
    assert (row.reached, row.holds) == ("5.0 times [4.0 to 6.0]", True)
    assert (unsampled.reached, unsampled.holds) == ("2.0 times [1.5 to 5.0]", None)
    assert "k_hop_subgraph 0.50 s, the whole graph 2.00 s" in row.note
    assert rows_of("", SUBGRAPH, seconds | {SUBGRAPH: [4.0, 9.0, 5.0]}, {})[0].holds is False


def test_with_the_graph_switched_off_both_have_the_same_loss(case_of):
    case = case_of("gnn.first_gate=0")
    ours, plain = case.stage2(), PlainStage(case, whole=False)
    batch = next(iter(ours.batches(np.random.default_rng(0))))
    wanted = loss_of(ours, batch)
    assert loss_of(plain, (batch.gold, batch.questions, batch.articles)) == pytest.approx(wanted, rel=1e-5)
    assert ours.steps_per_epoch == plain.steps_per_epoch
    assert plain.dev_metrics() == pytest.approx(ours.dev_metrics())
