import json
import sys

import pytest
import torch

from statgraph.config import RunConfig
from statgraph.encoders.backbone import EMBEDDED_E5, EMBEDDED_STATIC
from statgraph.errors import UsageError
from statgraph.registry import LAYERS
from statgraph.settings import overlaid
from statgraph.systems import presets
from statgraph.systems.presets import (
    member_config,
    resolve_config,
    system_names,
    without_transformers,
)


@pytest.fixture
def own_presets(tmp_path, monkeypatch):
    """Return a function that writes YAML files, `name: text`, in place of the package's."""
    (tmp_path / "regimes").mkdir()
    for regime in ("static", "head", "full", "paper"):
        (tmp_path / "regimes" / f"{regime}.yaml").write_text("# nothing\n")
    monkeypatch.setattr(presets, "_FOLDER", tmp_path)

    def write(**files):
        for name, text in files.items():
            (tmp_path / f"{name.replace('_', '/')}.yaml").write_text(text)

    return write


@pytest.fixture
def on_cuda(monkeypatch):
    monkeypatch.setattr(presets, "pick_device", lambda name: torch.device("cpu" if name == "cpu" else "cuda"))


def encoder_of(*settings, system="qabisar"):
    encoder = resolve_config(system, settings).encoder
    return encoder.backbone, encoder.train


def refusal(*arguments) -> str:
    with pytest.raises(UsageError) as refused:
        resolve_config(*arguments)
    return str(refused.value)


@pytest.mark.parametrize("backbone", [EMBEDDED_STATIC, EMBEDDED_E5])
@pytest.mark.parametrize("device", ["cpu", "cuda"])
@pytest.mark.parametrize("system", [name for name in system_names() if name != "ensemble"])
def test_every_system_loads_in_every_regime(system, device, backbone, on_cuda):
    config = resolve_config(system, [f"device={device}", f"encoder.backbone={backbone}"])
    assert (config.system, config.device, config.encoder.backbone) == (system, device, backbone)
    assert config.encoder.train != "auto"
    json.dumps(config.to_dict())


OF_PAPERS = [name for name in system_names() if name not in ("ensemble", "heads", "structure", "student", "zero-shot")]


@pytest.mark.parametrize("system", OF_PAPERS)
def test_each_system_of_a_paper_has_its_recipe(system):
    config = resolve_config(system, ["regime=paper", "device=cpu"])
    assert (config.regime, config.encoder.backbone) == ("paper", "camembert-base")
    assert config.encoder.train == ("none" if system == "dpr" else "full")
    assert not config.encoder.heading_path
    assert not config.stage1.headings


def test_a_shared_encoder_cannot_be_trained_for_questions_alone():
    shared = ["device=cpu", f"encoder.backbone={EMBEDDED_E5}", "encoder.shared=true", "stage2.train_encoders=query"]
    words = refusal("qabisar", shared)
    assert words.startswith("stage2.train_encoders: ")
    assert words.endswith("is one for both; use both or none")
    resolve_config("dsr", shared)  # has no such stage
    # A static encoder parts: questions get a copy that trains.
    resolve_config("qabisar", ["device=cpu", f"encoder.backbone={EMBEDDED_STATIC}", "stage2.train_encoders=query"])


def test_the_authors_code_is_a_recipe_on_top_of_their_papers():
    paper, code = (resolve_config("gdsr", [f"regime={name}", "device=cpu"]) for name in ("paper", "paper-code"))
    assert (paper.gnn.heads, paper.stage2.decay, paper.graph.relations) == (8, "constant", ("tree",))
    assert (code.gnn.heads, code.stage2.decay, code.graph.relations) == (1, "linear", ("tree-down",))
    assert (code.stage2.epochs, code.gnn.expansion, code.stage1.synthetic) == (10, 4, 23)
    known = "choose from dsr, dsr-adapted, dsr-augmented, gdsr"
    assert refusal("qabisar", ["regime=paper-code"]).endswith(known)
    settings = ["regime=paper-code", f"encoder.backbone={EMBEDDED_STATIC}"]
    assert "regime=paper-code" in refusal("gdsr", settings)


def test_only_systems_of_papers_have_recipes():
    for system in sorted(set(system_names()) - set(OF_PAPERS)):
        assert refusal(system, ["regime=paper"]).endswith(f"choose from {', '.join(OF_PAPERS)}")
    assert refusal("dsr", ["regime=paper", f"encoder.backbone={EMBEDDED_STATIC}"]).startswith("encoder.backbone: ")
    assert refusal("dsr", ["regime=papers"]).startswith("regime: ")


@pytest.mark.parametrize("name", ["", "regimes/static", "../systems/qabisar", "qabisar.yaml"])
def test_a_path_is_no_system(name):
    assert refusal(name).startswith(f"unknown system '{name}'; ")


@pytest.mark.parametrize(
    ("settings", "chosen"),
    [
        ((), (EMBEDDED_E5, "full")),
        (("device=cpu",), (EMBEDDED_STATIC, "full")),
        (("device=cpu", "encoder.train=none"), (EMBEDDED_STATIC, "none")),
        (("device=cpu", f"encoder.backbone={EMBEDDED_E5}"), (EMBEDDED_E5, "head")),
        (("device=cpu", f"encoder.backbone={EMBEDDED_E5}", "encoder.train=last-2"), (EMBEDDED_E5, "last-2")),
        (("encoder.backbone=camembert-base",), ("camembert-base", "full")),
    ],
)
def test_machine_and_user_choose_the_encoder(on_cuda, settings, chosen):
    assert encoder_of(*settings) == chosen


