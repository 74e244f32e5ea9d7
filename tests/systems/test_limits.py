import pytest

from statgraph.config import RunConfig
from statgraph.errors import UsageError
from statgraph.gnn.registry import LAYERS
from statgraph.settings import with_settings
from statgraph.systems.limits import check_limits


def test_the_defaults_are_within_them():
    check_limits(RunConfig())


@pytest.mark.parametrize(
    "setting",
    [
        "gnn.fanout=-1", "gnn.first_gate=-2", "stage1.warmup=1", "stage1.epochs=0", "graph.relations=none",
        "bm25.b=0", "stage1.gold=0,stage1.headings=2", "stage1.gold=0,stage1.epochs=0",
    ],
)  # fmt: skip
def test_the_ends_are_allowed(setting):
    check_limits(with_settings(RunConfig(), setting.split(",")))


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("stage1.batch_size=0", "stage1.batch_size: 0 is out of range; give 1 or more"),
        ("gnn.layers=0", "gnn.layers: 0 is out of range; give 1 or more"),
        ("seed=-1", "seed: -1 is out of range; give 0 or more"),
        ("stage2.epochs=-2", "stage2.epochs: -2 is out of range; give 0 or more"),
        ("stage2.temperature=0", "stage2.temperature: 0.0 is out of range; give above 0"),
        ("gnn.dropout=1.5", "gnn.dropout: 1.5 is out of range; give from 0 to 1"),
        ("gnn.fanout=-2", "gnn.fanout: -2 is out of range; give -1 (all neighbours) or more"),
        ("bm25.b=2", "bm25.b: 2.0 is out of range; give from 0 to 1"),
        ("retriever=tfidf", "retriever: 'tfidf' is not known; choose from dense, bm25"),
        ("graph.target_edges=hide", "graph.target_edges: 'hide' is not known; choose from mask, keep"),
        (
            "graph.relations=tree,cites",
            "graph.relations: 'cites' is not known; choose from tree, bipartite, order (or none)",
        ),
        ("gnn.layer=mean", f"gnn.layer: 'mean' is not known; choose from {', '.join(LAYERS)}"),
        (
            "negatives.rankings=none",
            "negatives.rankings: is empty; name at least one of semantic, hierarchical, sequential",
        ),
        ("stage1.negatives=random", "stage1.negatives: 'random' is not known; choose from none, bm25, cusines"),
    ],
)
def test_what_cannot_be_trained_with_is_refused(setting, message):
    with pytest.raises(UsageError) as refused:
        check_limits(with_settings(RunConfig(), [setting]))
    assert str(refused.value) == message


def test_a_stage_needs_pairs():
    with pytest.raises(UsageError) as refused:
        check_limits(with_settings(RunConfig(), ["stage1.gold=0", "stage1.headings=0"]))
    assert str(refused.value) == (
        "stage1.gold, stage1.headings and stage1.synthetic: all are 0; give one source of pairs a weight"
    )
    with pytest.raises(UsageError) as refused:
        check_limits(with_settings(RunConfig(), ["stage2.gold=0", "stage2.headings=1"]))
    assert str(refused.value) == (
        "stage2.gold: is 0; the graph is trained on gold pairs, so give them a weight above 0"
    )
