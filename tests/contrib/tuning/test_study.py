import dataclasses
from types import SimpleNamespace

import pytest
import yaml
from optuna.distributions import CategoricalDistribution as Choice
from optuna.distributions import FloatDistribution as Range

from statgraph import artifacts
from statgraph.config import RunConfig
from statgraph.contrib.tuning import study as search
from statgraph.contrib.tuning.study import (
    BEST,
    STUDY,
    TRIALS,
    TrialRecord,
    Tuning,
    tune_system,
    write_tuning,
)
from statgraph.errors import CorpusError, RunError, UsageError
from statgraph.evaluation.report import Report, Stratum
from statgraph.evaluation.significance import Estimate
from statgraph.progress import TrainingStep
from statgraph.runs import parts
from statgraph.settings import overlaid, with_settings

SPACE = {
    "stage2.lr": Range(1e-4, 1e-1, log=True),
    "gnn.dropout": Range(0.0, 0.5),
    "gnn.heads": Choice(("1", "2", "4")),
}
OPEN = ("device=cpu", "encoder.backbone=embedded:static")
RESULTS = sorted([BEST, STUDY, TRIALS])


@pytest.fixture
def tune(town_corpus, tmp_path):
    """Return a function that tunes QABISAR on the town in the folder `study`."""

    def run(n_trials, *, corpus=town_corpus, system="qabisar", settings=OPEN, space=SPACE, **options):
        return tune_system(corpus, system, settings, space, tmp_path / "study", trials=n_trials, **options)

    return run


@pytest.fixture
def trained(monkeypatch):
    """Return a function that has every trial end as a function of its configuration and listener says."""

    def by(result):
        def train(corpus, config, folder, options):
            folder.mkdir()
            (folder / "weights").touch()
            value = result(config, options.progress)
            report = Report("dev", {"all": Stratum(4, {config.select_by: Estimate(value, value, value)})}, 16)
            artifacts.write_json(folder / parts.REPORT, report.to_dict())
            return SimpleNamespace(folder=folder)

        monkeypatch.setattr(search, "train_run", train)

    return by


def lower_rate_is_better(config, report):
    return 1 - config.stage2.lr


def progress(epoch, dev):
    return TrainingStep("stage2", epoch, 3, epoch, 3, 0.5, dev)


def test_real_trials_leave_results_and_no_runs(tune, town_corpus, quick_settings, tmp_path):
    ended = []
    space = {"stage2.lr": SPACE["stage2.lr"]}
    tuning = tune(2, settings=quick_settings, space=space, on_trial=lambda trial, n: ended.append((trial, n)))
    assert ended == [(trial, 2) for trial in tuning.trials]
    assert [trial.state for trial in tuning.trials] == ["finished", "finished"]
    assert tuning.metric == "quality"
    assert all(0 < trial.value < 1 for trial in tuning.trials)
    assert [len(trial.epoch_values) for trial in tuning.trials] == [2, 2]  # before either of two epochs
    assert tuning.trials[0].settings == {"stage2.lr": "0.001"}
    assert tuning.trials[1].settings != tuning.trials[0].settings
    assert "stage2.epochs=2" in tuning.fixed
    assert "device=cpu" not in tuning.fixed
    assert sorted(path.name for path in (tmp_path / "study").iterdir()) == RESULTS


def test_the_first_trial_is_the_system_as_it_stands_and_the_best_counts(tune, trained):
    trained(lower_rate_is_better)
    tuning = tune(8)
    assert tuning.trials[0].settings == {
        "stage2.lr": "0.001",
        "gnn.dropout": "0.1",
        "gnn.heads": tuning.trials[0].settings["gnn.heads"],
    }
    rates = [float(trial.settings["stage2.lr"]) for trial in tuning.trials]
    assert [trial.value for trial in tuning.trials] == pytest.approx([1 - rate for rate in rates])
    assert tuning.ranked[0].value == pytest.approx(1 - min(rates))
    assert len({tuple(trial.settings.items()) for trial in tuning.trials}) == 8


def test_a_search_that_was_killed_ends_like_one_that_was_not(town_corpus, trained, tmp_path):
    def tuned(folder, n_trials):
        tuning = tune_system(town_corpus, "qabisar", OPEN, SPACE, tmp_path / folder, trials=n_trials)
        return [(trial.number, trial.value, trial.settings) for trial in tuning.trials]

    trained(lower_rate_is_better)
    whole = tuned("whole", 11)  # the sampler's first ten are random
    calls = []

    def killed_at_third_and_eleventh(config, report):
        calls.append(config)
        if len(calls) in (3, 12):
            raise KeyboardInterrupt
        return lower_rate_is_better(config, report)

    trained(killed_at_third_and_eleventh)
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            tuned("killed", 11)
        assert not (tmp_path / "killed" / search._RUN).exists()
    assert tuned("killed", 11) == whole
    assert calls[2] == calls[3]
    assert len(calls) == 13


