"""Training the dense systems: text encoders, the graph, and what search needs of them; and a rehearsal of it with a
tiny model, in a folder that is gone afterwards."""

from __future__ import annotations

import gc
import shutil
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch

from statgraph import artifacts
from statgraph._version import __version__
from statgraph.augmentation.law_questions import with_law_questions
from statgraph.cache import cache_in, cached, share_files
from statgraph.config import RunConfig, Stage1Config, Stage2Config
from statgraph.device import give_back
from statgraph.encoders.article_text import article_texts, citing_text, heading_texts, text_hashes
from statgraph.encoders.backbone import EMBEDDED_E5
from statgraph.encoders.biencoder import BiEncoder
from statgraph.encoders.inference.onnx_query import GRAPH_OUTPUTS
from statgraph.encoders.inference.query_graph import add_query_graph
from statgraph.encoders.tiny import write_tiny_backbone
from statgraph.errors import RunError
from statgraph.graph.gnn.encoder import write_graph_encoder
from statgraph.graph.gnn.graph_inputs import GraphInputs, write_graph_inputs
from statgraph.graph.relations import ARTICLE, CITING, HEADING, QUESTION
from statgraph.law.records import Corpus
from statgraph.retrieval.index.article_index import ArticleIndex
from statgraph.runs import parts
from statgraph.runs.folders import link_file
from statgraph.systems.job import Job
from statgraph.systems.presets import tiny_config
from statgraph.systems.stages import StageBuilder
from statgraph.training.checkpoints import load_progress, load_weights, save_checkpoint
from statgraph.training.loop import Schedule, Stage, train_stage
from statgraph.training.seeding import seed_everything
from statgraph.training.steps import OptimizerSteps

_REHEARSED_QUESTIONS, _REHEARSED_ARTICLES = 6, 40


def train_dense(job: Job) -> None:
    """Train the stages that the configuration asks for and write encoders and index into the run folder.

    Graph, sampler and graph encoder are built before the first stage, so that a setting that they refuse is refused
    before the work. Of several processes the first alone writes.

    Raises:
        CorpusError: if a stage is asked for and the corpus has no training questions.
        UsageError: if a setting is out of range.
    """
    if job.config.from_law:
        job = replace(job, corpus=with_law_questions(job.corpus, seed=job.config.seed))
    clock, writes = job.clock, job.world.is_first
    stages = StageBuilder(job)
    encoders = stages.encoders
    if stages.trains_encoders:
        with clock.step("stage 1"):
            _train_stage1(job, stages)
    if stages.graph is not None:
        vectors = _train_graph(job, stages)
    else:
        encoders.eval()
        with clock.step("article vectors"):
            vectors = stages.model.index_vectors()
        if writes:
            _save_article_encoder(encoders, job.folder)
    if writes:
        with clock.step("index and encoders to disk"):
            _export(encoders, vectors, job)


def _train_stage1(job: Job, stages: StageBuilder) -> None:
    """Train the text encoders, or take the weights that a run kept which differs from this one in its graph alone."""
    stage, kept = stages.stage1(), None
    if job.options.stage1_cache is not None and job.world.size == 1:
        kept = job.options.stage1_cache / stage1_key(job)
        with suppress(RunError):  # what cannot be read is trained again
            best = load_progress(kept)
            if best is not None:
                stage.load_weights(load_weights(kept))
                stage.set_training(False)
                job.context.log.take_back(stage.name, -1)
                job.context.log.append(**best)
                return
    best = train_stage(stage, _schedule(job.config.stage1), job.context)
    if kept is not None:
        save_checkpoint(kept, stage.weights(), best)


def stage1_key(job: Job) -> str:
    """Return a name for all that the weights after stage 1 depend on."""
    values = job.config.to_dict()
    used = {name: values[name] for name in (*parts.STAGE1.uses, "seed", "select_by")}
    return artifacts.key_of(used | {"corpus": job.corpus.content_hash, "device": job.device.type})


def _train_graph(job: Job, stages: StageBuilder) -> np.ndarray:
    """Train the graph encoder and its student, write its side of the run, and return the articles' index vectors."""
    config, clock, graph, graph_model = job.config.stage2, job.clock, stages.graph, stages.graph_model
    assert graph is not None
    assert graph_model is not None
    with clock.step("stage 2"):
        stage2 = stages.stage2()
        trains_articles = config.train_encoders == "both"
        if job.world.is_first and not trains_articles:
            _save_article_encoder(stages.encoders, job.folder)
        train_stage(stage2, _schedule(config), job.context)
        if job.world.is_first and trains_articles:
            _save_article_encoder(stages.encoders, job.folder)
        vectors = stage2.index_vectors()
    if config.distillation != "none" and not config.joint:
        with clock.step("distillation"):
            train_stage(stages.after_graph(stage2), _schedule(config), job.context)
    hashes = {
        ARTICLE: text_hashes(stages.article_texts),
        HEADING: text_hashes(heading_texts(graph.headings, heading_path=job.config.graph.heading_path)),
        QUESTION: text_hashes([question.text for question in job.corpus.split("train")]),
        CITING: text_hashes([citing_text(text) for text in graph.citing]),
    }
    hashes = {node_type: hashes[node_type] for node_type in graph.node_types}
    inputs = GraphInputs(stage2.input_vectors(), hashes, job.corpus.split("train"), graph.citing)
    if job.world.is_first:
        write_graph_encoder(graph_model.encoder, job.folder / parts.GRAPH_ENCODER)
        write_graph_inputs(inputs, job.folder / parts.GRAPH_INPUTS)
    return vectors


