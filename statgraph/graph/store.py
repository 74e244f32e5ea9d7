"""Graph folders on disk: the heterograph, the node tables, and which corpus they belong to."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from statgraph import artifacts
from statgraph._version import __version__
from statgraph.errors import GraphError, UsageError, described
from statgraph.graph.build import LegalGraph, build_graph, citing_nodes, summary_of
from statgraph.graph.dgl_loader import load_dgl
from statgraph.graph.relations import ARTICLE, HEADING, QUESTION, relations_of
from statgraph.law.records import Corpus, Heading
from statgraph.runs.folders import folder_name

GRAPH_FOLDER_FILES = (artifacts.GRAPH_FILE, artifacts.GRAPH_NODES, artifacts.MANIFEST)
_SUMMED_FILES = (artifacts.GRAPH_FILE, artifacts.GRAPH_NODES)
_REMEDY = "build it again with 'statgraph build-graph'"


def write_graph(graph: LegalGraph, folder: Path) -> None:
    """Write a graph folder whole: `graph.dgl`, `nodes.json`, `manifest.json`.

    Raises:
        GraphError: if the folder holds anything but a graph, or DGL cannot write. The old content stays.
    """
    folder = Path(folder)
    _refuse_foreign_folder(folder)
    dgl = load_dgl()
    with artifacts.replaced_folder(folder) as staging:
        try:
            dgl.save_graphs(str(staging / artifacts.GRAPH_FILE), [graph.heterograph])
        except dgl.DGLError:
            raise GraphError(
                f"{folder / artifacts.GRAPH_FILE}: DGL cannot write it; free some space, or write to another disk"
            ) from None
        nodes = graph.node_names | {HEADING: [heading.path for heading in graph.headings]}
        artifacts.write_json(staging / artifacts.GRAPH_NODES, nodes)
        summary = summary_of(graph)
        manifest = {
            "corpus_hash": graph.corpus_hash,
            "relations": graph.relations,
            "nodes": summary.nodes,
            "edges": summary.edges,
            "sha256": {name: _sha256(staging / name) for name in _SUMMED_FILES},
            "versions": {"statgraph": __version__, "dgl": dgl.__version__},
        }
        artifacts.write_json(staging / artifacts.MANIFEST, manifest)


def read_graph(folder: Path, corpus: Corpus) -> LegalGraph:
    """Return the graph in a folder.

    Raises:
        GraphError: if it is missing or damaged, or was built from another state of the corpus.
    """
    folder = Path(folder)
    manifest = _read_manifest(folder)
    if manifest["corpus_hash"] != corpus.content_hash:
        raise GraphError(
            f"{folder}: built from another state of the corpus (hash {manifest['corpus_hash'][:12]}, corpus "
            f"'{corpus.name}' has {corpus.content_hash[:12]}); {_REMEDY}"
        )
    # DGL reads altered bytes as edges, or crashes the process: it gets only what was written.
    for name in _SUMMED_FILES:
        if not (folder / name).is_file():
            raise GraphError(f"{folder / name}: missing; {_REMEDY}")
        if _sha256(folder / name) != manifest["sha256"][name]:
            raise GraphError(f"{folder / name}: damaged (its SHA-256 differs from {artifacts.MANIFEST}); {_REMEDY}")
    dgl = load_dgl()
    try:
        (heterograph,), _ = dgl.load_graphs(str(folder / artifacts.GRAPH_FILE))
    except dgl.DGLError:
        raise GraphError(f"{folder / artifacts.GRAPH_FILE}: dgl {dgl.__version__} cannot read it; {_REMEDY}") from None
    nodes = artifacts.read_json(folder / artifacts.GRAPH_NODES)
    return LegalGraph(
        heterograph=heterograph,
        article_ids=tuple(nodes[ARTICLE]),
        headings=tuple(Heading(tuple(path)) for path in nodes[HEADING]),
        question_ids=tuple(nodes[QUESTION]),
        relations=tuple(manifest["relations"]),
        corpus_hash=manifest["corpus_hash"],
        citing=citing_nodes(corpus, manifest["relations"]),
    )


def default_folder(corpus_name: str) -> Path:
    """Return where `build-graph` writes the graph of a corpus and `train` looks for it, in the working directory."""
    return Path("graphs") / folder_name(corpus_name)


def graph_for(corpus: Corpus, relations: Sequence[str], folder: Path | None = None) -> tuple[LegalGraph, str]:
    """Return the graph of a corpus, read from a folder if the graph in it fits corpus and relations, else built.

    The text beside it is which of the two it was and why; blank if the folder does not exist.

    Raises:
        UsageError: if a relation group is not known.
    """
    if folder is None or not folder.is_dir():
        return build_graph(corpus, relations), ""
    try:
        graph = read_graph(folder, corpus)
        if set(graph.relations) == set(relations):
            return graph, f"read from {folder}"
        reason = f"{folder} has other relations ({', '.join(graph.relations) or 'none'})"
    except GraphError as error:
        reason = f"the saved graph cannot be read ({str(error).partition(';')[0]})"
    return build_graph(corpus, relations), f"built, because {reason}"


def _refuse_foreign_folder(folder: Path) -> None:
    """Raise GraphError if writing a graph to a folder would replace anything else."""
    names = sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
    foreign = [name for name in names if name not in GRAPH_FOLDER_FILES]
    reason = ""
    if folder.exists() and not folder.is_dir():
        reason = "is a file"
    elif foreign:
        reason = f"contains '{foreign[0]}', which is not part of a graph"
    elif names and artifacts.GRAPH_FILE not in names:
        reason = f"has no {artifacts.GRAPH_FILE}, so it is not a graph folder"
    if reason:
        raise GraphError(f"{folder}: {reason}; choose a folder that does not exist yet")


def _read_manifest(folder: Path) -> dict[str, Any]:
    path = folder / artifacts.MANIFEST
    if not path.is_file():
        raise GraphError(f"{folder}: not a graph folder; build it with 'statgraph build-graph'")
    try:
        manifest = artifacts.read_json(path)
        if not isinstance(manifest["corpus_hash"], str):
            raise TypeError("corpus_hash must be a string")
        relations_of(tuple(manifest["relations"]))
        _ = [manifest["sha256"][name] for name in _SUMMED_FILES]
    except (ValueError, KeyError, TypeError, UsageError) as error:
        raise GraphError(f"{path}: damaged ({described(error)}); {_REMEDY}") from None
    return manifest


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
