import json
import os
import re
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager
from pathlib import Path

import pytest

from statgraph.formats.importing import About, draft_source
from statgraph.law.store import write_corpus

CLI = Path(__file__).parents[2] / "cli.py"
ONE_THREAD = {"OMP_NUM_THREADS": "1"}
COMMAND_TIMEOUT_S = 300


def test_qabisar_from_corpus_to_run(ran, town, set_options, tmp_path):
    done = ran("train", "--corpus", town, "--system", "qabisar", "--out", "run", "--seed", 3, *set_options)
    first, *steps, dev, like, unlike, last = done.splitlines()
    assert first.startswith("Trained qabisar on town, ")
    assert first.endswith(" (full), seed 3")
    assert [step[2:30].rstrip() for step in steps] == [
        "graph", "encoders", "article inputs", "stage 2", "index and encoders to disk", "evaluation on dev",
    ]  # fmt: skip
    assert [shown.split()[0] for shown in dev.removeprefix("  dev   ").split(", ")] == ["S@3", "mAP"]
    assert (like.rpartition(", ")[2], unlike.rpartition(", ")[2]) == ("like a training question", "unlike any")
    assert last == "Run folder: run"
    assert json.loads((tmp_path / "run" / "manifest.json").read_text())["seed"] == 3


def test_the_graph_that_build_graph_wrote_is_taken(run_here, ran, town, set_options):
    assert run_here("build-graph", town).returncode == 0
    done = ran("train", "--corpus", town, "--system", "qabisar", "--out", "run", *set_options)
    assert "\n  graph read from graphs/town\n" in done


@pytest.fixture
def torchrun(tmp_path):
    """Return a function that runs `statgraph train` with two processes."""

    def run(*arguments):
        launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
        return subprocess.run(
            [*launcher, "-m", "statgraph.cli", "train", *map(str, arguments)],
            cwd=tmp_path,
            env={**os.environ, **ONE_THREAD, "PYTHONPATH": str(CLI.parent)},
            capture_output=True,
            text=True,
            timeout=COMMAND_TIMEOUT_S,
            check=False,
        )

    return run


@pytest.mark.real  # two processes import everything; tests/systems/test_dense.py trains in two
def test_torchrun_trains_an_ensemble(torchrun, run_here, town, quick_backbone, quick_settings, tmp_path):
    """Members by both processes, the rest by the first: the run's name, signals and weights."""
    own = [text for text in quick_settings if not text.startswith("encoder.backbone")]
    members = f"ensemble.members=qabisar@{quick_backbone},zero-shot@{quick_backbone}"
    options = [word for text in (*own, members, "stage1.epochs=1") for word in ("--set", text)]
    done = torchrun("--corpus", town, "--seed", 3, *options)
    assert (done.returncode, done.stderr) == (0, "")
    (run,) = (tmp_path / "runs").iterdir()
    first, *_, last = done.stdout.splitlines()
    assert (first, last) == ("Trained ensemble on town, seed 3, 2 processes", f"Run folder: runs/{run.name}")
    for manifest in (run / "manifest.json", *run.glob("members/*/manifest.json")):
        assert json.loads(manifest.read_text())["processes"] == 2
    assert (run / "ranker.json").is_file()
    hits = json.loads(run_here("search", "Who taxes my bridges?", "--json").stdout)
    assert hits[0]["article_id"].startswith("bridges")


def test_a_final_run_is_trained_like_another_and_cannot_be_measured(run_here, refused, town, bm25_run, dense_run):
    code, out, err = run_here("train", "--final", dense_run, "--corpus", town, "--out", "final")
    assert (code, err) == (0, "")
    first, *steps, last = out.splitlines()
    assert first.startswith(f"Trained qabisar on town, all questions, as {dense_run}, ")
    assert not any(step.startswith("  dev ") for step in steps)
    assert last == "Run folder: final"
    told = (
        f"final: trained on all questions of corpus 'town' (--final), so that none can measure it; evaluate "
        f"{dense_run}, the run whose epochs and weights it took"
    )
    final = ("--run", "final", "--corpus", town)
    for split in ("train", "dev", "test"):
        assert refused("evaluate", *final, "--split", split) == told
    assert refused("evaluate", "--run", bm25_run, "--against", "final", "--corpus", town) == told
    assert refused("export", *final, "--to", "beir", "--split", "test", "--out", "x") == told
    assert run_here("search", "--run", "final", "lamps")[0] == 0
    again = refused("train", "--final", "final", "--corpus", town, code=2)
    assert again == f"--final: final is a final run itself; name {dense_run}, which it went by"


