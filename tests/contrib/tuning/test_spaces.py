import pytest
from optuna.distributions import CategoricalDistribution as Choice
from optuna.distributions import FloatDistribution as Range
from optuna.distributions import IntDistribution

from statgraph.contrib.tuning.spaces import (
    as_settings,
    preset_space,
    read_space,
    without_fixed,
)
from statgraph.errors import UsageError
from statgraph.systems.presets import resolve_config, system_names

STATIC = ("device=cpu", "encoder.backbone=embedded:static")
TRANSFORMER = ("device=cpu", "encoder.backbone=some/transformer")


@pytest.fixture
def config():
    return resolve_config("dsr", STATIC)


@pytest.fixture
def read(tmp_path, config):
    """Return a function that reads the space in some YAML."""

    def space_of(text):
        path = tmp_path / "space.yaml"
        path.write_text(text, encoding="utf-8")
        return read_space(path, config)

    return space_of


@pytest.mark.parametrize("train", ["full", "head"])
@pytest.mark.parametrize("system", [name for name in system_names() if name != "ensemble"])
def test_every_system_has_a_space_that_fits_it(system, train):
    for settings in (STATIC, (*TRANSFORMER, f"encoder.train={train}")):
        settings = [setting for setting in settings if "train=" not in setting or system not in ("dpr", "zero-shot")]
        config = resolve_config(system, settings)
        groups = {name.partition(".")[0] for name in preset_space(config)}
        if config.retriever == "bm25":
            assert groups == {"bm25"}
            continue
        assert ("stage1" in groups) == bool(config.stage1.epochs)
        assert ("stage2" in groups) == ("gnn" in groups) == bool(config.stage2.epochs)


def test_the_regime_decides():
    assert preset_space(resolve_config("dsr", STATIC))["stage1.lr"] == Range(5e-4, 1e-2, log=True)
    full = preset_space(resolve_config("dsr", (*TRANSFORMER, "encoder.train=full")))
    assert full["stage1.lr"] == Range(5e-6, 5e-5, log=True)
    assert full["stage1.batch_size"] == Choice(("8", "16", "24"))
    head = preset_space(resolve_config("dsr", (*TRANSFORMER, "encoder.train=head")))
    assert head["stage1.lr"] == Range(1e-4, 3e-3, log=True)


def test_encoders_that_stay_fixed_have_no_learning_rate():
    settings = (*STATIC, "stage2.epochs=1", "stage2.train_encoders=none")
    names = preset_space(resolve_config("dsr", settings)).keys()
    assert "stage2.lr" in names
    assert not {"stage2.encoder_lr", "stage2.encoder_weight_lr"} & names


def test_a_space_is_read(read):
    # YAML takes 1e-5 for text, since it has no dot.
    space = read(
        "stage1.lr: {low: 1e-5, high: 1e-3, log: true}\ngnn.layers: {low: 1, high: 3}\n"
        "encoder.article_pooling: {choices: [mean, max]}\nencoder.adapted: {choices: [true, false]}\n"
        "graph.relations: {choices: [tree, [tree, order]]}\n"
    )
    assert space == {
        "stage1.lr": Range(1e-5, 1e-3, log=True),
        "gnn.layers": IntDistribution(1, 3),
        "encoder.article_pooling": Choice(("mean", "max")),
        "encoder.adapted": Choice(("True", "False")),
        "graph.relations": Choice(("tree", "tree,order")),
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("stage1.rate: {low: 1, high: 2}", "'stage1.rate' is not a setting; did you mean 'stage1.patience'?"),
        (
            "stage1.lr: {low: 0.0, high: 1.0}",
            "stage1.lr: must be greater than 0 (got 0.0). Learning rate; the default is the paper's.",
        ),
        (
            "stage1.lr: {low: fast, high: 1.0}",
            "'stage1.lr' must be a number (got 'fast'). Learning rate; the default is the paper's.",
        ),
        ("gnn.layers: {low: 1.5, high: 3}", "'gnn.layers' must be a whole number (got '1.5'). Number of layers."),
        ("encoder.backbone: {low: 1, high: 2}", "'encoder.backbone': is not a number; give {choices} for it"),
        ("stage1.lr: 0.1", "'stage1.lr': is '0.1'; give {low, high}, {low, high, log} or {choices} as a list"),
        (
            "gnn.heads: {choices: 2}",
            "'gnn.heads': is '{'choices': 2}'; give {low, high}, {low, high, log} or {choices} as a list",
        ),
        ("gnn.heads: {choices: [2, 0]}", "gnn.heads: must be at least 1 (got 0). Attention heads of a layer."),
        ("", "holds no settings; write lines like 'stage1.lr: {low: 1.0e-5, high: 1.0e-3}'"),
    ],
)  # fmt: skip
def test_a_space_that_cannot_be_searched_is_refused(read, tmp_path, text, message):
    with pytest.raises(UsageError) as refused:
        read(text)
    start, _, end = str(refused.value).partition(": ")
    assert start == str(tmp_path / "space.yaml")
    if "did you mean" in message:
        assert end.startswith(message.partition("did you mean")[0])
    else:
        assert end == message


@pytest.mark.parametrize(
    "text",
    ["stage1.lr: {low: 0.2, high: 0.1}", "gnn.dropout: {low: 0, high: .5, log: on}", "gnn.heads: {choices: []}"],
)
def test_what_optuna_cannot_draw_from_is_refused(read, text):
    with pytest.raises(UsageError, match=rf"space\.yaml: '{text.partition(':')[0]}': .*(low|choices)"):
        read(text)


def test_a_file_that_is_missing_or_no_yaml_is_refused(read, tmp_path, config):
    with pytest.raises(UsageError, match=r"absent\.yaml: no such file; name a YAML file of settings"):
        read_space(tmp_path / "absent.yaml", config)
    with pytest.raises(UsageError, match=r"space\.yaml: not readable as YAML") as refused:
        read("a: [")
    assert "\n" not in str(refused.value)


def test_what_is_fixed_is_left_out():
    space = {"stage1.lr": Range(1, 2), "gnn.heads": Choice(("1", "2"))}
    assert list(without_fixed(space, ["stage1.lr=0.1", "seed=1"])) == ["gnn.heads"]
    with pytest.raises(UsageError, match=r"^nothing to search: no setting is left open; "):
        without_fixed(space, ["stage1.lr=0.1", "gnn.heads = 1"])


def test_drawn_values_are_rounded_within_their_range():
    space = {
        "lr": Range(1e-4, 1e-2),
        "dropout": Range(0.12345, 0.2),
        "layers": IntDistribution(1, 4),
        "by": Choice("ab"),
    }
    drawn = {"lr": 0.00123456, "dropout": 0.12345, "layers": 3, "by": "b"}
    assert as_settings(drawn, space) == {"lr": "0.00123", "dropout": "0.12345", "layers": "3", "by": "b"}