def _schedule(stage: Stage1Config | Stage2Config) -> Schedule:
    return Schedule(stage.epochs, stage.warmup, stage.weight_decay, stage.patience, stage.decay, stage.clip)


def _save_article_encoder(encoders: BiEncoder, folder: Path) -> None:
    """Keep the article encoder as it was when it gave the graph its vectors: where both sides share weights, what
    trains the question encoder alone changes it afterwards."""
    with artifacts.replaced_folder(folder / parts.ARTICLE_ENCODER) as staging:
        encoders.save_article_encoder(staging)


def _export(encoders: BiEncoder, vectors: np.ndarray, job: Job) -> None:
    ids = [article.article_id for article in job.corpus.articles]
    index = ArticleIndex.build(vectors, ids, unit_length=encoders.similarity.unit_length)
    index.save(job.folder / parts.INDEX)
    with artifacts.replaced_folder(job.folder / parts.QUERY_ENCODER) as staging:
        if not _is_pretrained(job.config):
            _write_query_encoder(encoders, staging)
            return
        # Half a gigabyte and half a minute, the same for every corpus: on one disk the cache and its runs share it.
        inputs = [job.config.to_dict()["encoder"], job.config.seed, __version__, GRAPH_OUTPUTS]

        def make(folder: Path) -> None:
            _write_query_encoder(encoders, folder)
            share_files(folder)  # with the frozen transformers of other members

        kept = cached("models", inputs, make)
        shutil.copytree(kept, staging, copy_function=link_file, dirs_exist_ok=True)


def _is_pretrained(config: RunConfig) -> bool:
    """Return whether the query encoder is the embedded transformer, unchanged."""
    encoder = config.encoder
    changed = encoder.adapted or encoder.prune_vocabulary or config.stage1.epochs or config.stage2.epochs
    return encoder.backbone == EMBEDDED_E5 and encoder.train == "none" and not changed


def _write_query_encoder(encoders: BiEncoder, folder: Path) -> None:
    encoders.save_question_encoder(folder)
    # The modules' copies of the weights go first, cycles and all: checking the graph takes copies of its own.
    gc.collect()
    give_back()
    add_query_graph(folder)


@dataclass(frozen=True)
class RehearsedStep:
    """The step of a stage: its loss before it and after, and the seconds of both."""

    stage: str
    first_loss: float
    second_loss: float
    seconds: float


def rehearsed(corpus: Corpus, config: RunConfig) -> list[RehearsedStep]:
    """Return the steps of a dense run's stages, taken with a tiny model over a part of the corpus.

    All settings are the run's but those of size. Nothing is left on disk.

    Raises:
        CorpusError, UsageError: as in training.
    """
    part = _part(corpus)
    with tempfile.TemporaryDirectory(prefix="statgraph-") as folder, cache_in(Path(folder) / "cache"):
        texts = article_texts(part.articles, heading_path=config.encoder.heading_path)
        questions = [question.text for question in part.questions]
        backbone = write_tiny_backbone(Path(folder) / "tiny", [*texts, *questions])
        job = Job(part, tiny_config(config, backbone), Path(folder) / "run")
        job.folder.mkdir()
        stages = StageBuilder(job)
        steps = []
        if stages.trains_encoders:
            steps.append(_one_step(stages.stage1(), job, clip=config.stage1.clip))
        if stages.graph is not None:
            steps.append(_one_step(stages.stage2(), job, clip=config.stage2.clip))
        return steps


def _part(corpus: Corpus) -> Corpus:
    """Return some training questions with the articles that answer them, and the first of the other articles."""
    questions = corpus.split("train")[:_REHEARSED_QUESTIONS]
    wanted = {article_id for question in questions for article_id in question.article_ids}
    others = [article.article_id for article in corpus.articles if article.article_id not in wanted]
    wanted |= set(others[: max(0, _REHEARSED_ARTICLES - len(wanted))])
    articles = tuple(article for article in corpus.articles if article.article_id in wanted)
    return replace(corpus, articles=articles, questions=tuple(questions), citing=())


def _one_step(stage: Stage, job: Job, *, clip: float) -> RehearsedStep:
    start = time.perf_counter()
    rng = seed_everything(job.config.seed, with_graph=stage.uses_graph)
    groups = stage.parameter_groups()
    parameters = [parameter for group in groups for parameter in group["params"]]
    steps = OptimizerSteps(torch.optim.AdamW(groups, fused=True), parameters, job.device, clip=clip)
    stage.begin_epoch(1, 1)
    stage.set_training(True)
    batch = next(iter(stage.batches(rng)))
    losses = []
    for _ in range(2):
        losses.append(steps.take(lambda: stage.loss(batch)))
        stage.weights_changed()
    if not np.isfinite(losses).all():
        raise ValueError(f"{stage.name}: the loss of a rehearsed step is {losses}")
    first, second = losses
    return RehearsedStep(stage.name, first, second, time.perf_counter() - start)