def test_a_final_run_without_the_test_questions_is_measured_on_them(run_here, ran, refused, town, dense_run, tmp_path):
    code, out, err = run_here("train", "--final", dense_run, "--keep-test", "--corpus", town, "--out", "final")
    assert (code, err) == (0, "")
    assert out.startswith(f"Trained qabisar on town, all questions but those of test, as {dense_run}, ")
    kept = json.loads((tmp_path / "final/manifest.json").read_text())
    assert (kept["final"], kept["keeps_test"]) == (str(dense_run), True)
    assert (kept["data"]["questions"]["dev"], kept["data"]["questions"]["test"]) == (0, 4)
    measured = ran("evaluate", "--run", "final", "--corpus", town, "--against", dense_run, "--json")
    assert json.loads(measured)["split"] == "test"
    for split in ("train", "dev"):
        assert refused("evaluate", "--run", "final", "--corpus", town, "--split", split) == (
            "final: trained on all questions but those of test (--final), which alone can measure it; name the split "
            f"test, or evaluate {dense_run}, the run whose epochs and weights it took"
        )


def test_bm25_end_to_end(run_here, ran, tmp_path):
    trained = ran("train", "--system", "bm25")
    (run,) = (tmp_path / "runs").iterdir()
    assert trained.splitlines()[0] == "Trained bm25 on valmere, seed 0"
    assert trained.splitlines()[-1] == f"Run folder: runs/{run.name}"
    assert run.name.endswith("-valmere-bm25")
    hits = json.loads(run_here("search", "deposit", "-k", 3, "--json").stdout)
    assert "deposit" in hits[0]["text"].lower()
    assert run_here("evaluate").returncode == 0


def test_a_law_that_teaches_nothing_of_itself_is_refused(refused, tmp_path):
    (tmp_path / "articles.jsonl").write_text(
        '{"id": "1", "title": "Art. 1", "text": "Lamps burn.", "path": ["Code"]}\n'
    )
    draft = draft_source("jsonl", tmp_path / "articles.jsonl", About("tiny", "en"))
    write_corpus(draft.corpus(), tmp_path / "tiny")
    assert refused("train", "--corpus", "tiny", "--system", "structure", "--out", "run", "--device", "cpu") == (
        "tiny: has neither headings nor citations to learn from; use --system zero-shot"
    )
    assert not (tmp_path / "run").exists()


def test_a_finished_run_is_not_resumed(run_here, town, bm25_run):
    done = run_here("train", "--system", "bm25", "--corpus", town, "--out", bm25_run, "--resume")
    assert done == (0, f'{bm25_run} is already finished; search it with: statgraph search --run {bm25_run} "..."\n', "")


@pytest.fixture
def interrupt_at(tmp_path):
    """Return a function that opens a block in which this process gets Ctrl-C once the test's folder has such a file."""

    @contextmanager
    def interrupt(pattern):
        over = threading.Event()

        def wait():
            while not over.wait(0.01):
                if list(tmp_path.glob(pattern)):
                    over.set()
                    os.kill(os.getpid(), signal.SIGINT)

        before, thread = signal.signal(signal.SIGINT, signal.default_int_handler), threading.Thread(target=wait)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()
            signal.signal(signal.SIGINT, before)

    return interrupt


def test_an_interrupted_run_is_resumed_with_the_same_settings(
    run_here, refused, town, bm25_run, set_options, tmp_path, interrupt_at
):
    options = ["--corpus", town, "--system", "qabisar", *set_options, "--set", "stage2.epochs=30"]
    with interrupt_at("runs/*/checkpoints/stage2/last/progress.json"):
        returncode, stdout, stderr = run_here("train", *options)
    (run,) = (tmp_path / "runs").iterdir()
    folder = f"runs/{run.name}"
    assert (returncode, stdout) == (130, "")
    assert [line for line in stderr.splitlines() if line] == [
        f"To resume, run the same command with: --out {folder} --resume", "Interrupted",
    ]  # fmt: skip

    assert refused("search", "Who?", "--run", folder).startswith(f"{folder}: an unfinished run; ")
    assert refused("train", *options, "--out", folder) == (
        f"{folder}: not empty; add --resume to go on with it, or choose another --out"
    )
    assert refused("train", *options, "--resume", "--set", "stage2.lr=0.5") == (
        f"{folder}: was started with other settings (stage2.lr: 0.001 then, 0.5 now); resume it with the same ones, "
        "or train into another folder"
    )
    assert refused("train", *options[2:], "--resume") == (
        f"{folder}: was started on another corpus, or another state of this one; name that one with --corpus, "
        "or train into another folder"
    )

    done = run_here("train", *options, "--resume")
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, f"Run folder: {folder}")
    epochs = [json.loads(line)["epoch"] for line in (run / "metrics.jsonl").read_text().splitlines()]
    assert epochs == list(range(31))


def test_a_dry_run_takes_a_step_of_each_stage_and_writes_nothing(run_here, tmp_path, monkeypatch):
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    status, stdout, stderr = run_here("train", "--system", "gdsr", "--set", "regime=paper", "--dry-run")
    assert (status, stderr, list(tmp_path.iterdir())) == (0, "", [])
    assert re.sub(r"\d+\.\d{4}|\(\d+\.\d s\)", "#", stdout).splitlines() == [
        "gdsr on valmere, camembert-base (full)",
        "A step of stage1 with a tiny model: loss #, then # #",
        "A step of stage2 with a tiny model: loss #, then # #",
        "Nothing was written.",
    ]
