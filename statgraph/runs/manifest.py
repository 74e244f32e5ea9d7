"""What the manifest of a run says: that it is finished, its configuration, the corpus it was trained on."""

from __future__ import annotations

from pathlib import Path

from statgraph import artifacts
from statgraph.config import RunConfig
from statgraph.corpus.records import Corpus
from statgraph.errors import RunError, UsageError
from statgraph.settings import overlaid


def read_run_manifest(folder: Path) -> dict:
    """Return the manifest of a finished run.

    Raises:
        RunError: if there is none, or it is damaged.
    """
    if not folder.is_dir():
        raise RunError(f"{folder}: no such run folder; train one with 'statgraph train'")
    path = folder / artifacts.MANIFEST
    if not path.is_file() and not (folder / artifacts.RUN_CONFIG).is_file():
        raise RunError(f"{folder}: no run folder; train one with 'statgraph train --out DIR'")
    if not path.is_file():
        raise RunError(
            f"{folder}: a run that is not finished; go on with the 'statgraph train' that began it, "
            f"with --out {folder} --resume"
        )
    try:
        manifest = artifacts.read_json(path)
    except (ValueError, RecursionError) as error:
        raise RunError(f"{path}: not readable as JSON ({error}); train the run again") from None
    if not _is_run_manifest(manifest):
        raise RunError(f"{path}: not the manifest of a run; name a run folder, or train the run again")
    return manifest


def read_run_config(folder: Path, manifest: dict) -> RunConfig:
    """Return the configuration in a run's manifest.

    Raises:
        RunError: if it holds what is no setting of this version.
    """
    try:
        return overlaid(RunConfig(), manifest["config"], place=str(folder / artifacts.MANIFEST))
    except UsageError as error:
        raise RunError(f"{error} (the run is damaged, or another version's; train it again)") from None


def check_corpus(folder: Path, corpus: Corpus) -> None:
    """Refuse a corpus that is not the one a run was trained on, or updated to since.

    Raises:
        RunError: if the contents differ.
    """
    manifest = read_run_manifest(folder)
    known = manifest["corpus"]
    if known["content_hash"] == corpus.content_hash:
        return
    made, of = ("updated", "to") if manifest.get("updates") else ("trained", "on")
    if known["name"] != corpus.name:
        raise RunError(
            f"{folder}: {made} {of} corpus '{known['name']}', not {of} '{corpus.name}'; name its corpus folder with "
            "--corpus"
        )
    raise RunError(
        f"{folder}: {made} {of} another state of corpus '{corpus.name}' (hash {known['content_hash'][:12]}, now "
        f"{corpus.content_hash[:12]}); name the folder as it was with --corpus, or train again"
    )


def _is_run_manifest(manifest: object) -> bool:
    if not isinstance(manifest, dict) or not isinstance(manifest.get("config"), dict):
        return False
    corpus = manifest.get("corpus")
    return isinstance(corpus, dict) and all(
        isinstance(corpus.get(key), str) for key in ("name", "language", "content_hash")
    )
