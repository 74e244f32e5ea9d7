"""`update_run`: a finished run and a new version of its corpus -> the run of that version, without training."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from statgraph import __version__, artifacts
from statgraph.augmentation.store import synthetic_of_run, write_synthetic
from statgraph.corpus.records import Corpus
from statgraph.device import pick_device
from statgraph.encoders.article_encoder import load_article_encoder
from statgraph.encoders.article_text import article_texts
from statgraph.encoders.sharding.vector_shards import VectorShards, encoder_of
from statgraph.encoders.similarity import similarity_of
from statgraph.errors import RunError
from statgraph.gnn.graph_inputs import write_graph_inputs
from statgraph.index.article_index import ArticleIndex
from statgraph.progress import Progress, silent
from statgraph.runs.article_store import ArticleStore, StoredArticle, write_article_store
from statgraph.runs.folders import changed_run, refuse_full_folder
from statgraph.runs.run import CorpusFacts, Run
from statgraph.search.ensemble_run import member_folders
from statgraph.search.graph_run import load_graph_run
from statgraph.search.ranker import write_lexical_index
from statgraph.systems.job import StepClock
from statgraph.systems.model_card import corpus_entry, write_model_cards
from statgraph.systems.updating.changes import ArticleChanges, article_changes
from statgraph.systems.updating.ensemble import write_updated_ensemble
from statgraph.systems.updating.vectors import VectorPlan, carried_out, plan_with_graph, plan_without_graph

# What an update writes again. The report is of the law as it was: `statgraph evaluate` measures the run again.
_REPLACED = (
    *artifacts.RUN_ARTICLES, artifacts.MANIFEST, artifacts.RUN_INDEX, artifacts.RUN_LEXICAL_INDEX,
    artifacts.RUN_GRAPH_INPUTS, artifacts.RUN_SYNTHETIC, artifacts.RUN_REPORT, artifacts.MODEL_CARD,
)  # fmt: skip


@dataclass(frozen=True)
class TextVectors:
    """How texts that the run has no vector for get theirs.

    Attributes:
        device: where to embed: auto, cpu or cuda.
        progress: called as embedding goes on.
        shards: vectors that are there already, by the hash of their text; the other texts are embedded.
    """

    device: str = "auto"
    progress: Progress = silent
    shards: VectorShards | None = None

    def check(self, *runs: Run) -> None:
        """Raise RunError unless the shards are whole, and of the encoder of one of the runs."""
        if self.shards is not None:
            self.shards.check_whole([encoder_of(run.folder, run.config.encoder) for run in runs if run.has_vectors])

    def only_of(self, run: Run) -> TextVectors:
        """Return this, without the shards where they are of another encoder than that of a run."""
        if self.shards is None or not run.has_vectors:
            return self
        same = self.shards.plan.encoder == encoder_of(run.folder, run.config.encoder)
        return self if same else replace(self, shards=None)

    def of(self, texts: Sequence[str], run: Run) -> tuple[np.ndarray, int]:
        """Return (the vectors of texts (texts, width), how many of them came from the shards)."""

        def encode(some: Sequence[str]) -> np.ndarray:
            encoder = load_article_encoder(run.folder, run.config.encoder, pick_device(self.device))
            return encoder.encode(some, self.progress)

        return (encode(texts), 0) if self.shards is None else self.shards.encoded(texts, encode)


@dataclass(frozen=True)
class UpdateSummary:
    """What an update did, or a dry run would do.

    Attributes:
        run: where the updated run is.
        changes: what has become of the articles.
        articles: how many the new version has.
        headings: of a run with a graph, (added, gone); else None.
        citations: of training questions, (added, gone); None likewise.
        embedded: how many texts had no vector in the run.
        taken: how many of these had one in shards.
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
    taken: int
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
    texts: TextVectors = TextVectors(),
) -> UpdateSummary:
    """Return what it took to bring a run to a new version of its corpus, with the weights that it has.

    Equal ids are the same article. Only texts that the run has no vector for are embedded, and only article vectors
    that the change reaches through the graph are computed; the result is that of computing everything again (`full`).

    Args:
        run: a finished run; it is changed in place, whole or not at all, unless `out` is given.
        corpus: the new version.
        out: a folder for the updated run, which must be empty or not there.
        dry_run: whether to write and embed nothing.
        full: whether to embed and compute everything again, changed or not.
        texts: how texts without a vector get theirs.

    Raises:
        RunError: if it is no finished run, was distilled, is damaged, lacks its graph encoder's inputs or its backbone,
            or holds other law than the corpus; if `out` is not empty; if the shards of `texts` are not whole, or of
            another encoder.
    """
    start = time.perf_counter()
    opened, clock = Run.read(run), StepClock()
    _refuse_student(opened)
    corpus = opened.as_trained(corpus)
    _prepare_place(opened.folder.resolve(), out)
    with clock.step("comparison"):
        store = ArticleStore(opened.folder)
        old = store.read_all()
        changes = article_changes(old, corpus.articles, store.days_in_force)
        _refuse_other_law(opened, corpus, changes)
    update = _Update(opened, corpus, changes, clock)
    if opened.config.is_ensemble:
        return _updated_ensemble(update, out, start, dry_run=dry_run, full=full, texts=texts)
    texts.check(opened)
    if opened.has_vectors:
        with clock.step("graph and what it reaches" if opened.has_graph else "what has changed"):
            index = _index(opened, old)
            update = replace(update, index=index, plan=_plan(opened, old, index, corpus, full=full))
    written = not dry_run and (out is not None or full or not update.same)
    taken = update.write(out, texts) if written else 0
    return UpdateSummary(
        run=opened.folder if out is None else out,
        changes=changes,
        articles=len(corpus.articles),
        **_graph_changes(update.plan),
        embedded=update.embedded,
        taken=taken,
        recomputed=update.recomputed,
        steps=tuple(clock.steps),
        seconds=time.perf_counter() - start,
        written=written,
    )


