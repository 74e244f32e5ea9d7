"""Runs on the Hugging Face hub: their addresses, and the local copy of one."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from statgraph.errors import RunError, UsageError, checked, reason_of

SCHEME = "hf://"
_ADDRESS = re.compile(rf"{SCHEME}(?P<name>[\w-][\w.-]*/[\w-][\w.-]*)(?:@(?P<revision>[\w./-]+))?")


@dataclass(frozen=True)
class HubAddress:
    """The repository of a run, OWNER/NAME, and its commit, branch or tag; None is the newest commit."""

    name: str
    revision: str | None = None

    def __str__(self) -> str:
        return f"{SCHEME}{self.name}{f'@{self.revision}' if self.revision else ''}"

    @classmethod
    def of(cls, text: str) -> HubAddress:
        """Return the address in a text, `hf://OWNER/NAME` or `hf://OWNER/NAME@REVISION`.

        Raises:
            UsageError: if there is none.
        """
        match = _ADDRESS.fullmatch(text)
        if match is None:
            raise UsageError(f"{text}: not an address of the hub; write it like {SCHEME}OWNER/NAME, or with @REVISION")
        return cls(**match.groupdict())


def local_run(run: Any) -> Path:
    """Return the folder of a run: its `folder`, the one named, or the copy of `hf://OWNER/NAME` in the hub's cache,
    downloaded where it is not there yet. Python files stay behind.

    Raises:
        UsageError: if it is neither a run nor a path, or begins like an address and is invalid.
        RunError: if the hub's client cannot get it.
    """
    run = checked("run", getattr(run, "folder", run), (str, os.PathLike), "a run or its folder")
    if not isinstance(run, str) or not run.startswith(SCHEME):
        return Path(run)
    from huggingface_hub import snapshot_download

    address = HubAddress.of(run)
    try:  # without code, which would be run when the model is loaded
        return Path(snapshot_download(address.name, revision=address.revision, ignore_patterns=["*.py"]))
    except Exception as error:  # the client raises its own errors, its transport's and the system's
        raise RunError(
            f"{address}: cannot be downloaded ({reason_of(error)}); check the name and the network, and for a private "
            "repository your token (hf auth login)"
        ) from error
