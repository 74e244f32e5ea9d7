"""What every process of tests/systems/test_dense.py runs: FOLDER RUNS, RUNS a JSON list of [name, corpus, system,
settings], with the corpora in FOLDER.

A name with "resumed" in it is stopped in the last epoch of stage 2, on all processes, and taken up again.
"""

import json
import sys
from contextlib import suppress
from pathlib import Path

from statgraph.cli.failures import report
from statgraph.distributed import launched
from statgraph.law.store import read_corpus
from statgraph.progress import TrainingStep
from statgraph.systems.job import TrainingOptions
from statgraph.systems.model_card import read_run_report
from statgraph.systems.pipeline import train_run
from statgraph.systems.presets import resolve_config


class _StopError(Exception):
    pass


def _stop(step) -> None:
    if isinstance(step, TrainingStep) and (step.name, step.epoch) == ("stage2", step.epochs):
        raise _StopError


def main(folder: Path, runs: list) -> None:
    with launched(report):
        for name, corpus, system, settings in runs:
            arguments = read_corpus(folder / corpus), resolve_config(system, settings), folder / name
            if "resumed" in name:
                with suppress(_StopError):
                    train_run(*arguments, TrainingOptions(progress=_stop))
            run = train_run(*arguments, TrainingOptions(resume="resumed" in name))
            measured = read_run_report(run.folder)
            precision = measured and round(measured.strata["all"].metrics["mAP"].mean, 3)
            print(name, run.processes, precision)


if __name__ == "__main__":
    main(Path(sys.argv[1]), json.loads(sys.argv[2]))
