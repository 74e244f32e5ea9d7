"""`make gpu`: what to do with a CUDA machine for an hour, in order of value.

The tests marked `cuda`; the benchmark rows of a GPU; QABISAR, G-DSR and DSR trained in full, rows of a table by
`statgraph reproduce`, which repeats no finished run and resumes the one that the end of the hour interrupts. Nothing is
fetched.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import click
import torch

from benchmarks.measuring import STATGRAPH
from statgraph.encoders.article_text import article_text
from statgraph.encoders.backbone import EMBEDDED_E5
from statgraph.encoders.tiny import write_tiny_backbone
from statgraph.errors import CorpusError
from statgraph.law.catalogue import sample_folder
from statgraph.law.store import read_corpus

REPO = Path(__file__).parents[1]
OUT = Path("runs/gpu-hour")
TABLE, ROWS = "qabisar-table1", {"qabisar": "QABISAR", "gdsr": "G-DSR", "dsr": "stage 1"}
_OFFLINE = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"}
_SMALL = ("encoder.article_heads=2", "gnn.heads=2", "encoder.chunk_tokens=16", "encoder.max_tokens=32")
_OUT_OF_TIME = 124  # the exit code of `timeout`


@click.command(help=__doc__)
@click.option("--hours", default=1.0, show_default=True)
@click.option("--corpus", type=click.Path(path_type=Path), default="corpora/legi-fr", show_default=True)
@click.option("--encoder", default=EMBEDDED_E5, show_default=True, help="A folder or a model in the hub's cache.")
@click.option("--dry", is_flag=True, help="Rehearse it on the CPU with the sample and a tiny model.")
def main(hours: float, corpus: Path, encoder: str, dry: bool) -> None:
    """Do what is left within the time; exit with the number of items that failed."""
    if not dry and not torch.cuda.is_available():
        raise click.ClickException(
            f"torch {torch.__version__} sees no CUDA device; install its CUDA build into {sys.prefix} (docs/gpu.md), "
            "or rehearse with: make gpu DRY=1"
        )
    try:
        law = read_corpus(sample_folder() if dry else corpus)
    except CorpusError as error:
        raise click.ClickException(str(error)) from None
    with tempfile.TemporaryDirectory(prefix="statgraph-") as scratch:
        env, out = {**os.environ, **_OFFLINE}, OUT
        if dry:  # all but the corpus is gone afterwards
            tiny = write_tiny_backbone(Path(scratch) / "tiny", [article_text(article) for article in law.articles])
            corpus, encoder, out = sample_folder(), str(tiny), Path(scratch) / "results"
            env["CUDA_VISIBLE_DEVICES"] = ""
        print(f"{corpus}, {encoder}; results in {out}", flush=True)
        sys.exit(work_off(plan(corpus, encoder, out, dry=dry), out, seconds=3600 * hours, env=env))


def plan(corpus: Path, encoder: str, out: Path, *, dry: bool) -> dict[str, tuple[str, ...]]:
    """Return the command of each item, in order of value."""
    python, tests = (sys.executable, "-m"), (REPO / "tests").rglob("test_*.py")
    marked = sorted(str(path) for path in tests if "pytest.mark.cuda" in path.read_text(encoding="utf-8"))
    bench = (*python, "benchmarks", "on_gpu", "--corpus", str(corpus), *["--quick"] * dry)
    table = (*STATGRAPH, "reproduce", TABLE, "--seeds", "1", "--keep-runs")
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
    """Run the items within so many seconds, each with a log OUT/ITEM.log; return how many failed. One that is still
    running when the time is up is killed with what it started, and not counted."""
    end, failed = time.monotonic() + seconds, 0
    out.mkdir(parents=True, exist_ok=True)
    for name, command in commands.items():
        start, log = time.monotonic(), out / f"{name}.log"
        if start >= end:
            print(f"{name}: no time left; run the same command again", flush=True)
            continue
        limited = ["timeout", "--kill-after=30", f"{end - start:.1f}", *command]
        with log.open("w", encoding="utf-8") as file:
            status = subprocess.run(limited, cwd=REPO, env=env, stdout=file, stderr=file).returncode
        ending = {0: "done", _OUT_OF_TIME: "interrupted; run the same command again:"}.get(status, "failed")
        failed += ending == "failed"
        print(f"{name}: {ending} after {time.monotonic() - start:.0f} s ({log})", flush=True)
    return failed


if __name__ == "__main__":
    main()
