"""From a system's name to its configuration: defaults, the regime's overlay, the system's, then the user's settings;
and the request for a training, by a system's name or by another run to follow or to learn from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from statgraph.config import EncoderConfig, RunConfig
from statgraph.device import pick_device
from statgraph.encoders.backbone import EMBEDDED_E5, EMBEDDED_STATIC
from statgraph.encoders.backbones import is_static
from statgraph.errors import UsageError, checked, option, unknown_name
from statgraph.registry import LAYERS
from statgraph.runs.hub import local_run
from statgraph.runs.kind import kind_of
from statgraph.runs.run import RunFolder
from statgraph.settings import Settings, assignments, overlaid, with_settings

AUTO, PAPER = "auto", "paper"
# The overlays of each recipe of a paper, one on top of the other.
RECIPES = {PAPER: (PAPER,), "paper-code": (PAPER, "paper-code")}
DEFAULT_SYSTEM = "ensemble"  # of `statgraph train`
STUDENT = "student"
REGIMES = "regimes"
ENOUGH_FOR_HEADS = 300  # training questions: with fewer, trained heads of a transformer were not tried
_FOLDER = Path(__file__).parent


def system_names() -> tuple[str, ...]:
    """Return the systems that can be trained by name."""
    return tuple(sorted(path.stem for path in _FOLDER.glob("*.yaml")))


def regime_of(encoder: EncoderConfig) -> str:
    """Return the regime that resolved settings train in, which names its overlay: static, head or full."""
    if is_static(encoder.backbone):
        return "static"
    return "head" if encoder.train in ("none", "head") else "full"


def resolve_config(system: str, settings: Sequence[str] = ()) -> RunConfig:
    """Return the whole configuration of a system with `a.b=c` settings on top.

    What a machine decides is decided here: the backbone `auto` is the embedded transformer on CUDA and the static one
    elsewhere; `encoder.train` `auto` is full for a static backbone and on CUDA, head for a transformer on a CPU. With
    one of `RECIPES` the paper, or its authors' code, decides instead.

    The settings are the user's own words: a graph layer that they name by its module is imported from now on.

    Raises:
        UsageError: for an unknown system or setting, or a value that it cannot have, or a paper's recipe where there is
            none.
        DependencyError: for a graph layer that cannot be imported.
    """
    LAYERS.allow(with_settings(RunConfig(), settings).graph_layers)
    return _resolved(system, settings)


def _resolved(system: str, settings: Sequence[str]) -> RunConfig:
    """Return what `resolve_config` does, of settings that a run may have kept."""
    if system not in system_names():
        raise unknown_name("system", system, system_names())
    overlay = _read(_FOLDER / f"{system}.yaml")
    by_regime = overlay.pop(REGIMES, {})
    place = f"{system}.yaml"
    requested = with_settings(overlaid(RunConfig(system=system), overlay, place=place), settings)
    recipe = requested.regime
    regimes = RECIPES.get(recipe) or (regime_of(decided(requested)),)
    if recipe in RECIPES and recipe not in by_regime:
        known = [name for name in system_names() if recipe in _read(_FOLDER / f"{name}.yaml").get(REGIMES, {})]
        raise UsageError(f"regime={recipe}: '{system}' has no recipe of a paper; choose from {', '.join(known)}")
    config = RunConfig(system=system)
    for regime in regimes:
        config = overlaid(config, _read(_FOLDER / REGIMES / f"{regime}.yaml"), place=f"{regime}.yaml")
    config = overlaid(config, overlay, place=place)
    for regime in regimes:
        config = overlaid(config, by_regime.get(regime, {}), place=f"{place} ({regime})")
    config = with_settings(config, settings)
    config.check()
    return kind_of(config).resolved(config, settings)


def tiny_config(config: RunConfig, backbone: Path) -> RunConfig:
    """Return a configuration with a tiny backbone and sizes that fit it, as in `regimes/tiny.yaml`."""
    pooling = "cls" if config.encoder.pooling == AUTO else config.encoder.pooling
    config = replace(config, encoder=replace(config.encoder, backbone=str(backbone), pooling=pooling))
    return overlaid(config, _read(_FOLDER / REGIMES / "tiny.yaml"), place="tiny.yaml")


def member_config(config: RunConfig, member: str) -> RunConfig:
    """Return the configuration of a member of an ensemble, SYSTEM@BACKBONE.

    Raises:
        UsageError: for an unknown system or backbone, or a setting that it cannot have.
    """
    system, _, backbone = member.partition("@")
    if system not in system_names():
        raise unknown_name("system", system, system_names())
    refusal = kind_of(_resolved(system, ())).no_member
    if refusal:
        raise UsageError(f"ensemble.members: '{system}' {refusal.format(backbone=backbone)}")
    own = (f"seed={config.seed}", f"device={config.device}", f"encoder.backbone={backbone}")
    plain = _resolved(system, own)
    # What a system leaves out stays out: more epochs for the members do not train a zero-shot one.
    without = [stage for stage in ("stage1", "stage2") if not getattr(plain, stage).epochs]
    passed = (text for text in config.ensemble.settings if text.partition(".")[0] not in without)
    return _resolved(system, (*own, *passed))


def learns_from_questions(config: RunConfig) -> bool:
    """Return whether a dense system is trained on the questions of its corpus."""
    return not config.from_law and bool(config.stage1.epochs or config.stage2.epochs)


def without_transformers(system: str, settings: Sequence[str]) -> str:
    """Return the setting that leaves an ensemble's transformers out; UsageError if the system is no ensemble."""
    config = resolve_config(system, settings)
    if not kind_of(config).has_members:
        raise UsageError(
            f"{option('fast')}: leaves transformers out of an ensemble, which {system} is not; "
            f"use {option('system')} ensemble"
        )
    static = [name for name in config.ensemble.members if is_static(name.partition("@")[2])]
    return f"ensemble.members={','.join(static) or 'none'}"


