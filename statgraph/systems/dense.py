"""Training the dense systems: text encoders, the graph, and what search needs of them."""

from __future__ import annotations

import gc
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch

from statgraph import artifacts
from statgraph.allocator import give_back, kept_memory
from statgraph.config import RunConfig
from statgraph.corpus.records import Corpus
from statgraph.distributed import SINGLE, World
from statgraph.encoders.article_text import article_text, heading_text
from statgraph.encoders.biencoder import BiEncoder, encoded
from statgraph.encoders.building import build_biencoder
from statgraph.encoders.hashes import text_hashes
from statgraph.errors import CorpusError
from statgraph.gnn.graph_inputs import GraphInputs, write_graph_inputs
from statgraph.gnn.saved_encoder import write_graph_encoder
from statgraph.graph.build import LegalGraph, build_graph
from statgraph.graph.relations import ARTICLE, HEADING, QUESTION
from statgraph.index.article_index import ArticleIndex
from statgraph.inference.fused_export import add_query_graph
from statgraph.systems.stage1_cache import Stage1Cache
from statgraph.systems.stages import StageBuilder
from statgraph.systems.timing import StepClock
from statgraph.training.loop import Listener, train_stage
from statgraph.training.metrics_log import MetricsLog
from statgraph.training.pretraining import adapted_backbone
from statgraph.training.seeding import derived_seed, seed_everything
from statgraph.training.stage import Schedule
from statgraph.training.stage1 import TrainingTexts


def train_dense(
    corpus: Corpus,
    config: RunConfig,
    folder: Path,
    *,
    device: torch.device,
    log: MetricsLog,
    clock: StepClock,
    resume: bool,
    stage1_cache: Path | None,
    on_step: Callable[[str, int, int], None],
    on_training: Listener,
    world: World = SINGLE,
) -> None:
    """Train the stages that the configuration asks for and write encoders and index into the run folder.

    Of several processes the first alone writes. They do without `stage1_cache`.

    Raises:
        CorpusError: if a stage is asked for and the corpus has no training questions.
    """
    trains = config.stage1.epochs or config.stage2.epochs
    if trains and not corpus.split("train"):
        raise CorpusError(
            [
                f"{corpus.name}: has no training questions; add some, each with an article that answers it, to the "
                "questions that you import, or use --system bm25 or dpr"
            ]
        )
    adapted = None
    if config.encoder.adapted:
        with clock.step("adaptation to the statutes"), world.first_goes_first():
            adapted = adapted_backbone(config, corpus, device, on_training)
    seed_everything(derived_seed(config.seed, "encoders"))
    texts = [article_text(article, heading_path=config.encoder.heading_path) for article in corpus.articles]
    questions = [question.text for question in corpus.split("train")]
    dev = corpus.split("dev")
    with clock.step("encoders"), world.first_goes_first():
        encoders = build_biencoder(config.encoder, [*texts, *questions], device, adapted=adapted, world=world)
    with clock.step("article inputs"):
        evaluation = TrainingTexts(
            articles=encoders.article_inputs(texts, on_step),
            dev_questions=encoders.question_inputs([question.text for question in dev], on_step),
            dev_labels=corpus.label_rows(dev),
        )
    build = StageBuilder(
        corpus,
        config,
        encoders,
        evaluation,
        article_texts=texts,
        folder=folder,
        device=device,
        on_step=on_step,
        world=world,
    )
    run = {
        "seed": config.seed, "device": device, "log": log, "resume": resume, "listener": on_training, "world": world,
    }  # fmt: skip
    checkpoints = folder / artifacts.RUN_CHECKPOINTS
    if config.stage1.epochs and encoders.parameter_groups(lr=1.0, weight_lr=1.0):
        with clock.step("stage 1"):
            stage1 = build.stage1()
            kept = None
            if stage1_cache is not None and world.size == 1:
                kept = Stage1Cache(stage1_cache, config, corpus_hash=corpus.content_hash, device=device.type)
            best = kept.load_into(stage1) if kept else None
            if best is None:
                best = train_stage(stage1, _schedule(config.stage1), folder=checkpoints / stage1.name, **run)
                if kept:
                    kept.keep(stage1, best)
            else:
                log.take_back(stage1.name, -1)
                log.append(**best)
    if config.stage2.epochs:
        with clock.step("graph"):
            graph = build_graph(corpus, config.graph.relations)
        with clock.step("stage 2"), kept_memory():
            graph_encoder = build.graph_encoder(graph)
            stage2 = build.stage2(graph, graph_encoder)
            trains_articles = config.stage2.train_encoders == "both"
            if world.is_first and not trains_articles:
                _save_article_encoder(encoders, folder)
            train_stage(stage2, _schedule(config.stage2), folder=checkpoints / stage2.name, **run)
            if world.is_first and trains_articles:
                _save_article_encoder(encoders, folder)
            vectors = stage2.index_vectors()
        if config.stage2.distillation != "none" and not config.stage2.joint:
            with clock.step("distillation"):
                after = build.after_graph(stage2)
                train_stage(after, _schedule(config.stage2), folder=checkpoints / after.name, **run)
        inputs = GraphInputs(stage2.input_vectors(), _node_hashes(texts, graph, corpus), corpus.split("train"))
        if world.is_first:
            write_graph_encoder(graph_encoder, folder / artifacts.RUN_GRAPH_ENCODER)
            write_graph_inputs(inputs, folder / artifacts.RUN_GRAPH_INPUTS)
    else:
        encoders.eval()
        with clock.step("article vectors"):
            plain = encoded(
                encoders.articles, evaluation.articles, batch=encoders.encode_batch, device=device, world=world
            )
            vectors = encoders.similarity.index_vectors(plain)
        if world.is_first:
            _save_article_encoder(encoders, folder)
    if world.is_first:
        with clock.step("index and encoders to disk"):
            _export(encoders, vectors, corpus, folder)


def _schedule(stage) -> Schedule:
    return Schedule(stage.epochs, stage.warmup, stage.weight_decay, stage.patience)


def _node_hashes(article_texts: list[str], graph: LegalGraph, corpus: Corpus) -> dict[str, np.ndarray]:
    return {
        ARTICLE: text_hashes(article_texts),
        HEADING: text_hashes([heading_text(heading) for heading in graph.headings]),
        QUESTION: text_hashes([question.text for question in corpus.split("train")]),
    }


def _save_article_encoder(encoders: BiEncoder, folder: Path) -> None:
    """Keep the article encoder as it was when it gave the graph its vectors: where both sides share weights, what
    trains the question encoder alone changes it afterwards."""
    with artifacts.replaced_folder(folder / artifacts.RUN_ARTICLE_ENCODER) as staging:
        encoders.save_article_encoder(staging)


def _export(encoders: BiEncoder, vectors: np.ndarray, corpus: Corpus, folder: Path) -> None:
    ids = [article.article_id for article in corpus.articles]
    index = ArticleIndex.build(vectors, ids, unit_length=encoders.similarity.unit_length)
    index.save(folder / artifacts.RUN_INDEX)
    with artifacts.replaced_folder(folder / artifacts.RUN_QUERY_ENCODER) as staging:
        encoders.save_question_encoder(staging)
        # The modules' copies of the weights go first, cycles and all: checking the graph takes copies of its own.
        gc.collect()
        give_back()
        add_query_graph(staging)
