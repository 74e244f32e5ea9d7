"""`update --vectors`: texts whose vectors `embed` has written are not embedded again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from statgraph.contrib.sharding.vector_shards import VectorShards, encoder_of
from statgraph.progress import Progress
from statgraph.runs.run import Run
from statgraph.systems.updating.update import TextVectors


@dataclass(frozen=True, kw_only=True)
class ShardVectors(TextVectors):
    """Vectors of shards, by the hash of their text; the other texts are embedded."""

    shards: VectorShards

    def check(self, *runs: Run) -> None:
        """Raise RunError unless the shards are complete, and of the encoder of one of the runs."""
        self.shards.check_whole([encoder_of(run.folder, run.config.encoder) for run in runs])

    def only_of(self, run: Run) -> TextVectors:
        """Return this, or what embeds alone where the shards are of another encoder than that of a run."""
        plan = self.shards.plan
        same = plan is not None and plan.encoder == encoder_of(run.folder, run.config.encoder)
        return self if same else TextVectors(self.device, self.progress)

    def of(self, texts: Sequence[str], run: Run) -> tuple[np.ndarray, int]:
        """Return (the vectors of texts (texts, width), how many of them came from the shards)."""
        return self.shards.encoded(texts, lambda others: super(ShardVectors, self).of(others, run)[0])


def vectors_at(uri: str) -> Callable[[str, Progress], TextVectors]:
    """Return what makes, of a device and a progress, the `TextVectors` that takes the shards at a URI."""
    return partial(ShardVectors, shards=VectorShards(uri))