def _prepare_place(run: Path, out: Path | None) -> None:
    """Refuse a place that is in use, and remove what a killed update has left beside it."""
    if out is not None:
        refuse_full_folder(out)
    artifacts.remove_abandoned(run if out is None else out)


def _refuse_student(run: Run) -> None:
    if run.teacher:
        raise RunError(
            f"{run.folder}: distilled from {run.teacher}, and has no encoder of articles; update that run, and distil "
            "it again with 'statgraph train --teacher'"
        )


def _updated_ensemble(
    update: _Update, out: Path | None, start: float, *, dry_run: bool, full: bool, texts: TextVectors
) -> UpdateSummary:
    """Bring the members of an ensemble to the new version, and write again what stands beside them."""
    opened = [Run.read(folder) for folder in member_folders(update.run).values()]
    for member in opened:
        if member.has_graph:
            member.check_layer()
    texts.check(*opened)

    def update_member(folder: Path, **what) -> UpdateSummary:
        return update_run(folder, update.corpus, full=full, texts=texts.only_of(Run.read(folder)), **what)

    written = not dry_run and (out is not None or full or not update.same)
    if written:
        counts = update.changes.counts()
        members = write_updated_ensemble(update.run, update.corpus, counts, out, update_member, update.clock)
    else:
        members = [update_member(folder, dry_run=True) for folder in member_folders(update.run).values()]
    return UpdateSummary(
        run=update.run.folder if out is None else out,
        changes=update.changes,
        articles=len(update.corpus.articles),
        headings=next((member.headings for member in members if member.headings), None),
        citations=next((member.citations for member in members if member.citations), None),
        embedded=sum(member.embedded for member in members),
        taken=sum(member.taken for member in members),
        recomputed=sum(member.recomputed for member in members),
        steps=tuple(update.clock.steps),
        seconds=time.perf_counter() - start,
        written=written,
    )


