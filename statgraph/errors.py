"""Exceptions of the library. The command line prints their text as one clear line and exits with `exit_code`.

A text names what to change by `option`, in both wordings: a caller from Python reads the argument, `settings` or
`keep_test`, and `on_command_line` gives the option, `--set` or `--keep-test`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self, TypeVar

MAX_LISTED_PROBLEMS = 20
RETRAIN = "train the run again"
Value = TypeVar("Value")
_ARGUMENTS = {
    "set": "settings",
    "from": "from_folder",
    "no-reader": "reader=''",
}  # of the others the option is the name
_MARK = "\ue000{}\ue001{}\ue002"  # characters of private use, which nobody writes
_MARKED = re.compile(_MARK.format("([a-z-]+)", "([^\ue002]*)"))


def option(name: str) -> str:
    """Return the mark of an option to put into the text of an error or a `Text`, which alone can be read."""
    return _MARK.format(name, _ARGUMENTS.get(name, name.replace("-", "_")))


class Text(str):
    """A text that names options, as a caller from Python reads it.

    Attributes:
        marked: the text with the marks.
    """

    marked: str

    def __new__(cls, marked: str) -> Self:
        """Return the text that is given with marks."""
        text = super().__new__(cls, _MARKED.sub(r"\2", marked))
        text.marked = marked
        return text


def marked(said: BaseException | str) -> str:
    """Return the text of an error, or a text, with its marks: what another error is to say of it."""
    text = said.text if isinstance(said, StatgraphError) else said
    return text.marked if isinstance(text, Text) else str(text)


def on_command_line(said: BaseException | str) -> str:
    """Return the text of an error, or a text, as the command line words it, with options."""
    return _MARKED.sub(r"--\1", marked(said))


class StatgraphError(Exception):
    """Base of every error that a user can cause and fix: the text names the place, the value and the remedy."""

    exit_code = 1

    def __init__(self, text: str = ""):
        self.text = Text(text)
        super().__init__(str(self.text))


class UsageError(StatgraphError):
    """An invalid option, name or configuration value."""

    exit_code = 2


class CorpusError(StatgraphError):
    """A corpus that cannot be used. `problems` has every problem found, the text the first 20."""

    def __init__(self, *problems: str):
        self.problems = tuple(map(Text, problems))
        listed = list(problems[:MAX_LISTED_PROBLEMS])
        left = len(self.problems) - len(listed)
        if left:
            listed.append(f"... and {left} more problem{'s' if left > 1 else ''}")
        super().__init__("\n".join(listed))


class FetchError(StatgraphError):
    """A corpus that cannot be downloaded: no client, no network, wrong checksum, disk full."""


class GraphError(StatgraphError):
    """A graph folder that is missing, damaged, or belongs to another corpus."""


class RunError(StatgraphError):
    """A run folder that is missing, unfinished, or unfit for the request."""


def damaged_run(what: str) -> RunError:
    """Return the error for a part of a run that is missing or damaged, or does not fit the others."""
    return RunError(f"{what}; {RETRAIN}")


class EngineError(StatgraphError):
    """An index engine that cannot be reached, or does not hold the vectors of the run."""


class ModelError(StatgraphError):
    """A backbone or encoder that is unknown, not installed or not loadable."""


class ChatError(StatgraphError):
    """A chat endpoint that gave no usable answer; `status` is that of HTTP, 200 for an answer of another form, and
    `retry_after_s` how long it asks to be left alone; both None where it did not say."""

    def __init__(self, text: str = "", status: int | None = None, retry_after_s: int | None = None):
        super().__init__(text)
        self.status, self.retry_after_s = status, retry_after_s


class RewritingError(StatgraphError):
    """A chat endpoint that did not rewrite a question."""


class DependencyError(StatgraphError):
    """A package that is missing or incompatible; the text says what to install."""


def checked(name: str, value: Value, kinds: tuple[type, ...], wanted: str) -> Value:
    """Return the value of an argument, which is of one of the kinds.

    Raises:
        UsageError: if it is of another.
    """
    if not isinstance(value, kinds):
        raise UsageError(f"{name}: must be {wanted} (got {type(value).__name__})")
    return value


def unknown_name(kind: str, name: str, known: Iterable[str]) -> UsageError:
    """Return the error for an unknown name; it lists the known ones."""
    return UsageError(f"unknown {kind} '{name}'; choose from {', '.join(known)}")


@contextmanager
def readable(source: Path | str) -> Iterator[None]:
    """Raise CorpusError for what the operating system refuses to read in the block."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or reason_of(error)
        raise CorpusError(f"{error.filename or source}: cannot be read ({reason}); check its permissions") from None


def reason_of(error: BaseException) -> str:
    """Return what an error says, on one line and with marks: the first of its text, or its class without a text."""
    return marked(error).strip().partition("\n")[0] or type(error).__name__


def described(error: BaseException) -> str:
    """Return an error's class and, where it has a text, the first line of it; of a KeyError, which key is missing."""
    if isinstance(error, KeyError):
        return f"{error} is missing"
    kind, reason = type(error).__name__, reason_of(error)
    return kind if reason == kind else f"{kind}: {reason}"
