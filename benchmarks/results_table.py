"""The table of docs/results.md: every row trained and evaluated over seeds, one process a run.

    python -m benchmarks.results_table --corpus corpora/legi-fr --backbone embedded:static

A run that is in the result file already is not trained again, so the command can be stopped and started.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

STATIC, E5 = "embedded:static", "embedded:multilingual-e5-small"
METRICS = ("R@100", "R@200", "R@500", "mAP", "mRP", "nDCG@10", "MRR@10")
STRATA = ("all", "seen", "unseen")


@dataclass(frozen=True)
class Row:
    """A row of the table: a system, what is set on top of its preset, and whether it has anything random."""

    name: str
    system: str
    settings: tuple[str, ...] = ()
    seeded: bool = True


ROWS = (
    Row("BM25", "bm25", seeded=False),
    Row("zero-shot", "dpr", seeded=False),
    Row("stage 1, gold pairs only", "dsr", ("stage1.headings=0",)),
    Row("stage 1, gold + headings as questions", "dsr"),
    Row("stage 2, tree only", "qabisar", ("graph.relations=tree",)),
    Row("QABISAR, target edges kept", "qabisar", ("graph.target_edges=keep",)),
    Row("QABISAR, target edges masked", "qabisar"),
)


def main() -> None:
    """Train and evaluate what is missing, then write the result file and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--backbone", default=STATIC)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--split", default="test")
    parser.add_argument("--only", nargs="*", help="names of rows; all of them where not given")
    parser.add_argument("--results", type=Path, default=None)
    parser.add_argument("--work", type=Path, default=Path("runs") / "results-table")
    arguments = parser.parse_args()
    results = arguments.results or Path(__file__).parent / "results" / (
        f"{arguments.corpus.name}-{arguments.backbone.rsplit(':', 1)[-1].replace('/', '-')}-{arguments.split}.json"
    )
    done = json.loads(results.read_text(encoding="utf-8")) if results.is_file() else []
    for row in ROWS:
        if arguments.only and row.name not in arguments.only:
            continue
        for seed in range(arguments.seeds if row.seeded else 1):
            if any(entry["row"] == row.name and entry["seed"] == seed for entry in done):
                continue
            done.append(measured(row, seed, arguments.corpus, arguments.backbone, arguments.split, arguments.work))
            results.parent.mkdir(parents=True, exist_ok=True)
            results.write_text(json.dumps(done, indent=1) + "\n", encoding="utf-8")
    print(markdown(done))


def measured(row: Row, seed: int, corpus: Path, backbone: str, split: str, work: Path) -> dict:
    """Return the record of one run: what was run, its metrics by stratum, its learning curve on dev, and the time
    and memory of its steps."""
    run = work / f"{row.name.replace(' ', '-')}-{seed}"
    shutil.rmtree(run, ignore_errors=True)
    settings = () if row.system == "bm25" else (f"encoder.backbone={backbone}", *row.settings)
    train = ["train", "--corpus", str(corpus), "--system", row.system, "--seed", str(seed), "--out", str(run)]
    for setting in settings:
        train += ["--set", setting]
    _statgraph(*train)
    report = json.loads(_statgraph("evaluate", "--run", str(run), "--corpus", str(corpus), "--split", split, "--json"))
    manifest = json.loads((run / "manifest.json").read_text(encoding="utf-8"))
    curve = (run / "metrics.jsonl").read_text(encoding="utf-8") if (run / "metrics.jsonl").is_file() else ""
    shutil.rmtree(run)
    return {
        "row": row.name,
        "seed": seed,
        "command": "statgraph " + " ".join(train),
        "commit": _commit(),
        "metrics": {
            stratum: {name: report["strata"][stratum]["metrics"][name]["mean"] for name in METRICS}
            for stratum in STRATA
        },
        "n_questions": {stratum: report["strata"][stratum]["n_questions"] for stratum in STRATA},
        "steps": manifest["steps"],
        "learning_curve": [json.loads(line) for line in curve.splitlines()],
    }


def markdown(records: list[dict]) -> str:
    """Return the records as Markdown tables: one a stratum, mean and standard deviation over seeds, then the times."""
    lines = []
    for stratum in STRATA:
        n_questions = records[0]["n_questions"][stratum]
        lines += [f"**{stratum}** ({n_questions} questions)", "", "| row | seeds | " + " | ".join(METRICS) + " |"]
        lines.append("| --- " * (len(METRICS) + 2) + "|")
        for name in _names(records):
            runs = [record["metrics"][stratum] for record in records if record["row"] == name]
            cells = [_cell([100 * run[metric] for run in runs]) for metric in METRICS]
            lines.append(f"| {name} | {len(runs)} | " + " | ".join(cells) + " |")
        lines.append("")
    lines += ["| row | seconds a step (mean over seeds) | total | peak memory |", "| --- | --- | --- | --- |"]
    for name in _names(records):
        runs = [record["steps"] for record in records if record["row"] == name]
        steps = [f"{step['name']} {np.mean([run[i]['seconds'] for run in runs]):.0f}" for i, step in enumerate(runs[0])]
        total = np.mean([sum(step["seconds"] for step in run) for run in runs])
        peak = max(step["peak_mib"] for run in runs for step in run)
        lines.append(f"| {name} | {', '.join(steps)} | {total:.0f} s | {peak:,} MiB |")
    return "\n".join(lines)


def _names(records: list[dict]) -> list[str]:
    present = {record["row"] for record in records}
    return [row.name for row in ROWS if row.name in present]


def _cell(values: list[float]) -> str:
    return f"{np.mean(values):.1f}" if len(values) == 1 else f"{np.mean(values):.1f} ± {np.std(values, ddof=1):.1f}"


def _statgraph(*arguments: str) -> str:
    command = [sys.executable, "-c", "from statgraph.cli.main import main; main()", *arguments]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def _commit() -> str:
    described = subprocess.run(
        ["git", "describe", "--always", "--dirty"],
        check=False,
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parent,
    )
    return described.stdout.strip()


if __name__ == "__main__":
    main()
