import json

import pytest

ONE_THREAD = {"OMP_NUM_THREADS": "1"}


@pytest.fixture
def small_bert(save_tiny_as, tmp_path_factory):
    """Return a folder with a random BERT, 32 wide, whose tokenizer has no mask token."""
    return save_tiny_as(tmp_path_factory.mktemp("small_bert") / "tiny")


@pytest.fixture
def options(town, small_bert):
    return (
        "--corpus", town, "--backbone", small_bert, "--out", "adapted", "--device", "cpu",
        "--steps", 3, "--batch-size", 2, "--set", "pretrain.max_tokens=16",
    )  # fmt: skip


def test_from_a_backbone_to_one_that_trains(run_here, options, tmp_path, town, small_bert):
    done = run_here("pretrain", *options, "--seed", 4)

    assert (done.returncode, done.stderr) == (0, "")
    about = json.loads((tmp_path / "adapted" / "manifest.json").read_text())
    assert done.stdout.splitlines() == [
        f"Pre-trained {small_bert} on town, 3 steps of 2 x 16 tokens, seed 4",
        f"  loss  {about['first_loss']:.3f} at the start, {about['last_loss']:.3f} at the end",
        "  the tokenizer has no mask token; used '<unk>' instead",
        "Backbone folder: adapted",
    ]
    assert [path.name for path in tmp_path.iterdir()] == ["adapted"]

    again = run_here("pretrain", *options, "--resume")
    assert again == (
        0, "adapted is already finished; train with: statgraph train --set encoder.backbone=adapted\n", "",
    )  # fmt: skip
    settings = ("backbone=adapted", "train=none", "chunk_tokens=16", "max_tokens=16", "article_heads=2")
    named = [word for setting in settings for word in ("--set", f"encoder.{setting}")]
    trained = run_here("train", "--system", "dpr", "--corpus", town, "--device", "cpu", *named)
    assert (trained.returncode, trained.stderr) == (0, "")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--set", "stage1.lr=0.1"], "--set: 'stage1.lr' does not apply to pre-training; use a setting of pretrain.*"),
        (
            ["--set", "pretrain.step=1"],
            "--set: 'pretrain.step' is not a setting; did you mean 'pretrain.steps'? Steps of the optimiser.",
        ),
        (["--batch-size", 0], "pretrain.batch_size: must be at least 1 (got 0). Passages in a batch."),
        (["--steps", 0], "pretrain.steps: must be at least 1 (got 0). Steps of the optimiser."),
        (["--backbone", "embedded:static"],
         "backbone 'embedded:static' is a table of token vectors, which has no model to pre-train; "
         "name a transformer"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused(refused, tmp_path, arguments, message):
    assert refused("pretrain", "--out", "adapted", *arguments, code=2) == message
    assert list(tmp_path.iterdir()) == []


def test_there_must_be_something_to_resume(refused, options):
    assert refused("pretrain", *options, "--resume") == (
        "adapted: no pre-training to resume; start it without --resume"
    )


def test_an_interrupted_one_says_how_to_go_on(run_here, monkeypatch, options):
    def interrupt(*args) -> float:
        raise KeyboardInterrupt

    monkeypatch.setattr("statgraph.training.pretraining._loss", interrupt)
    code, _, stderr = run_here("pretrain", *options)
    lines = [line for line in stderr.splitlines() if line]
    assert (code, lines) == (130, ["To resume, run the same command with: --resume", "Interrupted"])
