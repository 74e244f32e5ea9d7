"""The index vectors of a new version of the law, with as few of them computed as can be."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from statgraph.config import RunConfig
from statgraph.encoders.article_text import HASH_BYTES, article_texts, citing_text, heading_texts, text_hashes
from statgraph.encoders.frozen import KeyedRows, split_keys
from statgraph.encoders.similarity import Similarity
from statgraph.graph.affected import NEW, affected_nodes, old_rows, places_in
from statgraph.graph.build import LegalGraph, build_graph
from statgraph.graph.gnn.graph_inputs import GraphInputs
from statgraph.graph.relations import ARTICLE, HEADING
from statgraph.law.records import CitingText, Corpus, Question
from statgraph.retrieval.search.graph_run import GraphRun, enriched_articles

Reader = TypeVar("Reader", Question, CitingText)  # of the law


@dataclass(frozen=True)
class VectorPlan:
    """What there is to compute for a new version.

    Attributes:
        unknown: by hash, the texts of articles and headings that must be embedded.
        stale: (articles,) bool, whose index vectors must be computed.
        old_rows: (articles,) int64, the row in the old index, -1 where there is none.
        hashes: by node type, (nodes, 16) uint8; articles alone where there is no graph.
        known: the text vectors that are there already.
        graph: the new graph, and the run's own; None in a run without one.
        questions: the question nodes of the new graph.
        citing: its nodes of citing texts.
    """

    unknown: Mapping[bytes, str]
    stale: np.ndarray
    old_rows: np.ndarray
    hashes: Mapping[str, np.ndarray]
    known: KeyedRows
    graph: LegalGraph | None = None
    graph_run: GraphRun | None = None
    questions: tuple[Question, ...] = ()
    citing: tuple[CitingText, ...] = ()


def vector_plan(
    inputs: GraphInputs,
    article_ids: Sequence[str],
    corpus: Corpus,
    config: RunConfig,
    *,
    graph_run: GraphRun | None = None,
    full: bool = False,
) -> VectorPlan:
    """Return the plan for a run of these articles.

    Args:
        inputs: hashes and vectors of the run's texts: what its graph encoder reads; in a run without a graph of its
            articles alone, the vectors those of its index.
        article_ids: of the run, in row order.
        corpus: the new version.
        config: of the run.
        graph_run: of a run with a graph.
        full: whether to compute everything again.
    """
    texts = {ARTICLE: article_texts(corpus.articles, heading_path=config.encoder.heading_path)}
    rows = {ARTICLE: places_in(article_ids, tuple(corpus.article_rows))}
    graph, questions, citing = None, inputs.questions, inputs.citing
    if graph_run is not None:
        questions, citing = kept_questions(questions, corpus), kept_citing(citing, corpus)
        graph = build_graph(replace(corpus, questions=questions, citing=citing), config.graph.relations)
        texts[HEADING] = heading_texts(graph.headings, heading_path=config.graph.heading_path)
        rows = old_rows(graph_run.graph, graph)
    known = KeyedRows()
    unknown: dict[bytes, str] = {}
    hashes = {node_type: np.asarray(inputs.hashes[node_type]) for node_type in rows}  # of readers, which stay
    for node_type, of_type in texts.items():
        hashes[node_type] = text_hashes(of_type)
        if not full:
            known.add(inputs.hashes[node_type], inputs.vectors[node_type])
    for node_type, of_type in texts.items():
        keys = split_keys(hashes[node_type])
        unknown |= {key: text for key, text in zip(keys, of_type, strict=True) if key not in known}
    changed = {kind: _changed(rows[kind], hashes[kind], inputs.hashes[kind]) for kind in rows}
    stale = changed[ARTICLE]
    if graph is not None and graph_run is not None:
        n_hops = len(graph_run.encoder.layers)
        stale = affected_nodes(graph_run.graph, graph, rows=rows, changed=changed, hops=n_hops)[ARTICLE]
        if graph_run.encoder.needs_whole_graph and stale.any():
            stale[:] = True
    return VectorPlan(unknown, stale | full, rows[ARTICLE], hashes, known, graph, graph_run, questions, citing)


def kept_questions(questions: Sequence[Question], corpus: Corpus) -> tuple[Question, ...]:
    """Return the training questions of a run as the nodes of a new version's graph.

    They stay those that it was trained with. Where the new version has the same training question, with the same id and
    text, that one's citations count; elsewhere the old ones. An article that the new version does not have is no longer
    cited.
    """
    return _kept(questions, corpus.split("train"), corpus, lambda question: (question.question_id, question.text))


def kept_citing(texts: Sequence[CitingText], corpus: Corpus) -> tuple[CitingText, ...]:
    """Return the citing texts of a run as the nodes of a new version's graph, by the rule of `kept_questions`."""
    now = corpus.usable_citing() if texts else ()
    return _kept(texts, now, corpus, lambda text: (text.citing_id, citing_text(text)))


def _kept(
    then: Sequence[Reader], now: Sequence[Reader], corpus: Corpus, identity: Callable[[Reader], object]
) -> tuple[Reader, ...]:
    cited = {identity(reader): reader.article_ids for reader in now}
    rows = corpus.article_rows
    return tuple(
        replace(
            reader, article_ids=tuple(key for key in cited.get(identity(reader), reader.article_ids) if key in rows)
        )
        for reader in then
    )


def carried_out(
    plan: VectorPlan, old_vectors: np.ndarray, embedded: np.ndarray | None, similarity: Similarity
) -> tuple[np.ndarray, GraphInputs | None]:
    """Return (index vectors of the new version (articles, width) float32, what its graph encoder reads).

    Args:
        plan: what there is to compute.
        old_vectors: the vectors of the old index.
        embedded: those of the unknown texts, (unknown, width); None where there are none.
        similarity: of the run.
    """
    if embedded is not None:
        new_hashes = np.frombuffer(b"".join(plan.unknown), dtype=np.uint8).reshape(-1, HASH_BYTES)
        plan.known.add(new_hashes, embedded if plan.graph else similarity.index_vectors(embedded))
    index_vectors = np.empty((len(plan.stale), old_vectors.shape[1]), dtype=np.float32)
    index_vectors[~plan.stale] = old_vectors[plan.old_rows[~plan.stale]]
    if plan.graph is None or plan.graph_run is None:
        index_vectors[plan.stale] = plan.known.rows(split_keys(plan.hashes[ARTICLE][plan.stale]), np.float32)
        return index_vectors, None
    run = plan.graph_run
    nodes = {
        node_type: plan.known.rows(split_keys(plan.hashes[node_type]), np.float32) for node_type in (ARTICLE, HEADING)
    }
    for node_type in plan.graph.node_types[len(nodes) :]:  # what no new version of the law changes
        nodes[node_type] = np.asarray(run.inputs.vectors[node_type])
    if plan.stale.any():
        enriched = enriched_articles(run.encoder, plan.graph, nodes, np.flatnonzero(plan.stale))
        index_vectors[plan.stale] = similarity.index_vectors(enriched)
    return index_vectors, GraphInputs(nodes, plan.hashes, plan.questions, plan.citing)


def _changed(rows: np.ndarray, hashes: np.ndarray, old_hashes: np.ndarray) -> np.ndarray:
    """Return (nodes,) bool, whether a node is new or its text is not what it was."""
    if not len(old_hashes):
        return np.ones(len(rows), dtype=bool)
    changed: np.ndarray = (rows == NEW) | (hashes != np.asarray(old_hashes)[rows]).any(axis=1)
    return changed
