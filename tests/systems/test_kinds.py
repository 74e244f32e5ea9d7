from dataclasses import replace

import numpy as np
import pytest

from statgraph import Retriever
from statgraph.config import RunConfig
from statgraph.errors import RunError, UsageError
from statgraph.law.query import Ranked
from statgraph.registry import KINDS
from statgraph.runs import parts
from statgraph.runs.kind import SystemKind, kind_of
from statgraph.runs.parts import Part
from statgraph.systems.pipeline import train_run
from statgraph.systems.presets import resolve_config, system_names
from statgraph.systems.updating.update import UpdateCounts, update_run

ORDER = Part("order.npy", renewed=True, published=True)


class Alphabetical(SystemKind):
    """Ranks articles by their ids, whatever is asked: all that a new kind needs is in this class."""

    parts = (*parts.COMMON, ORDER)

    def train(self, job):
        _write_order(job.folder, job.corpus)

    def ranker(self, run, device, engine):
        return _Ordered(np.load(run.folder / ORDER))

    def explainer(self, run, ranker):
        return None

    def update(self, update, updated):
        if updated is not None:
            _write_order(updated.folder, update.corpus)
        return UpdateCounts()


class _Ordered:
    def __init__(self, order):
        self._order = order

    by_words, floor, signals = False, None, ()

    def rank(self, questions, k, allowed=None):
        return [Ranked(self._order[:k], np.arange(k, 0, -1, dtype=np.float32))] * len(questions)


def _write_order(folder, corpus):
    np.save(folder / ORDER, np.argsort([article.article_id for article in corpus.articles]))


@pytest.fixture
def alphabetical(monkeypatch):
    """Register the kind, and return the configuration of a system of it."""
    monkeypatch.setitem(KINDS._built_in, "alphabetical", f"{__name__}:Alphabetical")
    return RunConfig(system="alphabetical", retriever="alphabetical", device="cpu")


def first_hit(folder):
    return Retriever.load(folder).search("anything", k=1)[0].article_id


def test_a_new_kind_is_one_class_and_its_name(alphabetical, town_corpus, tmp_path):
    alphabetical.check()
    run = train_run(replace(town_corpus, questions=()), alphabetical, tmp_path / "run")
    assert first_hit(run.folder) == min(town_corpus.article_rows)
    with pytest.raises(RunError):
        run.require_vectors()
    with pytest.raises(UsageError, match="no system of its own transformer"):
        run.kind.rehearsed(town_corpus, alphabetical)


def test_an_update_renews_its_parts(alphabetical, town_corpus, tmp_path):
    corpus = replace(town_corpus, questions=())
    train_run(corpus, alphabetical, tmp_path / "run")
    first = replace(town_corpus.articles[0], article_id="a first one")
    assert update_run(tmp_path / "run", replace(corpus, articles=(*corpus.articles, first))).written
    assert first_hit(tmp_path / "run") == "a first one"


@pytest.mark.parametrize("system", system_names())
def test_the_parts_of_a_system_have_names_of_their_own(system):
    kind = kind_of(resolve_config(system, ["device=cpu"]))
    names = [part.name for part in kind.parts]
    assert len(set(names)) == len(names)
    assert set(parts.COMMON) <= set(kind.parts)
