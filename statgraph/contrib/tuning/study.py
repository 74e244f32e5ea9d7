"""A search for a system's settings: Optuna's trials, each a run that is measured on dev and thrown away."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import optuna
import yaml
from optuna.distributions import distribution_to_json
from optuna.trial import TrialState

from statgraph import artifacts
from statgraph.contrib.tuning.spaces import (
    SearchSpace,
    as_settings,
    current_values,
    preset_space,
    read_space,
    without_fixed,
)
from statgraph.errors import RunError, UsageError, on_command_line, option, reason_of
from statgraph.evaluation.metrics import deciding_metric
from statgraph.law.records import Corpus, checked_corpus
from statgraph.progress import Progress, Step, TrainingStep, resumable
from statgraph.retrieval.search.evaluating import split_questions
from statgraph.runs.folders import RUNS, folder_name
from statgraph.settings import Settings, assignments, changed_settings
from statgraph.systems.job import TrainingOptions
from statgraph.systems.model_card import read_run_report
from statgraph.systems.pipeline import train_run
from statgraph.systems.presets import resolve_config
from statgraph.training.seeding import derived_seed

STUDY = "study.db"
TRIALS = "trials.json"
BEST = "best.yaml"
DEFAULT_TRIALS = 20
_NAME = "statgraph"
_BEGUN = "begun"
_RUN = ".trial"  # the folder of the trial that is under way
_UNPRUNED_TRIALS = 5
_UNPRUNED_EPOCHS = 1
_STATES = {TrialState.COMPLETE: "finished", TrialState.PRUNED: "pruned", TrialState.FAIL: "failed"}


def tuning_folder(corpus_name: str, system: str) -> Path:
    """Return where the settings of a system that are tuned on a corpus are written."""
    return RUNS / f"tuning-{folder_name(corpus_name)}-{system}"


@dataclass(frozen=True)
class TrialRecord:
    """One trial that has ended. `value` is the dev metric of a finished one; `epoch_values` are those that training
    reported on the way; `settings` is what the search chose; `error` says why it failed."""

    number: int
    state: str
    value: float | None
    settings: Mapping[str, str]
    epoch_values: tuple[float, ...]
    seconds: float
    error: str = ""


@dataclass(frozen=True)
class Tuning:
    """All trials of a study, the settings that were fixed, but for seed and device, and the metric that decides."""

    folder: Path
    trials: tuple[TrialRecord, ...]
    fixed: tuple[str, ...]
    metric: str

    @property
    def ranked(self) -> tuple[TrialRecord, ...]:
        """Return the finished trials, best first, equal ones by number."""
        finished = (trial for trial in self.trials if trial.value is not None)
        return tuple(sorted(finished, key=lambda trial: (-(trial.value or 0), trial.number)))

    @property
    def best_settings(self) -> tuple[str, ...]:
        """Return the fixed settings and those of the best trial, each as `a.b=c`."""
        return (*self.fixed, *(f"{name}={value}" for name, value in self.ranked[0].settings.items()))


def tune_system(
    corpus: Corpus,
    system: str,
    settings: Settings = (),
    space: SearchSpace | Path | str | None = None,
    out: Path | str | None = None,
    *,
    trials: int = DEFAULT_TRIALS,
    on_trial: Callable[[TrialRecord, int], None] = lambda trial, trials: None,
) -> Tuning:
    """Search for the settings of a system that are best on dev until the study in a folder has so many trials.

        tune_system(corpus, "qabisar", {"device": "cpu"}, trials=50).best_settings

    The first trial is the system unchanged. One below the median of those before it ends early; one whose loss is
    not finite, or whose settings do not go together, counts as failed. A killed search resumes with the trial that was
    under way, and ends with the same numbers as one that was not; only one process at a time may search in a folder.

    Args:
        corpus: the corpus.
        system: one of `statgraph train --help`.
        settings: those that all trials share; the seed among them fixes the search too.
        space: what is searched, or a YAML file of setting -> {low, high, log} or {choices}; None for that of the
            system's regime.
        out: the folder of the study; None for one under runs/.
        trials: how many it has in the end.
        on_trial: called with every trial that ends, and with `trials`.

    Raises:
        UsageError: for an unknown system or setting, `trials` below 1, or a corpus without dev questions.
        RunError: if the folder holds another study or a damaged one, or no trial finishes.
    """
    if trials < 1:
        raise UsageError(f"{trials} trials: nothing to try; ask for at least 1")
    settings = assignments(settings)
    config = resolve_config(system, settings)
    if not isinstance(space, Mapping):
        space = preset_space(config) if space is None else read_space(Path(space), config)
    space = without_fixed(space, settings)
    folder = tuning_folder(checked_corpus(corpus).name, system) if out is None else Path(out)
    split_questions(corpus, "dev")
    about = {"name": corpus.name, "content_hash": corpus.content_hash}
    searched = {name: json.loads(distribution_to_json(values))["attributes"] for name, values in space.items()}
    begun = {"system": system, "corpus": about, "config": config.to_dict(), "space": searched}
    study = _opened(folder, artifacts.as_json(begun))
    done = len(_records(study))
    if not done and not study.get_trials(deepcopy=False, states=(TrialState.WAITING,)):
        study.enqueue_trial(current_values(space, config))
    with resumable("again"):
        while done < trials:
            # One for each trial: it draws the same whether or not the search was killed.
            study.sampler = optuna.samplers.TPESampler(seed=derived_seed(config.seed, "trial", done) % 2**32)
            trial = study.ask(space)
            _try(study, trial, corpus, system, settings, space, folder / _RUN)
            done += 1
            on_trial(_records(study)[-1], trials)
    fixed = tuple(setting for setting in settings if setting.partition("=")[0].strip() not in ("seed", "device"))
    tuning = Tuning(folder, tuple(_records(study)), fixed, deciding_metric(config.select_by, len(corpus.articles)))
    write_tuning(tuning)
    return tuning


def _pruning(trial: optuna.Trial) -> Progress:
    """Return a listener that reports the worth of every epoch on dev to a trial, and ends one that falls behind."""
    reported: set[tuple[str, int]] = set()

    def listen(step: Step) -> None:
        if not isinstance(step, TrainingStep) or step.dev is None or (epoch := (step.name, step.epoch)) in reported:
            return
        trial.report(step.dev, len(reported))
        reported.add(epoch)
        if trial.should_prune():
            raise optuna.TrialPruned

    return listen


def _try(
    study: optuna.Study,
    trial: optuna.Trial,
    corpus: Corpus,
    system: str,
    settings: Sequence[str],
    space: SearchSpace,
    folder: Path,
) -> None:
    """Run one trial and tell the study how it ended; whatever happens, its run folder is gone afterwards."""
    chosen = as_settings(trial.params, space)
    trial.set_user_attr("settings", chosen)
    shutil.rmtree(folder, ignore_errors=True)
    try:
        config = resolve_config(system, (*settings, *(f"{name}={value}" for name, value in chosen.items())))
        run = train_run(corpus, config, folder, TrainingOptions(progress=_pruning(trial)))
        metric = deciding_metric(config.select_by, len(corpus.articles))
        report = read_run_report(run.folder)
        assert report is not None
        result: dict[str, object] = {"values": report.strata["all"].metrics[metric].mean}
    except optuna.TrialPruned:
        result = {"state": TrialState.PRUNED}
    except (RunError, UsageError) as error:
        trial.set_user_attr("error", on_command_line(error))
        result = {"state": TrialState.FAIL}
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    study.tell(trial, **result)


def _opened(folder: Path, begun: dict[str, Any]) -> optuna.Study:
    """Return the study in a folder, a new one if there is none yet; a trial that was killed has failed.

    Raises:
        RunError: if it was begun with something else, is damaged, or the folder is a file.
    """
    from sqlalchemy.exc import SQLAlchemyError

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    if folder.exists() and not folder.is_dir():
        raise RunError(f"{folder}: is a file; choose another {option('out')}")
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / STUDY
    pruner = optuna.pruners.MedianPruner(n_startup_trials=_UNPRUNED_TRIALS, n_warmup_steps=_UNPRUNED_EPOCHS)
    try:
        storage = optuna.storages.RDBStorage(f"sqlite:///{path.resolve()}")
        study = optuna.create_study(
            storage=storage, study_name=_NAME, load_if_exists=True, direction="maximize", pruner=pruner
        )
        if _BEGUN not in study.user_attrs:
            study.set_user_attr(_BEGUN, begun)
        known = study.user_attrs[_BEGUN]
    except (SQLAlchemyError, optuna.exceptions.StorageInternalError, RuntimeError, ValueError) as error:
        raise RunError(
            f"{path}: no study of statgraph's, or damaged ({reason_of(error)}); choose another {option('out')}"
        ) from None
    changed = changed_settings({**known, **known["config"], "config": 0}, {**begun, **begun["config"], "config": 0})
    if changed:
        raise RunError(
            f"{path}: a study with other settings ({changed}); give the same ones, or choose another {option('out')}"
        )
    for killed in study.get_trials(deepcopy=False, states=(TrialState.RUNNING,)):
        study.tell(killed.number, state=TrialState.FAIL)
    return study


def _records(study: optuna.Study) -> list[TrialRecord]:
    """Return the trials that ended by themselves; one that was killed is tried again, and is not among them."""
    ended = (
        trial
        for trial in study.get_trials(deepcopy=False)
        if trial.state in _STATES and (trial.state is not TrialState.FAIL or "error" in trial.user_attrs)
    )
    return [
        TrialRecord(
            number,
            _STATES[trial.state],
            trial.value if trial.state is TrialState.COMPLETE else None,
            dict(trial.user_attrs["settings"]),
            tuple(value for _, value in sorted(trial.intermediate_values.items())),
            round(trial.duration.total_seconds(), 2) if trial.duration else 0.0,
            trial.user_attrs.get("error", ""),
        )
        for number, trial in enumerate(ended, start=1)
    ]


def write_tuning(tuning: Tuning) -> None:
    """Write trials and best settings into the study's folder.

    Raises:
        RunError: if no trial finished.
    """
    artifacts.write_json(tuning.folder / TRIALS, {"trials": [asdict(trial) for trial in tuning.trials]})
    if not tuning.ranked:
        raise RunError(
            f"{tuning.folder}: none of {len(tuning.trials)} trials finished (the last: {tuning.trials[-1].error}); "
            f"narrow the {option('space')}, or choose other settings with {option('set')}"
        )
    best = yaml.safe_dump(_nested(tuning.best_settings), sort_keys=False, allow_unicode=True)
    artifacts.write_text(tuning.folder / BEST, best)


def _nested(settings: Sequence[str]) -> dict[str, object]:
    """Return `a.b=c` settings as the groups of a system's YAML file; a later one replaces an earlier."""
    nested: dict[str, object] = {}
    for setting in settings:
        name, _, value = setting.partition("=")
        *groups, last = name.strip().split(".")
        place: dict[str, Any] = nested
        for group in groups:
            place = place.setdefault(group, {})
        place[last] = value.strip()
        with suppress(ValueError):
            place[last] = json.loads(value)
    return nested
