"""A search for a system's settings: Optuna's trials, each a run that is measured on dev and thrown away."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from statgraph import artifacts
from statgraph.corpus.records import Corpus
from statgraph.errors import RunError, UsageError, reason_of
from statgraph.evaluation.metrics import deciding_metric
from statgraph.progress import Progress, Step, TrainingStep
from statgraph.search.evaluating import split_questions
from statgraph.settings import changed_settings
from statgraph.systems.job import TrainingOptions
from statgraph.systems.model_card import read_run_report
from statgraph.systems.pipeline import train_run
from statgraph.systems.presets import resolve_config
from statgraph.systems.tuning.results import FAILED, FINISHED, PRUNED, TrialRecord, Tuning, write_tuning
from statgraph.systems.tuning.spaces import SearchSpace, space_as_json, standing_values
from statgraph.training.seeding import derived_seed

STUDY = "study.db"
DEFAULT_TRIALS = 20
_NAME = "statgraph"
_BEGUN = "begun"
_RUN = ".trial"  # the folder of the trial that is under way
_UNPRUNED_TRIALS = 5
_UNPRUNED_EPOCHS = 1

TrialListener = Callable[[TrialRecord, int], None]


def tune_system(
    corpus: Corpus,
    system: str,
    settings: Sequence[str],
    space: SearchSpace,
    folder: Path,
    *,
    n_trials: int,
    on_trial: TrialListener = lambda trial, n_trials: None,
) -> Tuning:
    """Search for the settings of a system that are best on dev until the study in a folder has `n_trials` trials.

    The first trial is the system unchanged. One below the median of those before it ends early; one whose loss is
    not finite, or whose settings do not go together, counts as failed. A killed search resumes with the trial that was
    under way, and ends with the same numbers as one that was not; only one process at a time may search in a folder.

    Args:
        settings: `a.b=c` that all trials share; the seed among them fixes the search too.
        on_trial: gets every trial that ends, and `n_trials`.

    Raises:
        UsageError: for an unknown system or setting, `n_trials` below 1, or a corpus without dev questions.
        RunError: if the folder holds another study or a damaged one, or no trial finishes.
    """
    import optuna

    if n_trials < 1:
        raise UsageError(f"{n_trials} trials: nothing to try; ask for at least 1")
    config = resolve_config(system, settings)
    split_questions(corpus, "dev")
    begun = {
        "system": system,
        "corpus": {"name": corpus.name, "content_hash": corpus.content_hash},
        "config": config.to_dict(),
        "space": space_as_json(space),
    }
    study = _opened(folder, artifacts.as_json(begun))
    states = optuna.trial.TrialState
    for killed in study.get_trials(deepcopy=False, states=(states.RUNNING,)):
        study.tell(killed.number, state=states.FAIL)
    done = len(_records(study))
    if not done and not study.get_trials(deepcopy=False, states=(states.WAITING,)):
        study.enqueue_trial(standing_values(space, config))
    while done < n_trials:
        # A sampler of its own for each trial: it draws the same whether or not the search was killed in between.
        study.sampler = optuna.samplers.TPESampler(seed=derived_seed(config.seed, "trial", done) % 2**32)
        trial = study.ask()
        _try(study, trial, corpus, system, settings, space, folder / _RUN)
        done += 1
        on_trial(_records(study)[-1], n_trials)
    fixed = tuple(setting for setting in settings if setting.partition("=")[0].strip() not in ("seed", "device"))
    tuning = Tuning(folder, tuple(_records(study)), fixed, deciding_metric(config.select_by, len(corpus.articles)))
    write_tuning(tuning)
    return tuning


def _pruning(trial) -> Progress:
    """Return a listener that reports the worth of every epoch on dev to a trial, and ends one that falls behind."""
    import optuna

    reported: set[tuple[str, int]] = set()

    def listen(step: Step) -> None:
        if not isinstance(step, TrainingStep) or step.dev is None or (epoch := (step.name, step.epoch)) in reported:
            return
        trial.report(step.dev, len(reported))
        reported.add(epoch)
        if trial.should_prune():
            raise optuna.TrialPruned

    return listen


def _try(study, trial, corpus: Corpus, system: str, settings: Sequence[str], space: SearchSpace, folder: Path) -> None:
    """Run one trial and tell the study how it ended; whatever happens, its run folder is gone afterwards."""
    import optuna

    states = optuna.trial.TrialState
    start = time.perf_counter()
    chosen = {name: values.suggested(trial, name) for name, values in space.items()}
    trial.set_user_attr("settings", chosen)
    shutil.rmtree(folder, ignore_errors=True)
    try:
        config = resolve_config(system, (*settings, *(f"{name}={value}" for name, value in chosen.items())))
        run = train_run(corpus, config, folder, TrainingOptions(progress=_pruning(trial)))
        metric = deciding_metric(config.select_by, len(corpus.articles))
        result = {"values": read_run_report(run.folder).strata["all"].metrics[metric].mean}
    except optuna.TrialPruned:
        result = {"state": states.PRUNED}
    except (RunError, UsageError) as error:
        trial.set_user_attr("error", str(error))
        result = {"state": states.FAIL}
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    trial.set_user_attr("seconds", round(time.perf_counter() - start, 2))
    study.tell(trial, **result)


def _opened(folder: Path, begun: dict):
    """Return the study in a folder, a new one if there is none yet.

    Raises:
        RunError: if it was begun with something else, is damaged, or the folder is a file.
    """
    import optuna
    from sqlalchemy.exc import SQLAlchemyError

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    if folder.exists() and not folder.is_dir():
        raise RunError(f"{folder}: is a file; choose another --out")
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / STUDY
    pruner = optuna.pruners.MedianPruner(n_startup_trials=_UNPRUNED_TRIALS, n_warmup_steps=_UNPRUNED_EPOCHS)
    try:
        storage = optuna.storages.RDBStorage(f"sqlite:///{path.resolve()}")
        study = optuna.create_study(
            storage=storage, study_name=_NAME, load_if_exists=True, direction="maximize", pruner=pruner
        )
        known = study.user_attrs.get(_BEGUN)
        if known is None:
            study.set_user_attr(_BEGUN, begun)
            known = begun
    except (SQLAlchemyError, optuna.exceptions.StorageInternalError, RuntimeError, ValueError) as error:
        raise RunError(
            f"{path}: no study of statgraph's, or damaged ({reason_of(error)}); choose another --out"
        ) from None
    _check_same(path, known, begun)
    return study


def _check_same(path: Path, known: Mapping, begun: Mapping) -> None:
    remedy = "choose another --out"
    if known["system"] != begun["system"]:
        raise RunError(f"{path}: a study of system '{known['system']}', not of '{begun['system']}'; {remedy}")
    if known["corpus"]["content_hash"] != begun["corpus"]["content_hash"]:
        other = "another state of corpus" if known["corpus"]["name"] == begun["corpus"]["name"] else "corpus"
        raise RunError(f"{path}: a study on {other} '{known['corpus']['name']}'; name that one, or {remedy}")
    changed = changed_settings(known["config"], begun["config"])
    if changed:
        raise RunError(f"{path}: a study with other settings ({changed}); give the same ones, or {remedy}")
    if known["space"] != begun["space"]:
        names = known["space"].keys() | begun["space"].keys()
        changed = sorted(name for name in names if known["space"].get(name) != begun["space"].get(name))
        raise RunError(
            f"{path}: a study of another search space ({', '.join(changed)}); give the same --space and --set, "
            f"or {remedy}"
        )


def _records(study) -> list[TrialRecord]:
    """Return the trials that ended by themselves; one that was killed is tried again, and is not among them."""
    import optuna

    states = optuna.trial.TrialState
    names = {states.COMPLETE: FINISHED, states.PRUNED: PRUNED, states.FAIL: FAILED}
    ended = (
        trial
        for trial in study.get_trials(deepcopy=False)
        if trial.state in names and (trial.state is not states.FAIL or "error" in trial.user_attrs)
    )
    return [
        TrialRecord(
            number,
            names[trial.state],
            trial.value if trial.state is states.COMPLETE else None,
            dict(trial.user_attrs["settings"]),
            tuple(value for _, value in sorted(trial.intermediate_values.items())),
            trial.user_attrs.get("seconds", 0.0),
            trial.user_attrs.get("error", ""),
        )
        for number, trial in enumerate(ended, start=1)
    ]
