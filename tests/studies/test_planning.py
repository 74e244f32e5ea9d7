import dataclasses
import shlex

import pytest

from statgraph.config import RunConfig
from statgraph.errors import UsageError
from statgraph.settings import with_settings
from statgraph.studies.planning import planned_runs, run_id
from statgraph.studies.spec import RowSpec, TableSpec
from statgraph.systems.presets import resolve_config

STATIC, E5 = "embedded:static", "embedded:multilingual-e5-small"


def table(*rows):
    return TableSpec("t", "T", "P", rows=rows)


def test_seed_by_seed_and_once_where_nothing_is_random():
    spec = table(RowSpec("a", "bm25", seeded=False), RowSpec("b", "dsr"), RowSpec("c", "qabisar"))
    runs = planned_runs(spec, seeds=2, settings=["device=cpu"])
    assert [(run.row, run.seed) for run in runs] == [("a", 0), ("b", 0), ("c", 0), ("b", 1), ("c", 1)]
    assert [run.config.seed for run in runs] == [0, 0, 0, 1, 1]
    assert [(run.row, run.seed) for run in planned_runs(spec, seeds=2, only=["c"])] == [("c", 0), ("c", 1)]


def test_the_settings_of_a_row_then_its_regime_then_the_users():
    row = RowSpec(
        "a", "dsr", ("stage1.lr=1",), {"static": ("stage1.lr=2", "stage1.epochs=9"), "head": ("stage1.lr=3",)}
    )
    (static,) = planned_runs(table(row), seeds=1, backbone=STATIC, settings=["device=cpu"])
    (head,) = planned_runs(table(row), seeds=1, backbone=E5, settings=["device=cpu"])
    (user,) = planned_runs(table(row), seeds=1, backbone=STATIC, settings=["device=cpu", "stage1.epochs=5"])
    assert [(run.config.stage1.lr, run.config.stage1.epochs) for run in (static, head, user)] == [
        (2, 9),
        (3, 4),
        (2, 5),
    ]
    assert user.settings == (
        "encoder.backbone=embedded:static", "stage1.lr=1", "stage1.lr=2", "stage1.epochs=9", "device=cpu",
        "stage1.epochs=5",
    )  # fmt: skip


def test_the_backbone_is_of_dense_rows_that_have_none():
    spec = table(RowSpec("a", "bm25"), RowSpec("b", "dsr"), RowSpec("c", "dsr", backbone=STATIC))
    runs = planned_runs(spec, seeds=1, backbone=E5, settings=["device=cpu"])
    assert [run.settings for run in runs] == [
        ("device=cpu",),
        ("encoder.backbone=embedded:multilingual-e5-small", "device=cpu"),
        ("encoder.backbone=embedded:static", "device=cpu"),
    ]


def test_the_train_command_makes_the_same_configuration():
    row = RowSpec("a", "qabisar", ("graph.relations=tree, bipartite",), {"static": ("gnn.heads=4",)})
    (_, run) = planned_runs(table(row), seeds=2, backbone=STATIC, settings=["device=cpu"])
    command = run.train_command("my corpora/town")
    words = shlex.split(command)
    assert words[:8] == ["statgraph", "train", "--corpus", "my corpora/town", "--system", "qabisar", "--seed", "1"]
    assert words[8::2] == ["--set"] * 4
    assert resolve_config("qabisar", ["seed=1", *words[9::2]]) == run.config
    assert run.train_command("").startswith("statgraph train --system qabisar ")


def test_what_a_run_is_known_by():
    config = RunConfig()
    name = run_id(config, "corpus", "test")
    assert len(name) == 16
    assert set(name) <= set("0123456789abcdef")
    assert name == run_id(dataclasses.replace(config), "corpus", "test")
    others = [
        run_id(with_settings(config, ["seed=1"]), "corpus", "test"),
        run_id(with_settings(config, ["stage2.lr=1"]), "corpus", "test"),
        run_id(config, "another", "test"),
        run_id(config, "corpus", "dev"),
    ]
    assert len({name, *others}) == 5


def test_an_unknown_row_is_refused():
    with pytest.raises(UsageError, match=r"^--only 'd': is not a row of t; its rows are 'a', 'b, or c'$"):
        planned_runs(table(RowSpec("a", "bm25"), RowSpec("b, or c", "dsr")), seeds=1, only=["a", "d"])
