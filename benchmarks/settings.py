"""What a measure may need to know: where the corpus and a run are."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Settings:
    """Where the data of a measure is.

    Attributes:
        corpus: a corpus folder; the embedded sample where none is named.
        run: a run folder trained on it; None for the newest.
        quick: whether to measure on as little as shows that it works: nothing to report.
    """

    corpus: Path
    run: Path | None = None
    quick: bool = False
