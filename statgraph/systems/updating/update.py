"""`update_run`: a finished run and a new version of its corpus -> the run of that version, without training."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from statgraph import artifacts
from statgraph._version import __version__
from statgraph.augmentation.store import synthetic_of_run, write_synthetic
from statgraph.device import pick_device
from statgraph.encoders.article_encoder import load_article_encoder
from statgraph.encoders.article_text import article_texts, text_hashes
from statgraph.encoders.similarity import similarity_of
from statgraph.errors import RunError, damaged_run, option
from statgraph.graph.gnn.encoder import check_layers_of
from statgraph.graph.gnn.graph_inputs import GraphInputs, write_graph_inputs
from statgraph.graph.relations import ARTICLE
from statgraph.law.records import Corpus, Question
from statgraph.law.synonyms import saved_text, write_synonyms
from statgraph.progress import Progress, silent
from statgraph.retrieval.index.article_index import ArticleIndex
from statgraph.retrieval.search.graph_run import load_graph_run
from statgraph.retrieval.search.ranker import write_lexical_index
from statgraph.runs.article_store import StoredArticle, write_article_store
from statgraph.runs.folders import changed_run, refuse_full_folder
from statgraph.runs.own_corpus import write_training_texts
from statgraph.runs.run import CorpusFacts, RunFolder
from statgraph.systems.ensemble import copy_ranker, write_parts
from statgraph.systems.job import StepClock
from statgraph.systems.model_card import corpus_entry, write_model_cards
from statgraph.systems.updating.changes import ArticleChanges, article_changes
from statgraph.systems.updating.vectors import carried_out, vector_plan


@dataclass(frozen=True)
class TextVectors:
    """How texts that the run has no vector for get theirs: embedded, unless a subclass takes them from elsewhere.

    Attributes:
        device: where to embed: auto, cpu or cuda.
        progress: called as embedding goes on.
    """

    device: str = "auto"
    progress: Progress = silent

    def check(self, *runs: RunFolder) -> None:
        """Raise RunError unless vectors from elsewhere are complete, and of the encoder of one of the runs."""

    def only_of(self, run: RunFolder) -> TextVectors:
        """Return what embeds alone, where vectors from elsewhere are of another encoder than that of a run."""
        return self

    def of(self, texts: Sequence[str], run: RunFolder) -> tuple[np.ndarray, int]:
        """Return (the vectors of texts (texts, width), how many of them came from elsewhere)."""
        encoder = load_article_encoder(run.folder, run.config.encoder, pick_device(self.device))
        return encoder.encode(texts, self.progress), 0


@dataclass(frozen=True)
class UpdateCounts:
    """What an update has to do beside the articles themselves.

    Attributes:
        headings: of a run with a graph, (added, gone); else None.
        citations: of training questions, (added, gone); else None.
        embedded: how many texts had no vector in the run.
        taken: how many of these came from elsewhere.
        recomputed: how many article vectors of the index are not those of before.
    """

    headings: tuple[int, int] | None = None
    citations: tuple[int, int] | None = None
    embedded: int = 0
    taken: int = 0
    recomputed: int = 0


@dataclass(frozen=True, kw_only=True)
class UpdateSummary(UpdateCounts):
    """What an update did, or a dry run would do.

    Attributes:
        run: where the updated run is.
        changes: what has become of the articles.
        articles: how many the new version has.
        steps: wall time and memory of each step, as in a run's manifest.
        seconds: of the whole.
        written: whether anything was.
    """

    run: Path
    changes: ArticleChanges
    articles: int
    steps: tuple[dict[str, object], ...]
    seconds: float
    written: bool

    def to_dict(self) -> dict[str, object]:
        """Return JSON values, the articles as counts."""
        values: dict[str, object] = artifacts.as_json(
            vars(self) | {"run": str(self.run), "changes": self.changes.counts()}
        )
        return values


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
            or holds other law than the corpus; if `out` is not empty; if the vectors of `texts` are incomplete, or
            of another encoder.
    """
    start = time.perf_counter()
    opened, clock = RunFolder.read(run), StepClock()
    corpus = opened.as_trained(corpus)
    if out is not None:
        refuse_full_folder(out)
    target = opened.folder if out is None else out
    artifacts.remove_abandoned(target.resolve())  # what a killed update has left beside it
    with clock.step("comparison"):
        old = opened.articles.read_all()
        changes = article_changes(old, corpus.articles, opened.articles.days_in_force)
        other = ""
        if opened.corpus.language != corpus.language:
            other = f"its law is in '{opened.corpus.language}', corpus '{corpus.name}' in '{corpus.language}'"
        elif not changes.n_kept:
            other = f"corpus '{corpus.name}' has none of its article ids, and equal ids are the same article"
        if other:
            raise RunError(
                f"{opened.folder}: {other}; name a new version of the same law with {option('corpus')}, or train on "
                "this one"
            )
    # The hash of a corpus is that of its texts and questions: dates are not in it.
    same = opened.corpus.content_hash == corpus.content_hash and not changes.amended["dates"]
    same = same and corpus.synonyms in ("", saved_text(opened.synonyms))
    written = not dry_run and (out is not None or full or not same)
    update = Update(opened, corpus, old, texts, clock, full)
    counts = _written(update, changes, out) if written else opened.kind.update(update, None)
    return UpdateSummary(
        run=target,
        changes=changes,
        articles=len(corpus.articles),
        **vars(counts),
        steps=tuple(clock.steps),
        seconds=time.perf_counter() - start,
        written=written,
    )


