"""`update_run`: a finished run and a new version of its corpus -> the run of that version, without training."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from statgraph import __version__, artifacts
from statgraph.augmentation.store import read_synthetic, write_synthetic
from statgraph.config import RunConfig
from statgraph.corpus.records import Corpus
from statgraph.device import pick_device
from statgraph.encoders.article_encoder import load_article_encoder
from statgraph.encoders.article_text import article_text
from statgraph.encoders.similarity import similarity_of
from statgraph.errors import CorpusError, RunError
from statgraph.gnn.graph_inputs import write_graph_inputs
from statgraph.index.article_index import ArticleIndex
from statgraph.runs.manifest import read_run_config, read_run_manifest
from statgraph.search.article_store import STORE_FILES, ArticleStore, StoredArticle, write_article_store
from statgraph.search.graph_run import has_graph, load_graph_run
from statgraph.systems.job import StepClock
from statgraph.systems.model_card import corpus_entry, write_model_cards
from statgraph.systems.updating.changes import ArticleChanges, article_changes
from statgraph.systems.updating.run_copy import changed_run, refuse_full_folder
from statgraph.systems.updating.vectors import VectorPlan, carried_out, plan_with_graph, plan_without_graph

StepListener = Callable[[str, int, int], None]

# What an update writes anew. The report is of the law as it was: `statgraph evaluate` measures the run again.
_REPLACED = (
    *STORE_FILES, artifacts.MANIFEST, artifacts.RUN_INDEX, artifacts.RUN_GRAPH_INPUTS, artifacts.RUN_SYNTHETIC,
    artifacts.RUN_REPORT, artifacts.MODEL_CARD,
)  # fmt: skip


@dataclass(frozen=True)
class UpdateSummary:
    """What an update did, or a dry run would do.

    Attributes:
        run: where the updated run is.
        changes: what has become of the articles.
        articles: how many the new version has.
        headings: of a run with a graph, (added, gone); else None.
        citations: of training questions, (added, gone); None likewise.
        embedded: how many texts had no vector yet.
        recomputed: how many article vectors of the index are not those of before.
        steps: wall time and memory of each step, as in a run's manifest.
        seconds: of the whole.
        written: whether anything was.
    """

    run: Path
    changes: ArticleChanges
    articles: int
    headings: tuple[int, int] | None
    citations: tuple[int, int] | None
    embedded: int
    recomputed: int
    steps: tuple[dict, ...]
    seconds: float
    written: bool

    def to_dict(self) -> dict[str, object]:
        """Return JSON values, the articles as counts."""
        named = {name: value for name, value in vars(self).items() if name not in ("run", "changes")}
        return artifacts.as_json({"run": str(self.run), "changes": self.changes.counts(), **named})


def update_run(
    run: Path,
    corpus: Corpus,
    *,
    out: Path | None = None,
    dry_run: bool = False,
    full: bool = False,
    device: str = "auto",
    on_step: StepListener = lambda what, done, total: None,
) -> UpdateSummary:
    """Return what it took to bring a run to a new version of its corpus, with the weights that it has.

    Equal ids are the same article. Only texts that the run has no vector for are embedded, and only article vectors
    that the change reaches through the graph are computed; the result is that of computing all anew (`full`).

    Args:
        run: a finished run; it is changed in place, whole or not at all, unless `out` is given.
        corpus: the new version.
        out: a folder for the updated run, which must be empty or not there.
        dry_run: whether to write and embed nothing.
        full: whether to embed and compute everything anew, changed or not.
        device: where to embed: `auto`, `cpu` or `cuda`.
        on_step: told how far the embedding is.

    Raises:
        RunError: if the folder is no finished run, did not keep what its graph encoder reads, is damaged, names a
            backbone outside of itself that is gone, or holds other law than the corpus; or if `out` is not empty.
    """
    start = time.perf_counter()
    clock = StepClock()
    run = Path(run)
    manifest = read_run_manifest(run)
    config = read_run_config(run, manifest)
    if out is not None:
        refuse_full_folder(out)
    with clock.step("comparison"):
        store = ArticleStore(run)
        old = store.read_all()
        changes = article_changes(old, corpus.articles, store.days_in_force)
        _refuse_other_law(run, manifest, corpus, changes)
    plan = index = None
    if config.retriever == "dense":
        with clock.step("graph and what it reaches" if has_graph(run) else "what has changed"):
            index = _index(run, old)
            plan = _plan(run, config, old, index, corpus, full=full)
    # The hash of a corpus is that of its texts and questions: dates are not in it.
    same = manifest["corpus"]["content_hash"] == corpus.content_hash and not changes.amended["dates"] and not full
    written = not dry_run and (out is not None or not same)
    if written:
        _write(run, out, config, manifest, corpus, changes, plan, index, clock=clock, device=device, on_step=on_step)
    return UpdateSummary(
        run=run if out is None else out,
        changes=changes,
        articles=len(corpus.articles),
        headings=_headings(plan),
        citations=_citations(plan),
        embedded=len(plan.unknown) if plan else 0,
        recomputed=int(plan.stale.sum()) if plan else 0,
        steps=tuple(clock.to_list()),
        seconds=time.perf_counter() - start,
        written=written,
    )


def _write(
    run: Path,
    out: Path | None,
    config: RunConfig,
    manifest: dict,
    corpus: Corpus,
    changes: ArticleChanges,
    plan: VectorPlan | None,
    index: ArticleIndex | None,
    *,
    clock: StepClock,
    device: str,
    on_step: StepListener,
) -> None:
    with changed_run(run, out, without=_REPLACED) as folder:
        if plan is not None:
            _write_vectors(run, folder, config, corpus, plan, index, clock=clock, device=device, on_step=on_step)
        with clock.step("articles"):
            write_article_store(corpus.articles, folder)
            _write_synthetic(run, folder, config, corpus)
        updates = [*manifest.get("updates", []), _entry(manifest, corpus, changes, plan)]
        about = {
            "name": corpus.name,
            "language": corpus.language,
            "content_hash": corpus.content_hash,
            "articles": len(corpus.articles),
        }
        updated = {**manifest, "corpus": about, "data": corpus_entry(corpus), "updates": updates}
        write_model_cards(folder, {**updated, "config": config.to_dict()}, None)
        artifacts.write_json(folder / artifacts.MANIFEST, updated)


def _write_vectors(
    run: Path,
    folder: Path,
    config: RunConfig,
    corpus: Corpus,
    plan: VectorPlan,
    index: ArticleIndex,
    *,
    clock: StepClock,
    device: str,
    on_step: StepListener,
) -> None:
    def encode(texts) -> np.ndarray:
        with clock.step("embedding"):
            return load_article_encoder(run, config.encoder, pick_device(device)).encode(texts, on_step)

    with clock.step("vectors, embedding included"):
        vectors, inputs = carried_out(plan, index.vectors, encode)
    with clock.step("index"):
        ids = [article.article_id for article in corpus.articles]
        unit_length = similarity_of(config.encoder.similarity).unit_length
        index.renewed(vectors, ids, device="cpu", unit_length=unit_length).save(folder / artifacts.RUN_INDEX)
        if inputs is not None:
            write_graph_inputs(inputs, folder / artifacts.RUN_GRAPH_INPUTS)


def _write_synthetic(run: Path, folder: Path, config: RunConfig, corpus: Corpus) -> None:
    """Write the run's synthetic questions without what they asked of articles that are no more."""
    path = run / artifacts.RUN_SYNTHETIC
    if not path.is_file():
        return
    try:
        file = read_synthetic(path)
    except CorpusError as error:
        raise RunError(f"{error.problems[0]} (part of a run; train it again)") from None
    rows = corpus.article_rows
    kept = [question for question in file.questions if any(article_id in rows for article_id in question.article_ids)]
    if not kept and config.bm25.expansion:
        raise RunError(f"{path}: asks nothing of an article that is left, and articles are expanded by it; train again")
    if kept:
        write_synthetic(folder / artifacts.RUN_SYNTHETIC, [question.only(rows) for question in kept], file.manifest)


