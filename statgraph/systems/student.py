"""Training a student: an ensemble's ranking distilled into the query encoder and the vectors of one member."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from statgraph import artifacts
from statgraph.encoders.inference.query_graph import add_query_graph
from statgraph.errors import RunError, UsageError, option
from statgraph.evaluation.metrics import deciding_metric
from statgraph.graph.smoothing import smoothed
from statgraph.law.records import Corpus
from statgraph.law.structure import Structure
from statgraph.progress import Step
from statgraph.retrieval.index.article_index import ArticleIndex
from statgraph.retrieval.ranking.ensemble import Ensemble
from statgraph.retrieval.search.ensemble_run import read_ensemble
from statgraph.runs import parts
from statgraph.runs.run import RunFolder
from statgraph.systems.job import Job
from statgraph.systems.learning import questions_of_all_sets
from statgraph.training.loop import Schedule, train_stage
from statgraph.training.pairs import citing_pairs, heading_pairs
from statgraph.training.seeding import derived_seed
from statgraph.training.student import Lessons, Student, StudentEncoder
from statgraph.training.text_model import vector_metrics

_TEXTS_AT_ONCE = 128
_WARMUP = 0.1


def train_student(job: Job) -> None:
    """Train a student of `job.options.teacher` and write encoder and index into the run folder.

    The teacher has seen no dev or test question but those that its weights learnt from, and nothing that it is asked
    here is of one.

    Raises:
        UsageError: without a teacher that can teach it, or in several processes.
        RunError: if the teacher is of another corpus, or damaged, or not the one that a resumed run has lessons of.
    """
    teacher, corpus, config = job.options.teacher, job.corpus, job.config
    if teacher is None:
        raise UsageError(f"student: learns from an ensemble; name one with {option('teacher')} RUN")
    if job.world.size > 1:
        raise UsageError("student: trains in one process; run it without torchrun")
    teacher.check_corpus(corpus)
    member = _member(teacher, config.encoder.backbone)
    with job.clock.step("lessons"):
        lessons = _lessons(job, teacher)
    with job.clock.step("student"):
        encoder = StudentEncoder(member.query_encoder, job.config.device)
        start = _start(job, encoder, member, teacher)
        dev = corpus.split("dev")
        asked = [question.text for question in dev], corpus.label_rows(dev)
        student = Student(encoder, start, lessons, asked, config.student)
        train_stage(student, Schedule(config.student.epochs, _WARMUP, weight_decay=0.0, patience=0), job.context)
    with job.clock.step("index and encoder to disk"):
        ids = [article.article_id for article in corpus.articles]
        ArticleIndex.build(student.index_vectors(), ids, unit_length=True).save(job.folder / parts.INDEX)
        with artifacts.replaced_folder(job.folder / parts.QUERY_ENCODER) as staging:
            encoder.save(staging)
            add_query_graph(staging)
    (job.folder / parts.LESSONS).unlink()


def _member(teacher: RunFolder, backbone: str) -> RunFolder:
    """Return the member of the ensemble that the student begins as: the first with its backbone."""
    folders = teacher.member_folders
    for name, folder in folders.items():
        if name.partition("@")[2] == backbone:
            member = RunFolder.read(folder)
            if member.config.encoder.similarity != "cosine":
                raise UsageError(f"{folder}: compares by {member.config.encoder.similarity}; a student needs cosine")
            return member
    known = ", ".join(dict.fromkeys(name.partition("@")[2] for name in folders)) or "none"
    raise UsageError(f"encoder.backbone: no member of {teacher.folder} has '{backbone}' (they have: {known})")


def _lessons(job: Job, teacher: RunFolder) -> Lessons:
    """Return the teacher's rankings, from the folder where an interrupted run has kept them."""
    path, config = job.folder / parts.LESSONS, job.config.student
    key = artifacts.key_of(teacher.to_dict())
    texts = _texts(job.corpus, config.texts, np.random.default_rng(derived_seed(job.config.seed, "lessons")))
    if not path.exists():
        ensemble = read_ensemble(teacher, len(job.corpus.articles), device=job.config.device)
        rows, scores = _ranked(ensemble, texts, min(config.best, len(job.corpus.articles)), job)
        with artifacts.replaced_file(path) as staging, staging.open("wb") as file:
            np.savez(file, rows=rows, scores=scores, teacher=key)
    with np.load(path, allow_pickle=False) as kept:
        if str(kept["teacher"]) != key:
            raise RunError(
                f"{job.folder}: was started with another teacher; name that one, or train into another folder"
            )
        return Lessons(texts, kept["rows"], kept["scores"])


def _texts(corpus: Corpus, n_others: int, rng: np.random.Generator) -> list[str]:
    """Return the training questions of all sets, and `n_others` headings and citing texts, in proportion."""
    questions = questions_of_all_sets(corpus, "train")
    others = [*citing_pairs(corpus).texts, *heading_pairs(corpus).texts]
    drawn = rng.permutation(len(others))[:n_others]
    return [question.text for question in questions] + [others[place] for place in drawn]


def _ranked(ensemble: Ensemble, texts: Sequence[str], best: int, job: Job) -> tuple[np.ndarray, np.ndarray]:
    """Return (texts, best) rows int32 and scores float32 of the ensemble; articles that it does not rank for a text
    come last with a score of -inf."""
    rows = np.zeros((len(texts), best), dtype=np.int32)
    scores = np.full((len(texts), best), -np.inf, dtype=np.float32)
    for start in range(0, len(texts), _TEXTS_AT_ONCE):
        batch = texts[start : start + _TEXTS_AT_ONCE]
        for place, ranked in enumerate(ensemble.rank(batch, best), start=start):
            rows[place, : len(ranked.rows)], scores[place, : len(ranked.rows)] = ranked
        job.options.progress(Step("ranking lessons", start + len(batch), len(texts)))
    return rows, scores


def _start(job: Job, encoder: StudentEncoder, member: RunFolder, teacher: RunFolder) -> np.ndarray:
    """Return the article vectors to begin with: the member's, or these smoothed where dev is better for it."""
    corpus, weight = job.corpus, job.config.student.smoothing
    vectors = ArticleIndex.load(member.index, device="cpu").vectors
    dev = corpus.split("dev")
    if not dev or not weight:
        return vectors
    law = Structure.read(teacher.structure, len(corpus.articles))
    starts, cited = law.citations.refers_to
    others = smoothed(vectors, law.section, cited, starts, weight)
    with torch.inference_mode():
        questions = encoder.eval()(encoder.inputs([question.text for question in dev])).numpy()
    metric = deciding_metric(job.config.select_by, len(corpus.articles))
    as_it_is, with_law = (
        vector_metrics(questions, start, corpus.label_rows(dev))[metric] for start in (vectors, others)
    )
    better = with_law > as_it_is
    job.options.announce(
        f"article vectors {'smoothed over the law' if better else 'as they were'}: {metric} on dev "
        f"{100 * with_law:.1f} smoothed, {100 * as_it_is:.1f} as they were"
    )
    return others if better else vectors
