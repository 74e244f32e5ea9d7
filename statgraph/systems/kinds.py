"""The kinds of system that statgraph has: BM25, one dense encoder, an ensemble, and a student of one.

What trains is named by its module, and imported when it is called: these classes are loaded by every search.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NoReturn

from statgraph.config import EnsembleConfig, RunConfig
from statgraph.encoders.backbones import check_static_training, is_static, width_of
from statgraph.errors import RunError, UsageError, option
from statgraph.law.records import Corpus
from statgraph.runs import parts
from statgraph.runs.kind import SystemKind
from statgraph.runs.parts import Part
from statgraph.systems.presets import (
    ENOUGH_FOR_HEADS,
    RECIPES,
    decided,
    learns_from_questions,
    member_config,
    regime_of,
)

if TYPE_CHECKING:  # they load what searches and what trains
    from statgraph.retrieval.index.engines.contract import EngineAddress
    from statgraph.retrieval.search.ranker import Ranker
    from statgraph.runs.run import RunFolder
    from statgraph.systems.updating.update import Update


class Bm25(SystemKind):
    """BM25 over the articles, with synthetic questions behind them where `bm25.expansion` is above 0 (doct5query)."""

    parts = (*parts.COMMON, parts.SYNTHETIC, parts.LEXICAL_INDEX)
    settings = ("encoder", "augment", "bm25")
    trainer = "statgraph.systems.pipeline:train_lexical"
    explains = "statgraph.retrieval.search.explaining:Explainer"
    updates = "statgraph.systems.updating.update:update_lexical"

    def resolved(self, config: RunConfig, settings: Sequence[str]) -> RunConfig:
        return replace(config, encoder=decided(config))

    def ranker(self, run: RunFolder, device: str, engine: EngineAddress | None) -> Ranker:
        from statgraph.retrieval.search.ranker import LexicalRanker, lexical_index

        return LexicalRanker(lexical_index(run))


class Dense(SystemKind):
    """A query encoder and the vectors of the articles, from text encoders and the graph where stage 2 runs."""

    parts: tuple[Part, ...] = (
        *parts.COMMON, parts.SYNTHETIC, parts.METRICS, parts.CHECKPOINTS, parts.STAGE1, parts.STAGE2,
        parts.QUERY_ENCODER, parts.ARTICLE_ENCODER, parts.GRAPH_ENCODER, parts.GRAPH_INPUTS, parts.INDEX,
    )  # fmt: skip
    settings: tuple[str, ...] = (
        "encoder",
        "pretrain",
        "augment",
        "negatives",
        "stage1",
        "graph",
        "gnn",
        "stage2",
        "bm25",
    )
    trainer = "statgraph.systems.dense:train_dense"
    rehearsal = "statgraph.systems.dense:rehearsed"
    explains = "statgraph.retrieval.search.explaining:DenseExplainer"
    updates = "statgraph.systems.updating.update:update_dense"
    has_encoder = True
    is_shared = True
    no_member = ""

    def resolved(self, config: RunConfig, settings: Sequence[str]) -> RunConfig:
        config = replace(config, encoder=decided(config))
        encoder = config.encoder
        if is_static(encoder.backbone):
            if config.regime in RECIPES:
                raise UsageError(
                    f"encoder.backbone: '{encoder.backbone}' cannot be used with regime={config.regime}, which trains "
                    "a transformer; name one, such as camembert-base or its folder"
                )
            check_static_training(encoder)
        if encoder.shared and config.stage2.epochs and config.stage2.train_encoders == "query":
            raise UsageError(
                "stage2.train_encoders: query needs question and article encoders of their own, and "
                f"'{encoder.backbone}' is one for both; use both or none"
            )
        if config.stage2.epochs:
            from statgraph.graph.gnn.encoder import check_layer  # loads torch

            check_layer(config.gnn, width=width_of(encoder.backbone))
        return config

    def tuning_space(self, config: RunConfig) -> str:
        return regime_of(config.encoder)

    def signal_kind(self, config: RunConfig) -> str:
        from statgraph.retrieval.signals.signal import FROM_LAW, TRAINED, ZERO_SHOT

        if learns_from_questions(config):
            return TRAINED
        return FROM_LAW if config.from_law and config.stage1.epochs + config.stage2.epochs else ZERO_SHOT

    def ranker(self, run: RunFolder, device: str, engine: EngineAddress | None) -> Ranker:
        from statgraph.retrieval.search.ranker import DenseRanker

        return DenseRanker(run, device=device, engine=engine)


class Student(Dense):
    """A dense encoder that has learnt the ranking of an ensemble, its teacher."""

    parts = (*parts.COMMON, parts.METRICS, parts.CHECKPOINTS, parts.LESSONS, parts.QUERY_ENCODER, parts.INDEX)
    settings = ("encoder", "student")
    trainer = "statgraph.systems.student:train_student"
    rehearsal = ""
    is_shared = False  # a cached run would not say whose student it is
    no_member = "learns from an ensemble and is none of its members; leave it out"

    def update(self, update: Update, updated: RunFolder | None) -> NoReturn:
        raise RunError(
            f"{update.run.folder}: distilled from {update.run.teacher}, and has no encoder of articles; update that "
            "run, and distil it again with 'statgraph train --teacher'"
        )


class Ensemble(SystemKind):
    """Several signals, some of them the vectors of members trained as runs of their own, and a ranker over them."""

    parts = (
        *parts.COMMON, parts.METRICS, parts.TRAINING_TEXTS, parts.MEMBERS, parts.SIGNALS, parts.RANKER,
        parts.CALIBRATION,
    )  # fmt: skip
    settings = ("bm25", "ensemble", "ranker")  # the others are its members'
    trainer = "statgraph.systems.ensemble:train_ensemble"
    explains = "statgraph.retrieval.search.explaining:EnsembleExplainer"
    updates = "statgraph.systems.updating.update:update_ensemble"
    has_members = True

    def resolved(self, config: RunConfig, settings: Sequence[str]) -> RunConfig:
        """Return the configuration that passes on to the members what is theirs alone of the user's settings."""
        theirs = [group for group in Dense.settings if group not in self.settings]
        passed = tuple(text for text in settings if text.partition(".")[0] in theirs)
        if any(text.startswith("encoder.backbone=") for text in passed):
            raise UsageError(
                "encoder.backbone: an ensemble has several; name them in ensemble.members=SYSTEM@BACKBONE,..."
            )
        config = replace(config, ensemble=replace(config.ensemble, settings=(*config.ensemble.settings, *passed)))
        for member in config.ensemble.members:
            member_config(config, member)
        if config.ranker.reader:  # refused before the training, not after it
            from statgraph.retrieval.ranking.reader import load_cross_encoder

            load_cross_encoder(config.ranker.reader, config.device)
        return config

    def for_corpus(self, config: RunConfig, corpus: Corpus) -> RunConfig:
        """Return the configuration with members that can be trained on a corpus.

        Without training questions, members that learn from them are left out; with fewer than 300, of the default
        members the one that trains a transformer. If no other is left, they are replaced by members that learn from the
        law itself (system `structure`), which add nothing beside a zero-shot transformer (docs/ranking.md); of a law
        without headings, by none.
        """
        n_questions = len(corpus.split("train"))
        are_default = config.ensemble.members == EnsembleConfig().members
        if n_questions >= (ENOUGH_FOR_HEADS if are_default else 1):
            return config
        configs = {name: member_config(config, name) for name in config.ensemble.members}
        members = [
            name
            for name, member in configs.items()
            if not learns_from_questions(member) or (n_questions and is_static(member.encoder.backbone))
        ]
        if not members and any(len(article.path) > 1 for article in corpus.articles):
            members = list(dict.fromkeys(f"structure@{member.encoder.backbone}" for member in configs.values()))
        return replace(config, ensemble=replace(config.ensemble, members=tuple(members)))

    def tuning_space(self, config: RunConfig) -> str:
        raise UsageError("ensemble: learns its weights when it is trained; tune a system that is a member of it")

    def ranker(self, run: RunFolder, device: str, engine: EngineAddress | None) -> Ranker:
        from statgraph.retrieval.search.ensemble_run import read_ensemble

        ensemble = read_ensemble(run, len(run.articles), device=device)
        settings = run.config.ranker
        if settings.reader:
            from statgraph.retrieval.ranking.reader import Reader, load_cross_encoder

            ensemble.reader = Reader(load_cross_encoder(settings.reader, device), run.articles, settings.read)
        return ensemble

    def no_encoder(self, run: RunFolder, remedy: str) -> str:
        if not run.member_folders:
            return f"{run.folder}: an ensemble without members, which has no vectors or encoders; {remedy}"
        return (
            f"{run.folder}: an ensemble; name one of its members with {option('run')} {run.members}/NAME, or distil it "
            f"into one encoder with 'statgraph train --teacher {run.folder}'"
        )
