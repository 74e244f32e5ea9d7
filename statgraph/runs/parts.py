"""The parts of a run's folder, each declared once: its name, the settings that it is made with, and what becomes of it
when the run is resumed, updated or published. A kind of system lists its own (`statgraph.systems.kinds`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from statgraph import artifacts

if TYPE_CHECKING:
    from statgraph.runs.run import RunFolder


@dataclass(frozen=True, eq=False)
class Part:
    """A file or folder of a run; `folder / part` is its path, and so is the attribute of a `Run` that it is.

    Attributes:
        name: in the run's folder.
        uses: the groups of settings that it is made with, and single settings, each with the settings that switch it
            on: one of them at least must be neither 0 nor false nor `none`; empty where it always counts.
        is_work: whether an interrupted training resumes from it.
        renewed: whether an update to a new version of the law writes it again.
        published: whether questions are answered or explained from it.
    """

    name: str
    uses: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    is_work: bool = False
    renewed: bool = False
    published: bool = False

    def __fspath__(self) -> str:
        return self.name

    @overload
    def __get__(self, run: None, owner: type[RunFolder]) -> Part: ...
    @overload
    def __get__(self, run: RunFolder, owner: type[RunFolder]) -> Path: ...
    def __get__(self, run: RunFolder | None, owner: type[RunFolder]) -> Part | Path:
        return self if run is None else run.folder / self.name

    def is_in(self, folder: Path) -> bool:
        """Return whether a folder holds it, or its beginning."""
        path = folder / self.name
        return path.exists() or artifacts.partial_beside(path).exists()

    def settings(self, config: Mapping[str, Any]) -> Iterator[str]:
        """Yield the groups and settings that it is made with under a configuration, as JSON holds it."""
        for name, switches in self.uses.items():
            if not switches or any(_is_on(config, switch) for switch in switches):
                yield name


def _is_on(config: Mapping[str, Any], setting: str) -> bool:
    group, _, name = setting.partition(".")
    return config.get(group, {}).get(name) not in (None, 0, False, "none")


CONFIG = Part("config.json", published=True)
MANIFEST = Part(artifacts.MANIFEST, renewed=True, published=True)
MODEL_CARD = Part(artifacts.MODEL_CARD, renewed=True, published=True)
ARTICLES = Part("articles.jsonl", renewed=True, published=True)
ARTICLE_OFFSETS = Part("articles.offsets.npy", renewed=True, published=True)
ARTICLE_DATES = Part("articles.dates.npy", renewed=True, published=True)
# The user's own, of the corpus: an update keeps it where the new version has none.
SYNONYMS = Part(artifacts.SYNONYMS, published=True)
STRUCTURE = Part("structure.npz", renewed=True, published=True)
# Of the law as it was: `statgraph evaluate` measures an updated run again.
REPORT = Part("report.json", renewed=True, published=True)
# What an ensemble's signals are made of beside the articles, for when single articles change.
TRAINING_TEXTS = Part("questions.jsonl", renewed=True)
COMMON = (CONFIG, MANIFEST, MODEL_CARD, ARTICLES, ARTICLE_OFFSETS, ARTICLE_DATES, SYNONYMS, STRUCTURE, REPORT)

SYNTHETIC = Part(
    "synthetic.jsonl", uses={"augment": (), "bm25.expansion": ()}, is_work=True, renewed=True, published=True
)
LEXICAL_INDEX = Part("lexical", renewed=True, published=True)

METRICS = Part("metrics.jsonl")
CHECKPOINTS = Part("checkpoints", is_work=True)
STAGE1 = Part(
    f"{CHECKPOINTS.name}/stage1",
    uses={
        "encoder": (),
        "pretrain": ("encoder.adapted",),
        "augment": ("stage1.synthetic",),
        "bm25": ("stage1.negatives",),
        "negatives": ("stage1.negatives",),
        "stage1": (),
    },
)
STAGE2 = Part(
    f"{CHECKPOINTS.name}/stage2",
    uses={
        **STAGE1.uses,
        "augment": ("stage1.synthetic", "stage2.synthetic"),
        "bm25": ("stage1.negatives", "stage2.negatives"),
        "negatives": ("stage1.negatives", "stage2.negatives"),
        "graph": (),
        "gnn": (),
        "stage2": (),
    },
)
QUERY_ENCODER = Part("query_encoder", published=True)
ARTICLE_ENCODER = Part("article_encoder")
GRAPH_ENCODER = Part("graph_encoder.safetensors", published=True)
GRAPH_INPUTS = Part("graph_inputs", renewed=True, published=True)
INDEX = Part("index", renewed=True, published=True)

MEMBERS = Part("members", is_work=True)
SIGNALS = Part("signals", renewed=True, published=True)
RANKER = Part("ranker.json", renewed=True, published=True)
CALIBRATION = Part("calibration.json", published=True)

LESSONS = Part("lessons.npz", uses={"encoder": (), "student": ()}, is_work=True)