@dataclass(frozen=True)
class Update:
    """A run that is brought to a new version of its corpus: `old` are its articles by row; the rest as in
    `update_run`."""

    run: RunFolder
    corpus: Corpus
    old: Sequence[StoredArticle]
    texts: TextVectors
    clock: StepClock
    full: bool


def _written(update: Update, changes: ArticleChanges, out: Path | None) -> UpdateCounts:
    """Write the updated run in place of the run, or to `out`."""
    run, corpus, clock = update.run, update.corpus, update.clock
    renewed = [part.name for part in run.kind.parts if part.renewed]
    with changed_run(run.folder, out, without=renewed) as folder:
        if RunFolder.read(run.folder).to_dict() != run.to_dict():  # before it was held
            raise RunError(f"{run.folder}: another process has changed it meanwhile; run the command again")
        updated = replace(run, folder=folder, corpus=CorpusFacts.of(corpus), data=corpus_entry(corpus))
        with clock.step("articles"):
            write_article_store(corpus.articles, folder)
            write_synonyms(corpus.synonyms, updated.synonyms)
            if run.kind.has_members:
                write_training_texts(corpus, folder)
        counts: UpdateCounts = run.kind.update(update, updated)
        entry = {
            "from": run.corpus.content_hash,
            "to": corpus.content_hash,
            "articles": changes.counts(),
            "embedded": counts.embedded,
            "recomputed": counts.recomputed,
            "statgraph": __version__,
        }
        updated = replace(updated, updates=(*run.updates, entry))
        write_model_cards(updated, None)
        updated.write()
    return counts


# What an update of one kind of run does beside its articles. `updated` is the new run, whose articles are written
# already: what is renewed is added there. None leaves it at the counts.


def update_lexical(update: Update, updated: RunFolder | None) -> UpdateCounts:
    """Make the index of BM25 again, of the synthetic questions about articles that are left."""
    update.texts.check()
    run, corpus = update.run, update.corpus
    if updated is None:
        return UpdateCounts()
    with update.clock.step("BM25 index"):
        if run.synthetic.is_file():
            file, rows = synthetic_of_run(run.synthetic), corpus.article_rows
            kept = [question for question in file.questions if any(key in rows for key in question.article_ids)]
            if not kept and run.config.bm25.expansion:
                raise RunError(
                    f"{run.synthetic}: no question asks about an article that is left, and articles are expanded "
                    "by them; train again"
                )
            if kept:
                write_synthetic(updated.synthetic, [question.only(rows) for question in kept], file.manifest)
        write_lexical_index(updated, corpus.articles)
    return UpdateCounts()