def _plan(
    run: Path, config: RunConfig, old: list[StoredArticle], index: ArticleIndex, corpus: Corpus, *, full: bool
) -> VectorPlan:
    if has_graph(run):
        return plan_with_graph(load_graph_run(run), corpus, full=full)
    texts = [article_text(article, heading_path=config.encoder.heading_path) for article in old]
    return plan_without_graph(texts, index.article_ids, index.vectors, corpus, config.encoder, full=full)


def _index(run: Path, old: list[StoredArticle]) -> ArticleIndex:
    index = ArticleIndex.load(run / artifacts.RUN_INDEX, device="cpu")
    if list(index.article_ids) != [article.article_id for article in old]:
        raise RunError(f"{run}: its index and its articles are not the same ones; train the run again")
    return index


def _refuse_other_law(run: Path, manifest: dict, corpus: Corpus, changes: ArticleChanges) -> None:
    if manifest["corpus"]["language"] != corpus.language:
        raise RunError(
            f"{run}: its law is in '{manifest['corpus']['language']}', corpus '{corpus.name}' in '{corpus.language}'; "
            "name a new version of the same law with --corpus, or train on this one"
        )
    if not changes.n_kept:
        raise RunError(
            f"{run}: corpus '{corpus.name}' has none of its article ids, and equal ids are the same article; name a "
            "new version of the same law with --corpus, or train on this one"
        )


def _headings(plan: VectorPlan | None) -> tuple[int, int] | None:
    if plan is None or plan.graph is None:
        return None
    before, after = set(plan.graph_run.graph.headings), set(plan.graph.headings)
    return len(after - before), len(before - after)


def _citations(plan: VectorPlan | None) -> tuple[int, int] | None:
    if plan is None or plan.graph is None:
        return None
    before, after = (
        {(question.question_id, article_id) for question in questions for article_id in question.article_ids}
        for questions in (plan.graph_run.inputs.questions, plan.questions)
    )
    return len(after - before), len(before - after)


def _entry(manifest: dict, corpus: Corpus, changes: ArticleChanges, plan: VectorPlan | None) -> dict[str, object]:
    """Return what the manifest says of this update."""
    return {
        "from": manifest["corpus"]["content_hash"],
        "to": corpus.content_hash,
        "articles": changes.counts(),
        "embedded": len(plan.unknown) if plan else 0,
        "recomputed": int(plan.stale.sum()) if plan else 0,
        "statgraph": __version__,
    }
