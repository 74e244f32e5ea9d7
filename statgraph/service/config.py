"""The settings of the service, and what its page calls itself."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from statgraph.errors import UsageError, option
from statgraph.settings import check_settings, setting

if TYPE_CHECKING:  # `statgraph --help` loads this
    from statgraph.retrieval.index.engines.contract import EngineAddress
    from statgraph.retrieval.search.rewriting import Rewriter

TOKEN_VARIABLE = "STATGRAPH_TOKEN"
LANGUAGES = ("de", "en", "es", "fr", "it", "nl")  # page/words/ has a file of each
LOGO_TYPES = {
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".webp": "image/webp",
}
MOST_OF_A_LOGO = 2**20  # bytes: every reader loads it
_MAIL = re.compile(r"[^\s@:/]+@[^\s@:/]+\.[^\s@:/]+")
_SENDABLE = re.compile(r"[^\x00-\x1f\x7f]+")  # in a header
_SITE = re.compile(r"https?://[^\s/]+\S*")


@dataclass(frozen=True)
class PageConfig:
    """What the page of a service calls itself.

    Attributes:
        name: in its corner and in the browser's tab.
        logo: an image file in place of the section sign, also as the tab's icon.
        contact: whom to ask, an e-mail address or a web address; "" names nobody.
        language: of the interface at first; None for the reader's browser's, else the law's.

    Raises:
        UsageError: if the logo cannot be read or is no image for a page, or the contact is no address.
    """

    name: str = setting("statgraph", pattern=r"\S.{0,78}\S|\S", words="1 to 80 characters in one line")
    logo: Path | None = None
    contact: str = ""
    language: str | None = setting(None, choices=LANGUAGES)

    def __post_init__(self) -> None:
        check_settings(self, "page")
        if self.contact and not (_MAIL.fullmatch(self.contact) or _SITE.fullmatch(self.contact)):
            raise UsageError(
                f"contact '{self.contact}': neither an e-mail address nor a web address; give law@town.example or "
                "https://town.example/law"
            )
        if self.logo is None:
            return
        if self.logo.suffix.lower() not in LOGO_TYPES:
            raise UsageError(f"logo {self.logo}: not one of {', '.join(LOGO_TYPES)}; convert it")
        try:
            size = len(self.logo.read_bytes())
        except OSError as error:
            raise UsageError(f"logo {self.logo}: {error.strerror}; name an image file") from None
        if size > MOST_OF_A_LOGO:
            raise UsageError(
                f"logo {self.logo}: {size:,} bytes; at most {MOST_OF_A_LOGO:,}, since every reader loads it"
            )

    @property
    def contact_link(self) -> str:
        """Return the address that the contact's link leads to."""
        return f"mailto:{self.contact}" if _MAIL.fullmatch(self.contact) else self.contact

    @property
    def logo_type(self) -> str:
        """Return the media type of the logo; blank without one."""
        return "" if self.logo is None else LOGO_TYPES[self.logo.suffix.lower()]


@dataclass(frozen=True)
class ServiceConfig:
    """How the service behaves.

    Attributes:
        token: what a client must send as `Authorization: Bearer TOKEN`, less blanks and line ends around it; None lets
            everyone in.
        editable: whether clients may add articles to the runs and remove them; needs a token.
        log_questions: whether the log holds the text of the questions.
        rewriter: what puts each question in the law's words as well; None searches its own words only.
        timeout_s: how long a question may take, waiting included.
        most_waiting: how many questions may wait for their search before others get 503.
        max_body: bytes of a request's body.
        max_feedback: bytes that a feedback file may grow to.
        page: what the page calls itself.
        engine: that has the runs' vectors; None for their own indexes.
        reader: a cross-encoder in place of the runs', as in `Retriever.load`.
        retry_after_s: seconds after which a client that got 503 may retry.
    """

    token: str | None = None
    editable: bool = False
    log_questions: bool = False
    rewriter: Rewriter | None = None
    page: PageConfig = field(default_factory=PageConfig)
    engine: EngineAddress | None = None
    reader: str | None = None
    timeout_s: float = setting(30.0, above=0)
    most_waiting: int = setting(64, at_least=1)
    max_body: int = setting(128 * 1024, at_least=1)
    max_feedback: int = setting(256 * 2**20, at_least=0)
    retry_after_s: int = setting(1, at_least=0)

    def __post_init__(self) -> None:
        check_settings(self, "service")
        if self.token and not _SENDABLE.fullmatch(self.token.strip()):
            raise UsageError(
                f"{TOKEN_VARIABLE}: blank, or has a line end or another control character inside, which no request can "
                "send; use letters and digits"
            )
        if self.editable and not self.token:
            raise UsageError(
                f"{option('editable')}: needs a token; set {TOKEN_VARIABLE} for those who may change the law"
            )
        if self.editable and self.engine is not None:
            raise UsageError(
                f"{option('editable')} and {option('from')}: an engine's vectors stay as they are; "
                "leave one of them out"
            )
