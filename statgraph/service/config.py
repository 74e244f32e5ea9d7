"""The settings of the service."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

TOKEN_VARIABLE = "STATGRAPH_TOKEN"


@dataclass(frozen=True)
class ServiceConfig:
    """How the service behaves.

    Attributes:
        token: what a client must send as `Authorization: Bearer TOKEN`; None lets everyone in.
        feedback: the JSONL file that feedback is appended to; None takes none.
        log_questions: whether the log holds the text of the questions.
        timeout_s: how long a question may take, waiting included.
        most_waiting: how many questions may wait for their search before others get 503.
        max_body: bytes of a request's body.
        max_feedback: bytes that the feedback file may grow to.
        retry_after_s: seconds after which a client that got 503 may retry.
    """

    token: str | None = None
    feedback: Path | None = None
    log_questions: bool = False
    timeout_s: float = 30.0
    most_waiting: int = 64
    max_body: int = 64 * 1024
    max_feedback: int = 256 * 2**20
    retry_after_s: int = 1
