"""One system trained in full and measured, an item of `make gpu`.

    python -m benchmarks.gpu_training SYSTEM --corpus DIR --backbone NAME --out DIR [--quick]

Run again it continues what was interrupted, and of a finished run it measures alone. The result is a JSON file.
"""

from __future__ import annotations

import argparse
import platform
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch

from statgraph.artifacts import write_json
from statgraph.config import RunConfig
from statgraph.device import pick_device
from statgraph.errors import StatgraphError
from statgraph.law.records import Corpus
from statgraph.law.store import read_corpus
from statgraph.progress import Step, TrainingStep
from statgraph.retrieval.search.evaluating import evaluate_split
from statgraph.retrieval.search.retriever import Retriever
from statgraph.runs.folders import is_finished, is_unfinished
from statgraph.runs.provenance import commit, versions
from statgraph.runs.run import RunFolder
from statgraph.systems.job import TrainingOptions
from statgraph.systems.pipeline import train_run
from statgraph.systems.presets import resolve_config

_QUICK = ("encoder.article_heads=2", "gnn.heads=2", "encoder.chunk_tokens=16", "encoder.max_tokens=32")


def main() -> int:
    """Train and measure; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("system")
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--backbone", required=True)
    parser.add_argument("--out", type=Path, required=True, help="folder of the runs; the result is OUT/SYSTEM.json")
    parser.add_argument("--quick", action="store_true", help="as little as shows that it works, on the CPU")
    arguments = parser.parse_args()
    device = "cpu" if arguments.quick else "cuda"
    settings = (f"encoder.backbone={arguments.backbone}", "encoder.train=full", f"device={device}")
    try:
        config = resolve_config(arguments.system, (*settings, *(_QUICK if arguments.quick else ())))
        _train_and_measure(arguments, _with_one_epoch(config) if arguments.quick else config)
    except StatgraphError as error:
        print(f"Error: {error}", file=sys.stderr)
        return 1
    return 0


def _with_one_epoch(config: RunConfig) -> RunConfig:
    """Return the configuration with one epoch of each stage that it has."""
    stage1, stage2 = (replace(stage, epochs=min(1, stage.epochs)) for stage in (config.stage1, config.stage2))
    return replace(config, stage1=stage1, stage2=stage2)


def _train_and_measure(arguments: argparse.Namespace, config: RunConfig) -> None:
    corpus, folder = read_corpus(arguments.corpus), arguments.out / "runs" / arguments.system
    start = time.perf_counter()
    if is_finished(folder):
        run = RunFolder.read(folder)
    else:
        # The three systems share their first stage.
        cache = arguments.out / "stage1"
        options = TrainingOptions(resume=is_unfinished(folder), stage1_cache=cache, progress=_told)
        run = train_run(corpus, config, folder, options)
    seconds = time.perf_counter() - start
    write_json(arguments.out / f"{arguments.system}.json", _result(run, corpus, seconds))


def _result(run: RunFolder, corpus: Corpus, seconds: float) -> dict[str, object]:
    device = pick_device(run.config.device)
    retriever = Retriever.of(run, device=run.config.device)
    reports = {
        split: evaluate_split(retriever, corpus, split, rng=np.random.default_rng(run.config.seed)).to_dict()
        for split in ("dev", "test")
        if corpus.split(split)
    }
    on_cuda = device.type == "cuda"
    return {
        "system": run.config.system,
        "corpus": corpus.name,
        "backbone": run.config.encoder.backbone,
        "device": torch.cuda.get_device_name(device) if on_cuda else platform.machine(),
        "commit": commit(),
        "versions": versions(),
        "seconds_of_this_process": round(seconds, 1),
        "steps": list(run.steps),
        "most_cuda_bytes": torch.cuda.max_memory_allocated(device) if on_cuda else None,
        "config": run.config.to_dict(),
        "reports": reports,
    }


def _told(step: Step) -> None:
    """Print each finished epoch, for the log."""
    if isinstance(step, TrainingStep) and step.done % (step.total // step.epochs) == 0:
        print(f"{step.name}: {step.detail}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
