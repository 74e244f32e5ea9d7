"""One run of a table: trained, or taken up where it was interrupted, then measured."""

from __future__ import annotations

import gc
import os
import platform
import time
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from statgraph import artifacts
from statgraph.corpus.records import Corpus
from statgraph.runs.manifest import read_run_manifest
from statgraph.runs.provenance import commit
from statgraph.search.evaluating import split_metrics
from statgraph.search.retriever import Retriever
from statgraph.studies.planning import PlannedRun, run_id
from statgraph.studies.store import RunResult, RunStore
from statgraph.systems.job import StepListener, TrainingOptions
from statgraph.systems.pipeline import is_finished, train_run
from statgraph.training.checkpoints import MetricsLog
from statgraph.training.loop import Listener


def finished_run(
    planned: PlannedRun,
    corpus: Corpus,
    split: str,
    store: RunStore,
    *,
    corpus_folder: str,
    keep_run: bool,
    on_step: StepListener = lambda what, done, total: None,
    on_training: Listener = lambda progress: None,
) -> RunResult:
    """Return the result of a run, training what is missing of it.

    Raises:
        RunBusyError: if another process works on it.
        StatgraphError: if the run cannot be trained.
    """
    name = run_id(planned.config, corpus.content_hash, split)
    with store.claimed(name):
        found = store.result(name)
        if found is not None:
            return found
        folder = store.trained_folder(name)
        resumed = (folder / artifacts.RUN_CONFIG).is_file()
        start = time.perf_counter()
        _forget_peak_memory()
        if not is_finished(folder):
            options = TrainingOptions(resumed, store.stage1_cache, on_step, on_training)
            train_run(corpus, planned.config, folder, options)
        device = planned.config.device
        metrics = split_metrics(Retriever.load(folder, device=device), corpus, split)
        manifest = read_run_manifest(folder)
        about = {
            "config": manifest["config"],
            "seed": planned.seed,
            "corpus": manifest["corpus"],
            "split": split,
            "commit": commit(),
            "versions": manifest["versions"],
            "date": f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
            "machine": machine(device),
            "command": planned.train_command(corpus_folder),
            "resumed": resumed,
            "seconds": round(time.perf_counter() - start, 1),
            "steps": manifest["steps"],
            "learning_curve": MetricsLog(folder / artifacts.RUN_METRICS).records(),
        }
        result = RunResult(metrics, about)
        store.finish(name, result, keep_run=keep_run)
        return result


def machine(device: str) -> str:
    """Return what a run is computed on, in one line."""
    import torch

    from statgraph.device import pick_device

    model = platform.processor() or platform.machine()
    with suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        model = next((line.partition(": ")[2] for line in lines if line.startswith("model name")), model)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    gpu = f", {torch.cuda.get_device_name()}" if pick_device(device).type == "cuda" else ", no GPU"
    return f"{model}, {cores} cores{gpu}, {platform.system()}, Python {platform.python_version()}"


def _forget_peak_memory() -> None:
    """Start the count of the highest resident memory anew, so that a run is not charged with the one before; where the
    system cannot (it is Linux's), the figure is that of the whole process."""
    gc.collect()
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="utf-8")
