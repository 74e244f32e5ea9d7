"""The log of a run: one JSON line for each epoch of each stage, with the loss of each step in `step_losses`."""

from __future__ import annotations

import json
from pathlib import Path

from statgraph.artifacts import replaced_file


class MetricsLog:
    """Appends to `metrics.jsonl`; a resumed stage first takes back the lines past its checkpoint."""

    def __init__(self, path: Path):
        self._path = Path(path)

    def append(self, **record: object) -> None:
        """Add one line."""
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")

    def records(self) -> list[dict]:
        """Return all lines, in order; a line cut short by a kill is left out."""
        if not self._path.is_file():
            return []
        records = []
        for line in self._path.read_text(encoding="utf-8").splitlines():
            try:
                records.append(json.loads(line))
            except json.JSONDecodeError:
                continue
        return records

    def take_back(self, stage: str, after_epoch: int) -> None:
        """Remove the lines of a stage past an epoch."""
        kept = [record for record in self.records() if record["stage"] != stage or record["epoch"] <= after_epoch]
        with replaced_file(self._path) as staging:
            staging.write_text("".join(json.dumps(record) + "\n" for record in kept), encoding="utf-8")