@pytest.mark.parametrize(
    ("settings", "regime"),
    [
        (("device=cpu",), "static"),
        (("device=cpu", "encoder.train=none"), "static"),
        (("device=cpu", f"encoder.backbone={EMBEDDED_E5}"), "head"),
        (("device=cpu", f"encoder.backbone={EMBEDDED_E5}", "encoder.train=none"), "head"),
        (("device=cpu", f"encoder.backbone={EMBEDDED_E5}", "encoder.train=last-2"), "full"),
        (("device=cuda",), "full"),
    ],
)
def test_each_backbone_has_its_regime(own_presets, on_cuda, settings, regime):
    own_presets(
        qabisar="stage2: {epochs: 0}",
        **{f"regimes_{name}": f"seed: {n}" for n, name in enumerate(("static", "head", "full"))},
    )
    assert ("static", "head", "full")[resolve_config("qabisar", settings).seed] == regime


def test_later_overlays_win(own_presets):
    own_presets(
        regimes_static="stage1: {epochs: 1, batch_size: 1, patience: 1, negatives_per_pair: 1}",
        qabisar=(
            "stage1: {batch_size: 2, patience: 2, negatives_per_pair: 2}\nstage2: {epochs: 0}\n"
            "regimes: {static: {stage1: {patience: 3, negatives_per_pair: 3}}, head: {stage1: {epochs: 9}}}"
        ),
    )
    stage1 = resolve_config("qabisar", ["device=cpu", "stage1.negatives_per_pair=4"]).stage1
    assert (stage1.epochs, stage1.batch_size, stage1.patience, stage1.negatives_per_pair) == (1, 2, 3, 4)
    assert stage1.lr == RunConfig().stage1.lr


def test_a_bad_value_is_refused():
    assert "'stage1.epochs' must be a whole number" in refusal("qabisar", ["stage1.epochs=few"])
    assert "stage1.epochs=10" in refusal("qabisar", ["stage1.epochs"])
    assert "did you mean 'encoder'?" in refusal("qabisar", ["encodr.train=full"])
    assert refusal("qabisar", ["stage2.batch_size=0"]).startswith("stage2.batch_size: ")
    assert refusal("qabisar", ["device=cpu", "gnn.heads=7"]).startswith("gnn.heads: ")  # 384 wide
    assert resolve_config("qabisar", ["device=cpu", "gnn.heads=7", "gnn.layer=gcn"]).gnn.heads == 7
    assert refusal("qabisar", ["device=cpu", "encoder.train=head"]).startswith("encoder.train: ")
    assert refusal("qabisar", ["device=tpu"]).startswith("unknown device 'tpu'; ")


def test_a_fault_in_a_preset_names_its_file(own_presets):
    own_presets(qabisar="stage1: {epoch: 3}")
    assert refusal("qabisar").startswith("qabisar.yaml: 'stage1.epoch' ")
    own_presets(qabisar="regimes: {static: {sead: 3}}")
    assert refusal("qabisar", ["device=cpu"]).startswith("qabisar.yaml (static): 'sead' ")
    own_presets(qabisar="", regimes_static="sead: 3")
    assert refusal("qabisar", ["device=cpu"]).startswith("static.yaml: 'sead' ")


def test_an_ensemble_passes_on_what_its_members_are_trained_with():
    config = resolve_config("ensemble", ["device=cpu", "seed=3", "stage2.epochs=1", "ranker.read=40"])
    assert config.ensemble.settings == ("stage2.citing=2", "stage2.epochs=1")
    member = member_config(config, "qabisar@embedded:static")
    assert (member.seed, member.device, member.stage2.epochs, member.encoder.backbone) == (3, "cpu", 1, EMBEDDED_STATIC)
    assert member.ranker.read == RunConfig().ranker.read


@pytest.mark.parametrize(
    ("setting", "named"),
    [
        ("encoder.backbone=embedded:static", "encoder.backbone"),
        ("ensemble.members=bm25@embedded:static", "'bm25'"),
        ("ensemble.members=ensemble@embedded:static", "'ensemble'"),
        ("ensemble.members=qabisar", "ensemble.members"),
        ("gnn.heads=7", "heads"),
    ],
)
def test_members_that_cannot_be_trained_are_refused_at_once(setting, named):
    assert named in refusal("ensemble", ["device=cpu", setting])


def test_a_fast_ensemble_has_no_transformer():
    assert without_transformers("ensemble", ["device=cpu"]) == "ensemble.members=qabisar@embedded:static"
    assert without_transformers("ensemble", ["ensemble.members=dpr@embedded:multilingual-e5-small"]).endswith("=none")
    with pytest.raises(UsageError, match=r"^fast"):
        without_transformers("bm25", ["device=cpu"])


def test_only_what_the_user_types_lets_a_module_be_imported(tmp_path, monkeypatch):
    monkeypatch.setattr(LAYERS, "_allowed", set())
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "preset_layers.py").write_text("from statgraph.graph.gnn.gcn import GcnLayer\n")
    layer = "gnn.layer=preset_layers:GcnLayer"
    loaded = overlaid(resolve_config("ensemble"), {"ensemble": {"settings": [layer]}}, place="a run")
    with pytest.raises(UsageError, match="STATGRAPH_LAYERS=preset_layers"):
        member_config(loaded, "qabisar@embedded:static")
    assert "preset_layers" not in sys.modules
    members = "ensemble.members=qabisar@embedded:static"
    for typed in (layer, f"ensemble.settings={layer}"):
        config = resolve_config("ensemble", [members, typed])
        assert member_config(config, "qabisar@embedded:static").gnn.layer == "preset_layers:GcnLayer"
        LAYERS._allowed.clear()
