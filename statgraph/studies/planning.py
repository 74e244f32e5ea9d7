"""Which runs a table needs: a configuration for each row and seed, and the name that equal runs share."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass

from statgraph.config import RunConfig
from statgraph.errors import UsageError
from statgraph.studies.spec import RowSpec, TableSpec
from statgraph.systems.presets import regime_of, resolve_config

ID_DIGITS = 16


@dataclass(frozen=True)
class PlannedRun:
    """A row's run with one seed. `settings`, seed aside, are what `statgraph train` needs on top of the system."""

    row: str
    seed: int
    config: RunConfig
    settings: tuple[str, ...]

    def train_command(self, corpus_folder: str) -> str:
        """Return the command that makes the same run; a blank folder stands for the embedded sample."""
        import shlex

        words = ["statgraph", "train", *(("--corpus", corpus_folder) if corpus_folder else ())]
        words += ["--system", self.config.system, "--seed", str(self.seed)]
        for setting in self.settings:
            words += ["--set", setting]
        return shlex.join(words)


def planned_runs(
    spec: TableSpec, *, seeds: int, backbone: str = "", settings: Sequence[str] = (), only: Sequence[str] = ()
) -> list[PlannedRun]:
    """Return the runs of a table, seed by seed, so that a table that is cut short has all of its rows.

    Args:
        seeds: how many; a row without anything random is run with seed 0 alone.
        backbone: of every dense row that does not have its own; blank for what the machine decides.
        settings: `a.b=c`, on top of those of every row.
        only: names of rows; none for all.

    Raises:
        UsageError: for an unknown row, or a setting that cannot be.
    """
    names = [row.name for row in spec.rows]
    for name in only:
        if name not in names:
            listed = ", ".join(f"'{known}'" for known in names) or "none"
            raise UsageError(f"--only '{name}': is not a row of {spec.name}; its rows are {listed}")
    return [
        _planned(row, seed, backbone, settings)
        for seed in range(seeds)
        for row in spec.rows
        if (not only or row.name in only) and (row.seeded or seed == 0)
    ]


def run_id(config: RunConfig, corpus_hash: str, split: str) -> str:
    """Return the first 16 hex digits of the SHA-256 of all that decides a result: rows of several tables with the same
    configuration share one run."""
    decided_by = {"config": config.to_dict(), "corpus_hash": corpus_hash, "split": split}
    return hashlib.sha256(json.dumps(decided_by, sort_keys=True).encode("utf-8")).hexdigest()[:ID_DIGITS]


def _planned(row: RowSpec, seed: int, backbone: str, settings: Sequence[str]) -> PlannedRun:
    own = list(row.settings)
    chosen = row.backbone or backbone
    if chosen and resolve_config(row.system, own).retriever == "dense":
        own.insert(0, f"encoder.backbone={chosen}")
    regime = regime_of(resolve_config(row.system, (*own, *settings)))
    own += [*row.regimes.get(regime, ()), *settings]
    return PlannedRun(row.name, seed, resolve_config(row.system, (*own, f"seed={seed}")), tuple(own))
