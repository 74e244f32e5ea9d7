"""Exceptions of the library. The command line prints their text as one clear line and exits with `exit_code`."""

from __future__ import annotations

from collections.abc import Sequence

MAX_LISTED_PROBLEMS = 20


class StatgraphError(Exception):
    """Base of every error that a user can cause and mend: the text names the place, the value and the remedy."""

    exit_code = 1


class UsageError(StatgraphError):
    """An option, a name or a configuration value that is not understood."""

    exit_code = 2


class CorpusError(StatgraphError):
    """A corpus that cannot be used. Carries every problem found; its text lists the first 20."""

    def __init__(self, problems: Sequence[str]):
        self.problems = tuple(problems)
        listed = list(self.problems[:MAX_LISTED_PROBLEMS])
        left = len(self.problems) - len(listed)
        if left:
            listed.append(f"... and {left} more problem{'s' if left > 1 else ''}")
        super().__init__("\n".join(listed))


class FetchError(StatgraphError):
    """A corpus that cannot be brought to this machine: no client, no network, wrong checksum, disk full."""


class GraphError(StatgraphError):
    """A graph folder that is missing, damaged, or belongs to another corpus."""


class RunError(StatgraphError):
    """A run folder that is missing, unfinished, or does not fit what is asked of it."""


class ModelError(StatgraphError):
    """A backbone or encoder that is not known, not installed or not loadable."""


class DependencyError(StatgraphError):
    """A package that is missing or does not fit; the text says what to install."""
