import json
import re
from dataclasses import FrozenInstanceError, asdict

import pytest

from statgraph.config import IndexConfig, RunConfig
from statgraph.errors import UsageError
from statgraph.settings import changed_settings, described, overlaid, with_settings

DEFAULT = RunConfig()


def refused(said: str, *settings: str, overlay: dict | None = None) -> None:
    """Check that settings, or an overlay of x.yaml, are refused with these words."""
    place = r"x\.yaml: " if overlay is not None else "settings:? "
    with pytest.raises(UsageError, match=f"^{place}{said}"):
        with_settings(DEFAULT, settings) if overlay is None else overlaid(DEFAULT, overlay, place="x.yaml")


def test_an_overlay_changes_what_it_names_and_nothing_else():
    config = overlaid(DEFAULT, {"seed": 3, "stage1": {"lr": "1e-3", "epochs": 2}}, place="x.yaml")

    expected = asdict(DEFAULT)
    expected["seed"] = 3
    expected["stage1"] |= {"lr": 1e-3, "epochs": 2}
    assert asdict(config) == expected
    assert RunConfig() == DEFAULT == overlaid(DEFAULT, {}, place="x.yaml") == with_settings(DEFAULT, [])
    with pytest.raises(FrozenInstanceError):
        DEFAULT.seed = 1


def test_as_json_and_back():
    config = with_settings(DEFAULT, ["graph.relations=tree", "encoder.shared=true"])

    assert overlaid(DEFAULT, json.loads(json.dumps(config.to_dict())), place="manifest.json") == config


@pytest.mark.parametrize(
    ("setting", "group", "name", "value"),
    [
        ("stage1.epochs=10", "stage1", "epochs", 10),
        (" stage1.epochs = 10 ", "stage1", "epochs", 10),
        ("stage1.epochs=-1", "stage1", "epochs", -1),
        ("stage1.lr=2e-5", "stage1", "lr", 2e-5),
        ("stage1.lr=1", "stage1", "lr", 1.0),
        ("encoder.shared=true", "encoder", "shared", True),
        ("encoder.shared=False", "encoder", "shared", False),
        ("encoder.backbone=runs/a=b", "encoder", "backbone", "runs/a=b"),
        ("encoder.backbone=", "encoder", "backbone", ""),
        ("graph.relations=tree", "graph", "relations", ("tree",)),
        ("graph.relations=tree, order", "graph", "relations", ("tree", "order")),
        ("graph.relations=none", "graph", "relations", ()),
        ("graph.relations=", "graph", "relations", ()),
    ],
)
def test_a_setting(setting, group, name, value):
    found = getattr(getattr(with_settings(DEFAULT, [setting]), group), name)

    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("wrong", "near"),
    [
        ("sead", "seed"),
        ("encoder.bakbone", "encoder.backbone"),
        ("encoder.max_token", "encoder.max_tokens"),
        ("stage2.epoch", "stage2.epochs"),
        ("epochs", "stage1.epochs"),  # the same name in a group
        ("backbone", "encoder.backbone"),
        ("gnn.lr", "stage1.lr"),
        ("encodr", "encoder"),
        ("gnn.zzz", "gnn.layer"),
    ],
)
def test_an_unknown_setting_names_the_nearest(wrong, near):
    refused(rf"'{wrong}' .*did you mean '{near}'\? [A-Z].*\.$", f"{wrong}=1")


def test_an_unknown_group_names_the_nearest():
    refused(r"'stage3' .*did you mean 'stage1'\? The contrastive training", "stage3.lr=1")


def test_an_unknown_key_in_yaml():
    refused(r"'stage1\.lrr' .*did you mean 'stage1\.lr'\? Learning rate", overlay={"stage1": {"lrr": 1}})
    refused(r"'1' is not a setting; did you mean '", overlay={1: 1})


@pytest.mark.parametrize("config", [RunConfig, IndexConfig])
def test_every_setting_and_group_has_its_help(config):
    assert [row.name for row in described(config) if not re.fullmatch(r"[A-Za-z].{8,}\.", row.help)] == []


