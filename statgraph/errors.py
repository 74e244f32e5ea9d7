"""Exceptions of the library. The command line prints their text as one clear line and exits with `exit_code`."""

from __future__ import annotations

from collections.abc import Iterable

MAX_LISTED_PROBLEMS = 20


class StatgraphError(Exception):
    """Base of every error that a user can cause and fix: the text names the place, the value and the remedy."""

    exit_code = 1


class UsageError(StatgraphError):
    """An invalid option, name or configuration value."""

    exit_code = 2


class CorpusError(StatgraphError):
    """A corpus that cannot be used. `problems` has every problem found, the text the first 20."""

    def __init__(self, *problems: str):
        self.problems = problems
        listed = list(self.problems[:MAX_LISTED_PROBLEMS])
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


class EngineError(StatgraphError):
    """An index engine that cannot be reached, or does not hold the vectors of the run."""


class ModelError(StatgraphError):
    """A backbone or encoder that is unknown, not installed or not loadable."""


class RewritingError(StatgraphError):
    """A chat endpoint that did not rewrite a question."""


class DependencyError(StatgraphError):
    """A package that is missing or incompatible; the text says what to install."""


def unknown_name(kind: str, name: str, known: Iterable[str]) -> UsageError:
    """Return the error for an unknown name; it lists the known ones."""
    return UsageError(f"unknown {kind} '{name}'; choose from {', '.join(known)}")


def reason_of(error: BaseException) -> str:
    """Return what an error says, on one line: the first of its text, or its class where it has no text."""
    return str(error).strip().partition("\n")[0] or type(error).__name__


def described(error: BaseException) -> str:
    """Return an error's class and, where it has a text, the first line of it; of a KeyError, which key is missing."""
    if isinstance(error, KeyError):
        return f"{error} is missing"
    kind, reason = type(error).__name__, reason_of(error)
    return kind if reason == kind else f"{kind}: {reason}"
