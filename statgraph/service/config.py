"""The settings of the service."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from statgraph.index.engines.contract import EngineAddress
from statgraph.search.rewriting import Rewriter
from statgraph.service.page_config import PageConfig
from statgraph.settings import check_settings, setting

TOKEN_VARIABLE = "STATGRAPH_TOKEN"


@dataclass(frozen=True)
class ServiceConfig:
    """How the service behaves.

    Attributes:
        token: what a client must send as `Authorization: Bearer TOKEN`; None lets everyone in.
        feedback: the JSONL file that feedback is appended to; None takes none.
        log_questions: whether the log holds the text of the questions.
        rewriter: what puts each question in the law's words as well; None searches its own words only.
        timeout_s: how long a question may take, waiting included.
        most_waiting: how many questions may wait for their search before others get 503.
        max_body: bytes of a request's body.
        max_feedback: bytes that the feedback file may grow to.
        page: what the page calls itself.
        engine: that has the run's vectors; None for the run's own index.
        retry_after_s: seconds after which a client that got 503 may retry.
    """

    token: str | None = None
    feedback: Path | None = None
    log_questions: bool = False
    rewriter: Rewriter | None = None
    page: PageConfig = field(default_factory=PageConfig)
    engine: EngineAddress | None = None
    timeout_s: float = setting(30.0, above=0)
    most_waiting: int = setting(64, at_least=1)
    max_body: int = setting(64 * 1024, at_least=1)
    max_feedback: int = setting(256 * 2**20, at_least=0)
    retry_after_s: int = setting(1, at_least=0)

    def __post_init__(self):
        check_settings(self, "service")
