"""A run folder as one object: its configuration, its corpus, and where each part lies. `manifest.json` is read and
written here only."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import Any

from statgraph import artifacts
from statgraph.config import RunConfig
from statgraph.errors import RETRAIN, RunError, UsageError, damaged_run, marked, option
from statgraph.law.records import SPLITS, Corpus
from statgraph.runs import parts
from statgraph.runs.article_store import ArticleStore
from statgraph.runs.folders import newest_of_its_name
from statgraph.runs.kind import SystemKind, kind_of
from statgraph.settings import overlaid

FORMAT = 2  # of the manifest


@dataclass(frozen=True)
class CorpusFacts:
    """What a run knows of the corpus that it was trained on, or updated to since; `articles` counts them, None where
    the run does not say."""

    name: str
    language: str
    content_hash: str
    articles: int | None = None

    @classmethod
    def of(cls, corpus: Corpus) -> CorpusFacts:
        """Return the facts of a corpus."""
        return cls(corpus.name, corpus.language, corpus.content_hash, len(corpus.articles))


@dataclass(frozen=True)
class RunFolder:
    """A run folder; open a finished one with `read`, and finish one with `write`.

    Attributes:
        folder: where its parts (`statgraph.runs.parts`) lie; a part that a run does not have is a path with nothing
            there.
        config: every setting that it was trained with.
        corpus: the corpus that it holds the articles of.
        data: what its model card says of the corpus: licence, source, counts.
        backbone_licences: by name of the backbone, None where not known.
        processes: how many trained it together.
        steps: name, wall time and memory of each step of the training.
        versions: of Python and of the packages that trained it.
        commit: of the checkout that trained it; None where not known.
        updates: what each update since has changed, oldest first.
        final: of a run trained on all questions of its corpus, the folder of the run whose epochs and weights it took;
            else blank. Its corpus is the one with all questions in train.
        keeps_test: whether such a run has left those of test out; they are no train questions of its corpus either.
        teacher: of a run distilled from an ensemble, the ensemble's folder; else blank.
    """

    folder: Path
    config: RunConfig
    corpus: CorpusFacts
    data: Mapping[str, object] = field(default_factory=dict)
    backbone_licences: Mapping[str, str | None] = field(default_factory=dict)
    processes: int | None = None
    steps: tuple[Mapping[str, Any], ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)
    commit: str | None = None
    updates: tuple[Mapping[str, Any], ...] = ()
    final: str = ""
    keeps_test: bool = False
    teacher: str = ""

    index = parts.INDEX
    lexical_index = parts.LEXICAL_INDEX
    query_encoder = parts.QUERY_ENCODER
    graph_encoder = parts.GRAPH_ENCODER
    graph_inputs = parts.GRAPH_INPUTS
    members = parts.MEMBERS
    signals = parts.SIGNALS
    structure = parts.STRUCTURE
    synonyms = parts.SYNONYMS
    ranker = parts.RANKER
    calibration = parts.CALIBRATION
    synthetic = parts.SYNTHETIC
    metrics = parts.METRICS

    @cached_property
    def articles(self) -> ArticleStore:
        """Return its articles, opened once for all that read them."""
        return ArticleStore(self.folder)

    @classmethod
    def read(cls, folder: Path | str) -> RunFolder:
        """Return the finished run in a folder.

        Raises:
            RunError: if there is none, its manifest is damaged, or it is of a later version.
        """
        folder = Path(folder)
        if folder.is_file():
            raise RunError(f"{folder}: is a file, not a run folder; name the folder that 'statgraph train' wrote")
        if not folder.is_dir():
            if old := artifacts.retired(folder):
                raise RunError(f"{folder}: a change of this run was killed; put it back with 'mv {old} {folder}'")
            raise RunError(f"{folder}: no such run folder; train one with 'statgraph train'")
        path = folder / artifacts.MANIFEST
        if (folder / artifacts.CORPUS_ARTICLES).is_file() and not (folder / parts.CONFIG).is_file():
            raise RunError(f"{folder}: a corpus, not a run; train one with 'statgraph train --corpus {folder}'")
        if not path.is_file() and not (folder / parts.CONFIG).is_file():
            raise RunError(f"{folder}: not a run folder; train one with 'statgraph train --out DIR'")
        if not path.is_file():
            raise RunError(
                f"{folder}: an unfinished run; go on with the 'statgraph train' that began it, "
                f"with {option('out')} {folder} {option('resume')}"
            )
        return cls.from_dict(folder, artifacts.read_object(path))

    @classmethod
    def from_dict(cls, folder: Path, manifest: Mapping[str, Any]) -> RunFolder:
        """Return the run that `to_dict` made a manifest of.

        Raises:
            RunError: if it is not the manifest of a run, or one of another version.
        """
        path = folder / artifacts.MANIFEST
        with artifacts.reading(path, f"name a run folder, or {RETRAIN}"):
            if (known := manifest["format"]) != FORMAT:
                raise RunError(
                    f"{path}: format {known}, and this statgraph reads {FORMAT}; update statgraph, or {RETRAIN}"
                )
            corpus, settings = manifest["corpus"], dict(manifest["config"])
            for group, former in _FORMER.items():
                given = settings.get(group, {}).items()
                settings[group] = {name: value for name, value in given if name not in former}
            facts = {name: manifest[name] for name in _FACTS if name in manifest}
            facts |= {name: tuple(facts.get(name, ())) for name in ("steps", "updates")}
            facts["corpus"] = CorpusFacts(
                corpus["name"], corpus["language"], corpus["content_hash"], corpus.get("articles")
            )
        try:
            config = overlaid(RunConfig(), settings, place=str(path))
        except UsageError as error:
            raise damaged_run(marked(error)) from None
        return cls(folder, config, **facts)

    def to_dict(self) -> dict[str, Any]:
        """Return the manifest, as JSON values; facts that the run does not have are left out."""
        facts = {name: getattr(self, name) for name in _FACTS}
        manifest: dict[str, Any] = artifacts.as_json(
            {
                "format": FORMAT,
                "config": self.config.to_dict(),
                "seed": self.config.seed,
                "corpus": {name: value for name, value in asdict(self.corpus).items() if value is not None},
            }
            | {name: value for name, value in facts.items() if value}
        )
        return manifest

    def write(self) -> None:
        """Write the manifest, which makes the run a finished one: it comes last."""
        path = self.folder / artifacts.MANIFEST
        artifacts.write_json(path, self.to_dict())
        newest_of_its_name(path)

    @property
    def kind(self) -> SystemKind:
        """Return the kind of its system."""
        return kind_of(self.config)

    @property
    def member_folders(self) -> dict[str, Path]:
        """Return the run folder of each member of an ensemble by its name, SYSTEM@BACKBONE; none of other systems."""
        names = self.config.ensemble.members if self.kind.has_members else ()
        return {name: self.members / re.sub(r"[^\w.]+", "-", name).strip("-") for name in names}

    @property
    def has_graph(self) -> bool:
        """Return whether a graph encoder made the vectors."""
        return self.graph_encoder.is_file()

    def require_vectors(self, remedy: str = f"name a run of another system with {option('run')}") -> None:
        """Raise RunError, which gives the remedy, if the run has neither vectors nor encoders."""
        if not self.kind.has_encoder:
            raise RunError(self.kind.no_encoder(self, remedy))

    def as_trained(self, corpus: Corpus) -> Corpus:
        """Return a corpus with its questions in the splits that the run has them in: other than its own for a final
        run."""
        return corpus.all_in_train(exclude_test=self.keeps_test) if self.final else corpus

    def check_measurable(self, split: str | None) -> None:
        """Raise RunError if the questions of a split cannot measure the run, since it is a final one and was trained on
        them."""
        if not self.final or (self.keeps_test and split == SPLITS[-1]):
            return
        on = f"all questions of corpus '{self.corpus.name}' ({option('final')}), so that none can measure it;"
        if self.keeps_test:
            only = f"all questions but those of test ({option('final')}), which alone can measure it"
            on = f"{only}; name the split test, or"
        raise RunError(
            f"{self.folder}: trained on {on} evaluate {self.final}, the run whose epochs and weights it took"
        )

    def check_corpus(self, corpus: Corpus) -> None:
        """Raise RunError if a corpus is not the one that the run was trained on, or updated to since."""
        known, corpus = self.corpus, self.as_trained(corpus)
        if known.content_hash == corpus.content_hash:
            return
        made, of = ("updated", "to") if self.updates else ("trained", "on")
        if known.name != corpus.name:
            raise RunError(
                f"{self.folder}: {made} {of} corpus '{known.name}', not {of} '{corpus.name}'; name its corpus folder "
                f"with {option('corpus')}"
            )
        raise RunError(
            f"{self.folder}: {made} {of} another state of corpus '{corpus.name}' (hash {known.content_hash[:12]}, now "
            f"{corpus.content_hash[:12]}); name the folder as it was with {option('corpus')}, or train again"
        )


# Settings that runs up to 0.1.0 may have, by group: nothing reads them. An article encoder's folder names its backbone.
_FORMER = {
    "ranker": ("kind", "learn_from", "folds", "trees", "leaves", "leaf_size", "lr", "feature_share"),
    "encoder": ("article_backbone",),
    "ensemble": ("depth",),
}
# What a manifest says beyond configuration and corpus.
_FACTS = tuple(item.name for item in fields(RunFolder) if item.name not in ("folder", "config", "corpus"))
