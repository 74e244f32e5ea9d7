"""The source and target of an export: a run with vectors, and a path that does not exist yet."""

from __future__ import annotations

from pathlib import Path

from statgraph.encoders.backbones import MODULES
from statgraph.errors import UsageError, damaged_run
from statgraph.runs import parts
from statgraph.runs.run import Run
from statgraph.systems.model_card import model_card, read_run_report


def dense_run(folder: Path) -> Run:
    """Return the finished run in a folder.

    Raises:
        RunError: if there is no finished run, it ranks by BM25, or it has lost its query encoder.
    """
    run = Run.read(folder)
    run.require_vectors("export a run of another system, or this one as graphml")
    if not (run.query_encoder / MODULES).is_file():
        raise damaged_run(f"{run.query_encoder}: no query encoder ({MODULES} is missing)")
    return run


def encoder_card(run: Run, *sections: str, **loaded: str) -> str:
    """Return the model card of the query encoder, followed by more sections; `loaded` is `library` and `loading` of
    `model_card`, if sentence-transformers is not what loads it."""
    card = model_card(run, read_run_report(run.folder), part=parts.QUERY_ENCODER.name, **loaded)
    return "\n".join([card, *sections])


def refuse_existing(out: Path) -> None:
    """Raise UsageError if a path exists, even as a broken link."""
    if out.exists() or out.is_symlink():
        raise UsageError(f"{out}: exists already, and an export replaces nothing; choose another --out")
