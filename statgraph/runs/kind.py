"""The kinds of system: what differs between runs of BM25, of one encoder, of an ensemble and of a student.

A kind is a class with one object, stateless. It trains a job, lists the parts that its runs have, ranks by them, brings
them to a new version of the law, and says what it can be used for; everybody else asks it (`kind_of`, `Run.kind`) and
never looks at a setting to find out what a run is. This base class lies below what reads runs (`search`) and
what trains them (`systems`); the classes are in `statgraph.systems.kinds` and load what a method needs when it
is called, so that a search never loads what trains.

A new kind is one file with a subclass, a line in `statgraph.registry.KINDS` and a YAML file in `statgraph/systems/`
with `retriever: NAME`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from statgraph.config import RunConfig
from statgraph.errors import UsageError, option
from statgraph.law.records import Corpus
from statgraph.registry import KINDS, load
from statgraph.runs.parts import COMMON, Part


class SystemKind:
    """What a run of one kind is made of and what it can do.

    Attributes:
        parts: what the folder of a run holds.
        settings: the groups of settings that decide its runs.
        trainer, rehearsal, explains, updates: "module:attribute" of what `train`, `rehearsed`, `explainer` and `update`
            call; no rehearsal where it is blank.
        has_encoder: whether its articles are found by the vectors of one encoder: the run has an index and a query
            encoder.
        has_members: whether its runs hold other runs.
        is_shared: whether a finished run can be taken from a `RunCache` where a run needs the same.
        no_member: why it cannot be a member of an ensemble, as it follows its name; blank where it can.
    """

    parts: tuple[Part, ...] = COMMON
    settings: tuple[str, ...] = ()
    trainer = rehearsal = explains = updates = ""
    has_encoder = False
    has_members = False
    is_shared = False
    no_member = "has no vectors; name a dense system, such as qabisar@{backbone}"

    def resolved(self, config: RunConfig, settings: Sequence[str]) -> RunConfig:
        """Return a configuration with what the machine decides in it; `settings` are the user's own. UsageError for
        values that this kind cannot have."""
        return config

    def for_corpus(self, config: RunConfig, corpus: Corpus) -> RunConfig:
        """Return the configuration with which a corpus can be trained on."""
        return config

    def tuning_space(self, config: RunConfig) -> str:
        """Return which search space of `statgraph tune` is the system's; UsageError if it cannot be tuned."""
        return config.retriever

    def train(self, job: Any) -> Any:
        """Train a `Job` into its folder, on every process of the world, and return what ranks the dev questions for the
        report (`rank(questions, k)`), None for a retriever of the run; the first process alone writes."""
        return load(self.trainer)(job)

    def signal_kind(self, config: RunConfig) -> str:
        """Return what an ensemble's signal by the vectors of such a run is: zero-shot, from the law, or trained."""
        raise NotImplementedError

    def rehearsed(self, corpus: Corpus, config: RunConfig) -> list[Any]:
        """Return one step of each stage of a training, taken with a tiny model; UsageError if the kind trains no
        transformer of its own."""
        if not self.rehearsal:
            raise UsageError(
                f"{option('dry-run')}: '{config.system}' is no system of its own transformer; "
                f"name one, such as {option('system')} qabisar"
            )
        steps: list[Any] = load(self.rehearsal)(corpus, config)
        return steps

    def ranker(self, run: Any, device: str, engine: Any) -> Any:
        """Return what ranks the articles of a run (`statgraph.retrieval.search.ranker.Ranker`); RunError if a part is
        missing or damaged, or does not fit the others."""
        raise NotImplementedError

    def explainer(self, run: Any, ranker: Any) -> Any:
        """Return what explains the hits of a run."""
        return load(self.explains)(run, ranker)

    def no_encoder(self, run: Any, remedy: str) -> str:
        """Return why a run cannot be used for what needs the vectors of one encoder, with the remedy."""
        return f"{run.folder}: ranks by BM25 and has no vectors or encoders; {remedy}"

    def update(self, update: Any, updated: Any) -> Any:
        """Bring a run to a new version of its law, as a `statgraph.systems.updating.update.Update` says, and return the
        counts of what there was to do: write what is renewed to `updated`, the new run, or nothing where it is None;
        RunError if the run cannot be updated."""
        return load(self.updates)(update, updated)


def kind_of(config: RunConfig) -> SystemKind:
    """Return the kind of the system that a configuration describes."""
    kind: SystemKind = KINDS.load("student" if config.student.epochs else config.retriever)()
    return kind
