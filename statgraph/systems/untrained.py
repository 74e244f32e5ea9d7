"""A corpus searched without training: an ensemble of the signals that need none, kept in the cache."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from statgraph import __version__, artifacts
from statgraph.cache import cache_root
from statgraph.corpus.records import Corpus
from statgraph.runs.folders import is_finished
from statgraph.systems.pipeline import train_run
from statgraph.systems.presets import DEFAULT_SYSTEM, resolve_config

_SETTINGS = ("ensemble.members=none", "ranker.kind=fixed", "device=cpu")


def untrained_run(corpus: Corpus) -> Path:
    """Return the run folder of an ensemble without members, made in seconds unless the cache has it.

    It is kept by the content of the corpus, the settings and the version; dev and test questions reach nothing in it,
    nor do their citing texts.
    """
    config = resolve_config(DEFAULT_SYSTEM, _SETTINGS)
    folder = cache_root() / "untrained" / artifacts.key_of([__version__, corpus.content_hash, config.to_dict()])
    if not is_finished(folder):
        # Without dev questions there is nothing to measure, which would take longer than the rest.
        train = tuple(question for question in corpus.questions if question.split == "train")
        with artifacts.replaced_folder(folder) as staging:
            # The staging folder is held already, and whoever trains holds the folder of the run.
            trained = staging / "run"
            train_run(replace(corpus, questions=train, citing=corpus.usable_citing()), config, trained)
            for part in trained.iterdir():
                part.rename(staging / part.name)
            trained.rmdir()
    return folder