def test_settings_in_words():
    rows = {row.name: row for row in described(RunConfig)}
    assert rows["bm25"] == ("bm25", "", "", "BM25's parameters (G-DSR, appendix C).")
    assert rows["bm25.b"] == ("bm25.b", "0.2", "a number in [0, 1]", "How much long articles are discounted.")
    assert [rows[name][1:3] for name in ("gnn.fanout", "stage2.joint", "encoder.pooling", "graph.relations")] == [
        ("-1", "a whole number at least 1, or -1 for all neighbours"),
        ("true", "true or false"),
        ("auto", "one of auto, mean, cls, max"),
        ("tree,bipartite", "none or some of tree, tree-down, bipartite, order, citations, citing"),
    ]
    assert rows["ensemble.settings"][1:3] == ("none", "names separated by commas, or none")
    assert rows["encoder.backbone"][1:3] == ("auto", "text")


def test_a_wrong_value_comes_with_the_help_of_its_setting():
    refused(r"'gnn\.heads' must be a whole number \(got 'x'\)\. Attention heads of a layer\.$", "gnn.heads=x")
    with pytest.raises(UsageError, match=r"^gnn\.heads: must be at least 1 \(got 0\)\. Attention heads of a layer\.$"):
        with_settings(DEFAULT, ["gnn.heads=0"]).check()


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("seed", "'seed': no '='; .*stage1.epochs=10$"),
        ("", "'': no '='; .*stage1.epochs=10$"),
        ("seed=two", r"'seed' .*whole number \(got 'two'\)"),
        ("seed=1.5", r"'seed' .*whole number \(got '1\.5'\)"),
        ("seed=", r"'seed' .*whole number \(got ''\)"),
        ("stage1.lr=fast", r"'stage1\.lr' .*a number \(got 'fast'\)"),
        ("stage1.lr=nan", r"'stage1\.lr' .*a number \(got 'nan'\)"),
        ("stage1.lr=-inf", r"'stage1\.lr' .*a number \(got '-inf'\)"),
        ("encoder.shared=yes", r"'encoder\.shared' .*true or false \(got 'yes'\)"),
        ("encoder.shared=1", r"'encoder\.shared' .*true or false \(got '1'\)"),
        ("bm25=1", "'bm25' is a group .*bm25.k1, bm25.b, bm25.expansion"),
        ("seed.x=1", "'seed' .*not a group"),
    ],
)
def test_a_wrong_setting(setting, said):
    refused(said, setting)


@pytest.mark.parametrize(
    ("overlay", "said"),
    [
        ({"seed": None}, r"'seed' .*whole number \(got 'None'\)"),
        ({"device": None}, r"'device' .*text \(got 'None'\)"),
        ({"encoder": {"backbone": ["a"]}}, r"'encoder\.backbone' .*text \(got '\['a'\]'\)"),
        ({"seed": [1]}, r"'seed' .*whole number \(got '\[1\]'\)"),
        ({"stage1": {"lr": True}}, r"'stage1\.lr' .*a number \(got 'True'\)"),
        ({"graph": {"relations": None}}, r"'graph\.relations' .*names .*\(got 'None'\)"),
        ({"graph": {"relations": {}}}, r"'graph\.relations' .*not a group"),
        ({"bm25": None}, "'bm25' is a group .*bm25.k1, bm25.b, bm25.expansion"),
    ],
)
def test_a_wrong_value_in_yaml(overlay, said):
    refused(said, overlay=overlay)


def test_another_configuration_names_its_own_settings():
    assert with_settings(IndexConfig(), ["ivf_pq.probes=7"]).ivf_pq.probes == 7
    with pytest.raises(UsageError, match=r"'ivf_pq\.probe' .*did you mean 'ivf_pq\.probes'"):
        with_settings(IndexConfig(), ["ivf_pq.probe=7"])


def test_what_differs_is_told_by_its_dotted_name_and_cut_after_five():
    then = {"seed": 0, "gone": True, "stage1": {"lr": 0.1, "epochs": 2}}
    assert changed_settings(then, {"seed": 3, "new": "x", "stage1": {"lr": 0.1, "epochs": 4}}) == (
        "gone: True then, None now; new: None then, x now; seed: 0 then, 3 now; stage1.epochs: 2 then, 4 now"
    )
    seven = dict.fromkeys("abcdefg", 1)
    assert changed_settings(seven, dict.fromkeys(seven, 2)) == (
        "a: 1 then, 2 now; b: 1 then, 2 now; c: 1 then, 2 now; d: 1 then, 2 now; e: 1 then, 2 now; and 2 more"
    )