def update_dense(update: Update, updated: RunFolder | None) -> UpdateCounts:
    """Embed changed texts, and compute the vectors that a change reaches through the graph."""
    run, corpus, clock = update.run, update.corpus, update.clock
    similarity = similarity_of(run.config.encoder.similarity)
    update.texts.check(run)
    with clock.step("graph and what it reaches" if run.has_graph else "what has changed"):
        index = ArticleIndex.load(run.index, device="cpu")
        if list(index.article_ids) != [article.article_id for article in update.old]:
            raise damaged_run(f"{run.folder}: its index and its articles differ")
        graph_run = load_graph_run(run) if run.has_graph else None
        if graph_run is not None:
            inputs = graph_run.inputs
        else:
            hashes = text_hashes(article_texts(update.old, heading_path=run.config.encoder.heading_path))
            inputs = GraphInputs({ARTICLE: index.vectors}, {ARTICLE: hashes}, (), ())
        plan = vector_plan(inputs, index.article_ids, corpus, run.config, graph_run=graph_run, full=update.full)
    counts = UpdateCounts(embedded=len(plan.unknown), recomputed=int(plan.stale.sum()))
    if plan.graph is not None and graph_run is not None:
        headings = _difference(graph_run.graph.headings, plan.graph.headings)
        citations = _difference(_citations(inputs.questions), _citations(plan.questions))
        counts = replace(counts, headings=headings, citations=citations)
    if updated is None:
        return counts
    embedded = None
    if plan.unknown:
        with clock.step("embedding"):
            embedded, taken = update.texts.of(list(plan.unknown.values()), run)
            counts = replace(counts, taken=taken)
    with clock.step("vectors"):
        vectors, new_inputs = carried_out(plan, index.vectors, embedded, similarity)
    with clock.step("index"):
        ids = [article.article_id for article in corpus.articles]
        index.renewed(vectors, ids, unit_length=similarity.unit_length).save(updated.index)
        if new_inputs is not None:
            write_graph_inputs(new_inputs, updated.graph_inputs)
    return counts


def update_ensemble(update: Update, updated: RunFolder | None) -> UpdateCounts:
    """Update the members, and make again what stands beside them. The weights stay."""
    runs = {name: RunFolder.read(folder) for name, folder in update.run.member_folders.items()}
    folders = (updated or update.run).member_folders
    for run in runs.values():
        if run.has_graph:
            check_layers_of(run)
    update.texts.check(*runs.values())
    members = []
    for name, run in runs.items():
        with update.clock.step(f"member {name}"):
            texts = update.texts.only_of(run)
            members.append(
                update_run(folders[name], update.corpus, full=update.full, dry_run=updated is None, texts=texts)
            )
    if updated is not None:
        before = None if update.full else update.run
        write_parts(updated, update.corpus, update.clock, update.texts.progress, before=before)
        copy_ranker(update.run, updated)
    with_graph = next((member for member in members if member.headings), UpdateCounts())
    total = {name: sum(getattr(member, name) for member in members) for name in ("embedded", "taken", "recomputed")}
    return UpdateCounts(with_graph.headings, with_graph.citations, **total)


def _citations(questions: Iterable[Question]) -> set[tuple[str, str]]:
    return {(question.question_id, article_id) for question in questions for article_id in question.article_ids}


def _difference(before: Iterable[object], after: Iterable[object]) -> tuple[int, int]:
    """Return how many there are in `after` alone and in `before` alone."""
    before, after = set(before), set(after)
    return len(after - before), len(before - after)
