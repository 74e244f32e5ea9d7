"""What all questions have in common, which is subtracted from a question before an untrained encoder compares it: some
articles are near to every question (hubs: Radovanović et al. 2010)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from statgraph import artifacts
from statgraph.encoders.inference.query_encoder import HeadEncoder

if TYPE_CHECKING:  # which imports this module
    from statgraph.retrieval.signals.dense import DenseSignal

CENTRES = "centres.npz"  # in the folder of a run's signals
_AT_ONCE = 256  # texts in memory with the vectors of their tokens
_LAY_QUESTIONS = Path(__file__).with_name("lay_questions.tsv")


@dataclass(frozen=True, eq=False)
class Centre:
    """What is subtracted from a question's vector, (width,) float32, and from that of each of its tokens, (width,)
    float32; 0 where nothing is."""

    question: np.ndarray | float = 0.0
    token: np.ndarray | float = 0.0


def units(vectors: np.ndarray) -> np.ndarray:
    """Return the vectors at length 1."""
    unit_vectors: np.ndarray = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    return unit_vectors


def write_centres(
    members: Sequence[DenseSignal], questions: Sequence[str], share: float, folder: Path, *, tokens: bool
) -> None:
    """Save for each member a share of the mean vector of everyday questions about law in seven languages and of the
    training questions, and of the mean vector of their tokens if asked for."""
    texts = [text for row in artifacts.read_table(_LAY_QUESTIONS) for text in row.values()] + list(questions)
    centres = {}
    for member in members:
        centres[f"{member.name} question"] = share * member.encoder.encode(texts).mean(axis=0)
        if tokens and isinstance(member.encoder, HeadEncoder):
            total: np.ndarray = np.zeros(())
            n_tokens = 0
            for start in range(0, len(texts), _AT_ONCE):
                _, by_text = member.encoder.base.encode_tokens(texts[start : start + _AT_ONCE])
                vectors = units(np.concatenate(by_text))
                total, n_tokens = total + vectors.sum(axis=0, dtype=np.float64), n_tokens + len(vectors)
            centres[f"{member.name} token"] = (share / n_tokens * total).astype(np.float32)
    np.savez(folder / CENTRES, **centres)


def read_centre(folder: Path, name: str, width: int) -> Centre:
    """Return the centre of a member whose vectors are of this width, nothing where the run has none.

    Raises:
        RunError: if the file is damaged.
    """
    if not (folder / CENTRES).is_file():
        return Centre()
    with artifacts.reading(folder / CENTRES), np.load(folder / CENTRES) as saved:
        centre = Centre(*(saved.get(f"{name} {part}", 0.0) for part in ("question", "token")))
        for vector in (centre.question, centre.token):
            if np.shape(vector) not in ((), (width,)) or not np.isfinite(vector).all():
                raise ValueError("a vector that is not finite, or of another width than the member's")
    return centre