def test_a_trial_below_the_median_is_pruned(tune, trained):
    calls = []

    def last_is_bad(config, report):
        calls.append(0)
        for epoch in (1, 2, 3):
            for _ in range(2):  # two steps an epoch
                report(progress(epoch, 0.1 if len(calls) == 7 else 0.1 * epoch))
            calls[-1] = epoch
        return 0.5

    trained(last_is_bad)
    tuning = tune(7)
    assert [trial.state for trial in tuning.trials] == ["finished"] * 6 + ["pruned"]
    assert tuning.trials[0].epoch_values == pytest.approx((0.1, 0.2, 0.3))
    assert tuning.trials[6].epoch_values == pytest.approx((0.1, 0.1))
    assert calls[6] == 1
    assert tuning.trials[6].value is None


def test_a_trial_whose_training_fails_counts_and_the_search_goes_on(tune, trained):
    def fails_first(config, report):
        if config.gnn.dropout == 0.1:
            raise RunError("stage2: the loss is nan")
        return 0.5

    trained(fails_first)
    tuning = tune(3)
    assert [(trial.state, trial.error) for trial in tuning.trials] == [
        ("failed", "stage2: the loss is nan"), ("finished", ""), ("finished", ""),
    ]  # fmt: skip
    assert [trial.number for trial in tuning.ranked] == [2, 3]


def test_a_corpus_that_no_trial_can_use_ends_the_search(tune, trained):
    def fails(config, report):
        raise CorpusError("town: has no training questions")

    trained(fails)
    with pytest.raises(CorpusError, match="town: has no training questions"):
        tune(3)
    trained(lower_rate_is_better)
    assert len(tune(1).trials) == 1


def test_another_study_is_refused(tune, trained, town_corpus, tmp_path):
    trained(lower_rate_is_better)
    tune(1)
    village = dataclasses.replace(town_corpus, name="village", questions=town_corpus.questions[:-1])
    grown = dataclasses.replace(town_corpus, questions=town_corpus.questions[:-1])
    for other, reason in (
        ({"system": "dsr"}, "system: qabisar then, dsr now"),
        ({"corpus": village}, "corpus.name: town then, village now"),
        ({"corpus": grown}, "corpus.content_hash: "),
        ({"settings": (*OPEN, "stage2.epochs=9", "seed=3")}, "seed: 0 then, 3 now; stage2.epochs: 4 then, 9 now"),
        ({"space": {**SPACE, "gnn.heads": Choice(("1", "2"))}}, r"space\.gnn\.heads\.choices: "),
    ):
        with pytest.raises(RunError, match=rf"{STUDY}: a study .*{reason}"):
            tune(2, **other)


def test_a_damaged_study_is_refused(tune, tmp_path):
    (tmp_path / "study").mkdir()
    (tmp_path / "study" / STUDY).write_text("no database " * 100)
    with pytest.raises(RunError, match=rf"{STUDY}: .*damaged") as refused:
        tune(1)
    assert "\n" not in str(refused.value)


def test_what_cannot_be_searched_leaves_nothing(tune, town_corpus, tmp_path):
    undecided = dataclasses.replace(town_corpus, questions=town_corpus.split("train"))
    for n_trials, options, reason in (
        (0, {}, "^0 trials"),
        (1, {"system": "qabisr"}, "system 'qabisr'"),
        (1, {"corpus": undecided}, "split 'dev'"),
    ):
        with pytest.raises(UsageError, match=reason):
            tune(n_trials, **options)
    assert not (tmp_path / "study").exists()


FIXED = ("stage2.epochs=2", "encoder.backbone=some/model")
TRIALS_RUN = (
    TrialRecord(1, "finished", 0.5, {"stage2.lr": "1e-03", "gnn.layers": "1"}, (0.4, 0.5), 1.0),
    TrialRecord(2, "pruned", None, {"stage2.lr": "1e-05", "gnn.layers": "2"}, (0.1,), 0.5),
    TrialRecord(3, "finished", 0.75, {"stage2.lr": "2e-05", "gnn.layers": "3"}, (0.6, 0.7), 1.0),
    TrialRecord(4, "failed", None, {"stage2.lr": "9", "gnn.layers": "3"}, (), 0.1, "the loss is nan"),
    TrialRecord(5, "finished", 0.75, {"stage2.lr": "3e-05", "gnn.layers": "3"}, (0.6, 0.7), 1.0),
)


def test_what_is_written_of_finished_trials_best_first_and_equal_ones_by_number(tmp_path):
    tuning = Tuning(tmp_path, TRIALS_RUN, FIXED, "mAP")
    assert [trial.number for trial in tuning.ranked] == [3, 5, 1]
    assert tuning.best_settings == (*FIXED, "stage2.lr=2e-05", "gnn.layers=3")
    write_tuning(tuning)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([BEST, TRIALS])
    saved = artifacts.read_json(tmp_path / TRIALS)["trials"]
    assert saved == artifacts.as_json([dataclasses.asdict(trial) for trial in TRIALS_RUN])
    best = yaml.safe_load((tmp_path / BEST).read_text(encoding="utf-8"))
    assert best == {
        "stage2": {"epochs": 2, "lr": 2e-05}, "encoder": {"backbone": "some/model"}, "gnn": {"layers": 3},
    }  # fmt: skip
    assert overlaid(RunConfig(), best, place=BEST) == with_settings(RunConfig(), tuning.best_settings)
