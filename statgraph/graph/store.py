"""Graph folders on disk: the heterograph, the node tables, and which corpus they belong to."""

from __future__ import annotations

import json
from pathlib import Path

from statgraph import __version__, artifacts
from statgraph.corpus.records import Corpus, Heading
from statgraph.errors import GraphError
from statgraph.graph.build import LegalGraph, summary_of
from statgraph.graph.dgl_loader import load_dgl
from statgraph.graph.relations import NODE_TYPES


def write_graph(graph: LegalGraph, folder: Path) -> None:
    """Write a graph folder whole: `graph.dgl`, `nodes.json`, `manifest.json`."""
    dgl = load_dgl()
    with artifacts.replaced_folder(Path(folder)) as staging:
        dgl.save_graphs(str(staging / artifacts.GRAPH_FILE), [graph.heterograph])
        nodes = {
            "article": graph.article_ids,
            "heading": [heading.path for heading in graph.headings],
            "question": graph.question_ids,
        }
        artifacts.write_json(staging / artifacts.GRAPH_NODES, nodes)
        summary = summary_of(graph)
        manifest = {
            "corpus_hash": graph.corpus_hash,
            "relations": graph.relations,
            "nodes": summary.nodes,
            "edges": summary.edges,
            "versions": {"statgraph": __version__, "dgl": dgl.__version__},
        }
        artifacts.write_json(staging / artifacts.MANIFEST, manifest)


def read_graph(folder: Path, corpus: Corpus) -> LegalGraph:
    """Return the graph in a folder.

    Raises:
        GraphError: if it is missing or damaged, or was built from another state of the corpus.
    """
    folder = Path(folder)
    if not (folder / artifacts.MANIFEST).is_file():
        raise GraphError(f"{folder}: no graph folder; build it with 'statgraph build-graph'")
    dgl = load_dgl()
    try:
        manifest = artifacts.read_json(folder / artifacts.MANIFEST)
        nodes = artifacts.read_json(folder / artifacts.GRAPH_NODES)
        (heterograph,), _ = dgl.load_graphs(str(folder / artifacts.GRAPH_FILE))
        graph = LegalGraph(
            heterograph=heterograph,
            article_ids=tuple(nodes["article"]),
            headings=tuple(Heading(tuple(path)) for path in nodes["heading"]),
            question_ids=tuple(nodes["question"]),
            relations=tuple(manifest["relations"]),
            corpus_hash=manifest["corpus_hash"],
        )
        counts_agree = all(heterograph.num_nodes(node_type) == graph.node_count(node_type) for node_type in NODE_TYPES)
    except (OSError, ValueError, KeyError, TypeError, json.JSONDecodeError, dgl.DGLError) as error:
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise GraphError(
            f"{folder}: damaged graph folder ({reason}); build it again with 'statgraph build-graph'"
        ) from None
    if not counts_agree:
        raise GraphError(f"{folder}: node tables and graph differ in size; build it again with 'statgraph build-graph'")
    if graph.corpus_hash != corpus.content_hash:
        raise GraphError(
            f"{folder}: built from another state of the corpus (hash {graph.corpus_hash[:12]}, corpus "
            f"'{corpus.name}' has {corpus.content_hash[:12]}); build it again with 'statgraph build-graph'"
        )
    return graph
