"""A run as others search it: in a folder of its own, or as a repository of the Hugging Face hub, which
`Retriever.load("hf://OWNER/NAME")` loads."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

from statgraph import artifacts
from statgraph.errors import RunError, UsageError, reason_of
from statgraph.runs.hub import SCHEME, HubAddress
from statgraph.runs.run import RunFolder

_SECTION = """
## Load it

```python
from statgraph import Retriever

for hit in Retriever.load("{address}").search("Who gets the deposit back?"):
    print(hit.rank, hit.title, hit.text[:80])
```
"""
_OF_THE_HUB = {".gitattributes", artifacts.MODEL_CARD}  # in a repository without being of a run


def write_copy(run: RunFolder, folder: Path) -> str:
    """Copy the published files of a run; every file is a copy, for a folder that goes to another machine."""
    files = list(published_files(run))
    for path in files:
        copy = folder / path.relative_to(run.folder)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)
    return f"what {run.folder} needs to answer ({sum(path.stat().st_size for path in files) / 1e6:,.1f} MB)"


def push_run(folder: Path, name: str, *, public: bool = False) -> HubAddress:
    """Push what a run needs to answer questions as one commit of a model repository, and return the commit's address.

    A repository that does not exist is created, private by default. In one that holds a run the new commit replaces it;
    older commits keep their addresses.

    Args:
        folder: the run's.
        name: OWNER/NAME, with or without `hf://` in front.
        public: whether a new repository can be read by everyone.

    Raises:
        UsageError: if the name is invalid, or its repository holds something other than a run.
        RunError: if it is not a finished run, or the hub refuses it.
    """
    from huggingface_hub import CommitOperationAdd, CommitOperationDelete, HfApi

    address = HubAddress.of(name if name.startswith(SCHEME) else SCHEME + name)
    run = RunFolder.read(folder)
    card = folder / artifacts.MODEL_CARD
    text = (card.read_text(encoding="utf-8") if card.is_file() else "") + _SECTION.format(address=address)
    files = {path.relative_to(folder).as_posix(): path for path in published_files(run)}
    hub = HfApi()
    try:
        existing = set(hub.list_repo_files(address.name) if hub.repo_exists(address.name) else [])
        if artifacts.MANIFEST not in existing and existing - _OF_THE_HUB:
            raise UsageError(f"{address}: holds something other than a run; choose another name")
        hub.create_repo(address.name, private=not public, exist_ok=True)
        operations = [
            *(CommitOperationAdd(place, path) for place, path in files.items() if place != artifacts.MODEL_CARD),
            CommitOperationAdd(artifacts.MODEL_CARD, text.encode("utf-8")),
            *map(CommitOperationDelete, sorted(existing - set(files) - _OF_THE_HUB)),
        ]
        commit = hub.create_commit(address.name, operations, commit_message=f"A run of {run.config.system}")
    except UsageError:
        raise
    except Exception as error:  # the client raises its own errors, its transport's and the system's
        raise RunError(
            f"{address}: the hub refuses the run ({reason_of(error)}); check the name, the network and your token "
            "(hf auth login)"
        ) from error
    return HubAddress(address.name, commit.oid)


def published_files(run: RunFolder) -> Iterator[Path]:
    """Yield the files of a run that answer and explain questions, those of an ensemble's members included; checkpoints,
    the article encoder and readers' marks stay behind."""
    for part in run.kind.parts:
        path = run.folder / part
        if not part.published:
            continue
        if path.is_file():
            yield path
        elif path.is_dir():
            yield from (file for file in sorted(path.rglob("[!.]*")) if file.is_file())
    for member in run.member_folders.values():
        yield from published_files(RunFolder.read(member))