@dataclass(frozen=True)
class _Update:
    """A run and the new version of its corpus; `plan` and `index` where the run has vectors."""

    run: Run
    corpus: Corpus
    changes: ArticleChanges
    clock: StepClock
    index: ArticleIndex | None = None
    plan: VectorPlan | None = None

    @property
    def same(self) -> bool:
        """Return whether the new version is the old one. The hash of a corpus is that of its texts and questions: dates
        are not in it."""
        return self.run.corpus.content_hash == self.corpus.content_hash and not self.changes.amended["dates"]

    @property
    def embedded(self) -> int:
        """Return how many texts have no vector yet."""
        return len(self.plan.unknown) if self.plan else 0

    @property
    def recomputed(self) -> int:
        """Return how many article vectors are computed."""
        return int(self.plan.stale.sum()) if self.plan else 0

    def write(self, out: Path | None, texts: TextVectors) -> int:
        """Write the updated run in place of the run, or to `out`; return how many vectors came from shards."""
        taken = 0
        entry = {
            "from": self.run.corpus.content_hash,
            "to": self.corpus.content_hash,
            "articles": self.changes.counts(),
            "embedded": self.embedded,
            "recomputed": self.recomputed,
            "statgraph": __version__,
        }
        with changed_run(self.run.folder, out, without=_REPLACED) as folder:
            updated = replace(
                self.run,
                folder=folder,
                corpus=CorpusFacts.of(self.corpus),
                data=corpus_entry(self.corpus),
                updates=(*self.run.updates, entry),
            )
            if self.plan is not None:
                taken = self._write_vectors(updated, texts)
            with self.clock.step("articles"):
                write_article_store(self.corpus.articles, folder)
                _write_synthetic(self.run, updated, self.corpus)
                if not updated.has_vectors:
                    write_lexical_index(updated, self.corpus.articles)
            write_model_cards(updated, None)
            updated.write()
        return taken

    def _write_vectors(self, updated: Run, texts: TextVectors) -> int:
        config, taken = self.run.config.encoder, 0

        def encode(unknown: Sequence[str]) -> np.ndarray:
            nonlocal taken
            with self.clock.step("embedding"):
                vectors, taken = texts.of(unknown, self.run)
            return vectors

        with self.clock.step("vectors, embedding included"):
            vectors, inputs = carried_out(self.plan, self.index.vectors, encode)
        with self.clock.step("index"):
            ids = [article.article_id for article in self.corpus.articles]
            unit_length = similarity_of(config.similarity).unit_length
            self.index.renewed(vectors, ids, device="cpu", unit_length=unit_length).save(updated.index)
            if inputs is not None:
                write_graph_inputs(inputs, updated.graph_inputs)
        return taken


def _write_synthetic(run: Run, updated: Run, corpus: Corpus) -> None:
    """Write the run's synthetic questions without what they asked of articles that are no longer there."""
    if not run.synthetic.is_file():
        return
    file, rows = synthetic_of_run(run.synthetic), corpus.article_rows
    kept = [question for question in file.questions if any(article_id in rows for article_id in question.article_ids)]
    if not kept and run.config.bm25.expansion:
        raise RunError(
            f"{run.synthetic}: no question asks about an article that is left, and articles are expanded by them; "
            "train again"
        )
    if kept:
        write_synthetic(updated.synthetic, [question.only(rows) for question in kept], file.manifest)


def _plan(run: Run, old: list[StoredArticle], index: ArticleIndex, corpus: Corpus, *, full: bool) -> VectorPlan:
    if run.has_graph:
        return plan_with_graph(load_graph_run(run), corpus, full=full)
    encoder = run.config.encoder
    texts = article_texts(old, heading_path=encoder.heading_path)
    return plan_without_graph(texts, index, corpus, encoder, full=full)


def _index(run: Run, old: list[StoredArticle]) -> ArticleIndex:
    index = ArticleIndex.load(run.index, device="cpu")
    if list(index.article_ids) != [article.article_id for article in old]:
        raise RunError(f"{run.folder}: its index and its articles differ; train the run again")
    return index


def _refuse_other_law(run: Run, corpus: Corpus, changes: ArticleChanges) -> None:
    if run.corpus.language != corpus.language:
        raise RunError(
            f"{run.folder}: its law is in '{run.corpus.language}', corpus '{corpus.name}' in '{corpus.language}'; "
            "name a new version of the same law with --corpus, or train on this one"
        )
    if not changes.n_kept:
        raise RunError(
            f"{run.folder}: corpus '{corpus.name}' has none of its article ids, and equal ids are the same article; "
            "name a new version of the same law with --corpus, or train on this one"
        )


def _graph_changes(plan: VectorPlan | None) -> dict[str, tuple[int, int] | None]:
    """Return how many headings and citations of training questions are (added, gone); None without a graph."""
    if plan is None or plan.graph is None:
        return {"headings": None, "citations": None}
    headings = plan.graph_run.graph.headings, plan.graph.headings
    citations = (
        {(question.question_id, article_id) for question in questions for article_id in question.article_ids}
        for questions in (plan.graph_run.inputs.questions, plan.questions)
    )
    return {"headings": _difference(*headings), "citations": _difference(*citations)}


def _difference(before: Iterable, after: Iterable) -> tuple[int, int]:
    """Return how many there are in `after` alone and in `before` alone."""
    before, after = set(before), set(after)
    return len(after - before), len(before - after)