def decided(config: RunConfig) -> EncoderConfig:
    """Return the encoder's settings with what `auto` means on this machine in its place."""
    on_cuda = pick_device(config.device).type == "cuda"
    backbone, train = config.encoder.backbone, config.encoder.train
    if backbone == AUTO:
        backbone = EMBEDDED_E5 if on_cuda else EMBEDDED_STATIC
    if train == AUTO:
        train = "full" if is_static(backbone) or on_cuda else "head"
    return replace(config.encoder, backbone=backbone, train=train)


def _read(path: Path) -> dict[str, Any]:
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    values: dict[str, Any] = yaml.load(path.read_text(encoding="utf-8"), loader) or {}
    return values


@dataclass(frozen=True)
class TrainingRequest:
    """What to train: its configuration, the run whose choices a final run takes, and the teacher of a student."""

    config: RunConfig
    final: RunFolder | None = None
    teacher: RunFolder | None = None


def training_request(
    system: str | None = None,
    settings: Settings = (),
    *,
    seed: int | None = None,
    device: str = "auto",
    fast: bool = False,
    final: object = None,
    teacher: object = None,
) -> TrainingRequest:
    """Return what to train; None, false and empty are what the user has left open.

    Args:
        system: its name; the default is the ensemble.
        settings: in place of its own.
        fast: leave transformers out of an ensemble.
        final: a run, or its folder, to be trained again on all questions, as it was.
        teacher: an ensemble, or its folder, to be distilled into a student.

    Raises:
        UsageError: for wrong types, options that exclude each other, or runs that cannot be followed or learnt from;
            else as in `resolve_config`.
        RunError: if `final` or `teacher` is not a finished run.
    """
    checked("system", system, (str, type(None)), "the name of a system")
    settings = assignments(settings)
    chosen = (f"seed={seed or 0}", f"device={device}", *settings)
    if teacher is not None:
        given = {
            option("system"): system not in (None, STUDENT),
            option("fast"): fast,
            option("final"): final is not None,
        }
        _refuse(given, f"cannot be given with {option('teacher')}, which trains a student; omit one of them")
        ensemble = RunFolder.read(local_run(teacher))
        if not ensemble.kind.has_members:
            raise UsageError(f"{option('teacher')}: {ensemble.folder} is no ensemble; name one")
        if ensemble.final:
            raise UsageError(
                f"{option('teacher')}: {ensemble.folder} was trained on the dev questions too, so that none could "
                f"choose the student's epoch; name {ensemble.final}"
            )
        return TrainingRequest(resolve_config(STUDENT, chosen), teacher=ensemble)
    if final is not None:
        from statgraph.graph.gnn.encoder import check_layers_of  # loads torch

        folder = local_run(final)
        given = {
            option("system"): system is not None,
            option("fast"): fast,
            option("seed"): seed is not None,
            option("set"): bool(settings),
        }
        _refuse(given, f"a final run is trained as {folder} was; omit it, or train another run first")
        followed = RunFolder.read(folder)
        if followed.final:
            raise UsageError(
                f"{option('final')}: {folder} is a final run itself; name {followed.final}, which it went by"
            )
        check_layers_of(followed)
        return TrainingRequest(replace(followed.config, device=device), final=followed)
    system = system or DEFAULT_SYSTEM
    if fast:
        chosen = (*chosen, without_transformers(system, chosen))
    return TrainingRequest(resolve_config(system, chosen))


def _refuse(given: Mapping[str, bool], why: str) -> None:
    for name, is_given in given.items():
        if is_given:
            raise UsageError(f"{name}: {why}")
