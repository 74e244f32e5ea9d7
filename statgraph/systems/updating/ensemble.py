"""Bringing an ensemble to a new version of its corpus: its members, then what stands beside them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from statgraph import __version__, artifacts
from statgraph.corpus.records import Corpus
from statgraph.runs.article_store import write_article_store
from statgraph.runs.folders import changed_run
from statgraph.runs.run import CorpusFacts, Run
from statgraph.search.ensemble_run import learnt_from, member_folders, write_learnt_from
from statgraph.systems.ensemble import write_parts
from statgraph.systems.job import StepClock
from statgraph.systems.model_card import corpus_entry, write_model_cards

# What an update writes again. The trees stay: what they have learnt of signals holds for the new articles too.
_REPLACED = (
    *artifacts.RUN_ARTICLES, artifacts.MANIFEST, artifacts.RUN_SIGNALS, artifacts.RUN_STRUCTURE,
    artifacts.RUN_RANKER, artifacts.RUN_REPORT, artifacts.MODEL_CARD,
)  # fmt: skip


def write_updated_ensemble(
    run: Run, corpus: Corpus, changes: dict, out: Path | None, update_member: Callable[[Path], object], clock: StepClock
) -> list:
    """Write the updated run in place of the run, or to `out`, and return what `update_member` returned of each member.

    Args:
        run: an ensemble.
        corpus: the new version.
        changes: what has become of the articles, as counts.
        out: where the updated run goes; None is in place.
        update_member: brings the member in a folder to the new version, in place.
        clock: of the steps.
    """
    entry = {
        "from": run.corpus.content_hash,
        "to": corpus.content_hash,
        "articles": changes,
        "statgraph": __version__,
    }
    learnt = learnt_from(run)
    with changed_run(run.folder, out, without=_REPLACED) as folder:
        updated = replace(
            run,
            folder=folder,
            corpus=CorpusFacts.of(corpus),
            data=corpus_entry(corpus),
            updates=(*run.updates, entry),
        )
        summaries = []
        for name, member in member_folders(updated).items():
            with clock.step(f"member {name}"):
                summaries.append(update_member(member))
        with clock.step("articles"):
            write_article_store(corpus.articles, folder)
        write_parts(updated, corpus, clock)
        if learnt is not None:
            write_learnt_from(updated, learnt)
        write_model_cards(updated, None)
        updated.write()
    return summaries
