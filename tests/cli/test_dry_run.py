import re

import pytest


@pytest.fixture(autouse=True)
def _without_cuda(monkeypatch):
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)


def test_a_dry_run_says_what_fits_and_writes_nothing(run_here, tmp_path):
    status, stdout, stderr = run_here("train", "--system", "gdsr", "--set", "regime=paper", "--dry-run")
    assert (status, stderr, list(tmp_path.iterdir())) == (0, "", [])
    assert re.sub(r"\d+\.\d{4}|\(\d+\.\d s\)", "#", stdout).splitlines() == [
        "gdsr on valmere, camembert-base (full)",
        "A CUDA device of 24.0 GiB; this machine has none. At most, in GiB:",
        "               trained  weights   tokens    graph   scores     peak",
        "  adaptation    110.7M     1.86     2.95     0.00     0.44     5.25",
        "  stage 1       235.4M     3.95     2.75     0.00     0.00     6.70",
        "  stage 2        28.3M     1.35     0.00     0.19     0.00     1.55",
        "  adaptation: 32 blocks of 256 tokens",
        "  stage 1: 24 questions, 25 articles in 49 chunks; more than 9,746 tokens in slices",
        "  stage 2: 512 questions, 257 articles, 478 nodes, 1762 edges",
        "It fits: 6.7 GiB.",
        "A step of stage1 with a tiny model: loss #, then # #",
        "A step of stage2 with a tiny model: loss #, then # #",
        "Nothing was written.",
    ]


def test_what_does_not_fit(run_here, monkeypatch):
    monkeypatch.setattr("statgraph.systems.rehearsal.rehearsed", lambda corpus, config: [])
    settings = ("--set", "regime=paper", "--set", "encoder.slice_tokens=0", "--set", "stage1.batch_size=512")
    _, stdout, _ = run_here("train", "--system", "dsr", *settings, "--dry-run")
    assert re.sub(r"\d+\.\d GiB,", "# GiB,", stdout).splitlines()[-2] == (
        "It does not fit: # GiB, and 21.6 are usable; lower encoder.slice_tokens, the stage's batch_size, or "
        "pretrain.batch_size"
    )


@pytest.mark.parametrize("system", ["bm25", "ensemble", "student"])
def test_systems_without_a_transformer_of_their_own(refused, system):
    assert refused("train", "--system", system, "--dry-run", code=2) == (
        f"--dry-run: '{system}' is no system of its own transformer; name one, such as --system qabisar"
    )
