"""`make gpu`: what to do with a CUDA machine for an hour, in order of value.

    python -m benchmarks.gpu_hour [--hours H] [--corpus DIR] [--encoder NAME] [--out DIR] [--dry]

The tests marked `cuda`; the benchmark rows of a GPU; QABISAR, G-DSR and DSR trained in full, rows of a table by
`statgraph reproduce`. What is finished is not done again; what the hour interrupts goes on next time. Nothing is
fetched.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from statgraph.artifacts import write_json
from statgraph.encoders.article_text import article_text
from statgraph.encoders.backbone import EMBEDDED_E5
from statgraph.encoders.tiny import write_tiny_backbone
from statgraph.errors import CorpusError, ModelError, StatgraphError, UsageError
from statgraph.law.catalogue import sample_folder
from statgraph.law.store import read_corpus
from statgraph.runs.provenance import commit

REPO = Path(__file__).parents[1]
CORPUS, OUT = Path("corpora/legi-fr"), Path("runs/gpu-hour")
TABLE, ROWS = "qabisar-table1", {"qabisar": "QABISAR", "gdsr": "G-DSR", "dsr": "stage 1"}
_OFFLINE = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"}
_SMALL = ("encoder.article_heads=2", "gnn.heads=2", "encoder.chunk_tokens=16", "encoder.max_tokens=32")
# Runs `statgraph`, and prints the most memory of the device that its tensors had.
_WITH_CUDA_BYTES = """
import atexit
from statgraph.cli.main import main
@atexit.register
def print_most():
    import torch
    print(f"at most {torch.cuda.max_memory_allocated():,} bytes of CUDA memory")
main()
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what is left within the time; return the number of items that failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hours", type=float, default=1.0)
    parser.add_argument("--corpus", type=Path, default=CORPUS)
    parser.add_argument("--encoder", default=EMBEDDED_E5, help="a folder or a model in the hub's cache")
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--dry", action="store_true", help="rehearse it on the CPU with the sample and a tiny model")
    options = parser.parse_args(arguments)
    try:
        with tempfile.TemporaryDirectory(prefix="statgraph-") as scratch:
            if options.dry:  # all but the corpus is gone afterwards
                sample = read_corpus(sample_folder())
                tiny = write_tiny_backbone(Path(scratch) / "tiny", [article_text(each) for each in sample.articles])
                corpus, encoder, out = sample_folder(), str(tiny), Path(scratch) / "results"
            else:
                corpus, encoder, out = options.corpus, options.encoder, options.out
                check_machine(corpus, encoder)
            print(f"{corpus}, {encoder}; results in {out}", flush=True)
            env = {**os.environ, **_OFFLINE, **({"CUDA_VISIBLE_DEVICES": ""} if options.dry else {})}
            commands = plan(corpus, encoder, out, dry=options.dry)
            return work_off(commands, out, seconds=3600 * options.hours, env=env)
    except StatgraphError as error:
        print(f"Error: {error}", file=sys.stderr)
        return 1


def check_machine(corpus: Path, encoder: str) -> None:
    """Raise what is missing on this machine, with the command that brings it.

    Raises:
        UsageError: if torch sees no CUDA device.
        CorpusError: if the corpus is not there.
        ModelError: if the encoder is neither a folder, nor embedded, nor in the hub's cache.
    """
    import torch

    from statgraph.encoders.loading import is_cached

    if not torch.cuda.is_available():
        raise UsageError(
            f"torch {torch.__version__} sees no CUDA device; install its CUDA build into {sys.prefix} (docs/gpu.md), "
            "or rehearse with: make gpu DRY=1"
        )
    if not (corpus / "corpus.jsonl").is_file():
        raise CorpusError(f"{corpus}: no corpus, and nothing is fetched here; run: statgraph fetch {corpus.name}")
    in_folder = any((Path(encoder) / file).is_file() for file in ("config.json", "modules.json"))
    if encoder != EMBEDDED_E5 and not in_folder and not is_cached(encoder):
        raise ModelError(f"encoder '{encoder}': neither a model's folder nor in the hub's cache; fetch it before")


def plan(corpus: Path, encoder: str, out: Path, *, dry: bool) -> dict[str, tuple[str, ...]]:
    """Return the command of each item, in order of value."""
    python, tests = (sys.executable, "-m"), (REPO / "tests").rglob("test_*.py")
    marked = sorted(str(path) for path in tests if "pytest.mark.cuda" in path.read_text(encoding="utf-8"))
    bench = (*python, "benchmarks", "on_gpu", "--corpus", str(corpus), *["--quick"] * dry)
    table = (sys.executable, "-c", _WITH_CUDA_BYTES, "reproduce", TABLE, "--seeds", "1", "--keep-runs")
    places = ("--corpus", str(corpus), "--out", str(out / "table"), "--work", str(out / "runs"))
    trainings = {}
    for name, row in ROWS.items():
        epochs = ["stage1.epochs=1", *["stage2.epochs=1"] * (name != "dsr")]
        settings = ["encoder.train=full", *((*_SMALL, *epochs) if dry else ())]
        how = [word for setting in settings for word in ("--set", setting)]
        device = ("--backbone", encoder, "--device", "cpu" if dry else "cuda")
        trainings[name] = (*table, "--only", row, *places, *device, *how)
    return {"tests": (*python, "pytest", "-q", "-m", "cuda", *marked), "benchmarks": bench, **trainings}


def work_off(commands: Mapping[str, Sequence[str]], out: Path, *, seconds: float, env: Mapping[str, str]) -> int:
    """Run the items that have no OUT/ITEM.json within so many seconds, each with a log beside it; return how many
    failed. One that is still running when the time is up is killed, and not counted."""
    end, failed = time.monotonic() + seconds, 0
    for name, command in commands.items():
        done, log = out / f"{name}.json", out / f"{name}.log"
        if done.is_file():
            print(f"{name}: done before ({done})", flush=True)
            continue
        start = time.monotonic()
        if start >= end:
            print(f"{name}: no time left; run the same command again", flush=True)
            continue
        print(f"{name} ...", flush=True)
        status = _status(command, log, end - start, env)
        took = time.monotonic() - start
        if status is None:
            print(f"{name}: interrupted after {took:.0f} s; the same command goes on with it", flush=True)
        elif status:
            failed += 1
            print(f"{name}: failed after {took:.0f} s; {log} says why", flush=True)
        else:
            if not done.is_file():
                about = {"command": list(command), "seconds": round(took, 1), "commit": commit()}
                write_json(done, {**about, "output": log.read_text(encoding="utf-8").splitlines()[-20:]})
            print(f"{name}: done in {took:.0f} s", flush=True)
    return failed


def _status(command: Sequence[str], log: Path, seconds: float, env: Mapping[str, str]) -> int | None:
    """Return the exit code of a command, None if it did not end in time and was killed with those that it started."""
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("a", encoding="utf-8") as file:
        process = subprocess.Popen(command, cwd=REPO, env=env, stdout=file, stderr=file, start_new_session=True)
        try:
            return process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            return None
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


if __name__ == "__main__":
    sys.exit(main())
