"""The commands that campaigns disturb: what each needs, what it leaves, and how it goes on afterwards."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from statgraph import artifacts
from statgraph.graph.dgl_loader import load_dgl
from statgraph.law.catalogue import sample_folder
from statgraph.runs import parts
from statgraph.runs.folders import is_finished, is_unfinished
from statgraph.training.checkpoints import PROGRESS
from tests.trials.material import Material

_TIMED = (artifacts.MANIFEST, parts.METRICS.name, PROGRESS)
# In these: how long things took, the hash of DGL's bytes, the checkout's commit.
UNEQUAL_KEYS = ("steps", "seconds", "peak_mib", "sha256", "commit")


@dataclass(frozen=True)
class Job:
    """One command in a folder of its own.

    Attributes:
        name: of the job.
        arguments: of `statgraph`, paths relative to the folder.
        artefact: what it leaves there, a file or folder.
        prepare: puts there what it changes.
        trains: whether it can be resumed.
        ended: whether the artefact is finished, so that the command may refuse to run again.
    """

    name: str
    arguments: tuple[str, ...]
    artefact: str
    prepare: Callable[[Path], object] = lambda folder: None
    trains: bool = False
    ended: Callable[[Path], bool] = lambda place: False

    def again(self, folder: Path) -> tuple[str, ...]:
        """Return the arguments that bring it to its end after it was cut short."""
        resumed = self.trains and is_unfinished(folder / self.artefact)
        return (*self.arguments, "--resume") if resumed else self.arguments

    def state(self, folder: Path) -> Mapping[str, str] | None:
        """Return the contents of what it leaves, None where nothing stands as whole."""
        place = folder / self.artefact
        if not place.exists() or (self.trains and not is_finished(place)):
            return None
        return contents(place) or None


def all_jobs(material: Material) -> list[Job]:
    """Return every job."""
    m = material

    def with_run(system: str) -> Callable[[Path], object]:
        return lambda folder: shutil.copytree(m.run(system), folder / "run", symlinks=True)

    def training(name: str, system: str, corpus: Path, *settings: str) -> Job:
        arguments = (*m.training(system, corpus, *settings), "--out", "run")
        return Job(name, arguments, "run", trains=True, ended=is_finished)

    def exporting(target: str, out: str, *options: str) -> Job:
        arguments = ("export", "--to", target, "--out", out, *options)
        return Job(f"export {target}", arguments, out, with_run("qabisar"), ended=Path.exists)

    of_run = ("--run", "run")
    updating = ("update", *of_run, "--corpus", str(m.amended_town))
    without_wells = ("remove", *of_run, "wells1", "--device", "cpu")
    bells = ("--id", "bells", "--text", "Bells ring.", "--path", "Town Code > Book I. Rights")
    return [
        Job("import", ("import", "csv", str(m.source("csv")), "--language", "en", "--force", "--out", "law"), "law"),
        Job("fetch", ("fetch", "bsard", "--from", str(m.source("bsard")), "--out", "law"), "law"),
        Job("build-graph", ("build-graph", str(m.town), "--out", "graph"), "graph"),
        Job("augment", ("augment", "--corpus", str(m.town), "--out", "asked.jsonl"), "asked.jsonl", ended=Path.exists),
        training("train bm25", "bm25", m.town),
        training("train static", "dsr", m.town),
        training("train both stages", "qabisar", m.town),
        training("train ensemble", "ensemble", sample_folder(), "stage1.batch_size=64", "stage2.batch_size=64"),
        Job("index", ("index", *of_run, "--kind", "flat"), "run", with_run("qabisar")),
        Job("update", (*updating, "--device", "cpu"), "run", with_run("qabisar")),
        Job("update ensemble", (*updating, "--device", "cpu"), "run", with_run("ensemble")),
        Job("add", ("add", *of_run, *bells, "--replace", "--device", "cpu"), "run", with_run("qabisar")),
        Job("remove", without_wells, "run", with_run("qabisar"), ended=_has_no_wells),
        exporting("sentence-transformers", "encoder", *of_run),
        exporting("faiss", "vectors", *of_run),
        exporting("beir", "beir", "--corpus", str(m.town)),
        exporting("graphml", "law.graphml", *of_run),
    ]


def _has_no_wells(run: Path) -> bool:
    return b'"wells1"' not in (run / parts.ARTICLES.name).read_bytes()


def contents(place: Path) -> dict[str, str]:
    """Return the SHA-256 of each file by its path, without what says how long things took; hidden files are none."""
    paths = sorted(place.rglob("*")) if place.is_dir() else [place]
    names = {path: path.relative_to(place).as_posix() for path in paths if path.is_file()}
    return {name: _digest(path) for path, name in names.items() if "/." not in f"/{name}"}


def _digest(path: Path) -> str:
    data = path.read_bytes()
    if path.name in _TIMED:
        lines = [data] if path.suffix == ".json" else data.splitlines()
        data = json.dumps([_untimed(json.loads(line)) for line in lines], sort_keys=True).encode()
    elif path.name == artifacts.GRAPH_FILE:
        data = _edges(path)
    return hashlib.sha256(data).hexdigest()[:16]


def _edges(path: Path) -> bytes:
    """Return the edges of a graph: of one graph DGL writes bytes that differ from time to time."""
    dgl = load_dgl()
    (graph,), _ = dgl.load_graphs(str(path))
    ends = [(kind, *(side.tolist() for side in graph.edges(etype=kind))) for kind in graph.canonical_etypes]
    return repr((graph.ntypes, [graph.num_nodes(kind) for kind in graph.ntypes], ends)).encode()


def _untimed(value: object) -> object:
    if isinstance(value, dict):
        return {key: _untimed(held) for key, held in value.items() if key not in UNEQUAL_KEYS}
    return [_untimed(held) for held in value] if isinstance(value, list) else value
