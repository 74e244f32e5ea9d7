"""Trained text encoders kept between runs: systems that differ in their graph alone share a first stage."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from statgraph.config import RunConfig
from statgraph.errors import RunError
from statgraph.training.checkpoints import load_progress, load_weights, save_checkpoint
from statgraph.training.stage1 import Stage1

# What the weights after stage 1 depend on, beside corpus, device and package versions.
_GROUPS = ("encoder", "pretrain", "augment", "negatives", "stage1", "bm25")


class Stage1Cache:
    """A folder of weights after stage 1, named by all that they depend on."""

    def __init__(self, folder: Path, config: RunConfig, *, corpus_hash: str, device: str):
        values = config.to_dict()
        about = {group: values[group] for group in _GROUPS}
        about |= {"seed": config.seed, "corpus": corpus_hash, "device": device}
        name = hashlib.sha256(json.dumps(about, sort_keys=True).encode("utf-8")).hexdigest()[:24]
        self._folder = folder / name

    def load_into(self, stage: Stage1) -> dict | None:
        """Put the kept weights into a stage and return the record of their best epoch; None where there are none, or
        none that can be read."""
        try:
            record = load_progress(self._folder)
            if record is None:
                return None
            stage.load_weights(load_weights(self._folder))
        except RunError:
            return None
        stage.set_training(False)
        return record

    def keep(self, stage: Stage1, record: dict) -> None:
        """Keep a trained stage's weights with the record of their epoch."""
        save_checkpoint(self._folder, stage.weights(), record)
