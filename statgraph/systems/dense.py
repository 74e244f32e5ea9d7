"""Training the dense systems: text encoders, the graph, and what search needs of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch

from statgraph import artifacts
from statgraph.config import RunConfig
from statgraph.corpus.records import Corpus
from statgraph.errors import CorpusError
from statgraph.gnn.encoder import GraphEncoder
from statgraph.graph.blocks import BlockSampler, whole_graph_block
from statgraph.graph.build import LegalGraph, build_graph
from statgraph.index.article_index import ArticleIndex
from statgraph.lexical.bm25 import BM25
from statgraph.systems.timing import StepClock
from statgraph.text.article_text import article_text, heading_text
from statgraph.text.biencoder import BiEncoder, encoded
from statgraph.text.building import build_biencoder
from statgraph.training.loop import Listener, train_stage
from statgraph.training.metrics_log import MetricsLog
from statgraph.training.pairs import gold_pairs, heading_pairs
from statgraph.training.seeding import derived_seed, seed_everything
from statgraph.training.stage import Schedule
from statgraph.training.stage1 import Stage1, TrainingTexts
from statgraph.training.stage2 import GraphTexts, Stage2

HARD_NEGATIVE_DEPTH = 50


def train_dense(
    corpus: Corpus,
    config: RunConfig,
    folder: Path,
    *,
    device: torch.device,
    log: MetricsLog,
    clock: StepClock,
    resume: bool,
    on_step: Callable[[str, int, int], None],
    on_training: Listener,
) -> None:
    """Train the stages that the configuration asks for and write encoders and index into the run folder.

    Raises:
        CorpusError: if a stage is asked for and the corpus has no training questions.
    """
    trains = config.stage1.epochs or config.stage2.epochs
    if trains and not corpus.split("train"):
        raise CorpusError(
            [f"{corpus.name}: has no training questions; add some to qrels/train.tsv, or use --system dpr or bm25"]
        )
    seed_everything(derived_seed(config.seed, "encoders"))
    texts = [article_text(article, heading_path=config.encoder.heading_path) for article in corpus.articles]
    questions = [question.text for question in corpus.split("train")]
    dev = corpus.split("dev")
    with clock.step("encoders"):
        encoders = build_biencoder(config.encoder, [*texts, *questions], device)
    with clock.step("article inputs"):
        evaluation = TrainingTexts(
            articles=encoders.article_inputs(texts, on_step),
            dev_questions=encoders.question_inputs([question.text for question in dev], on_step),
            dev_labels=corpus.label_rows(dev),
        )
    run = {
        "seed": config.seed, "device": device, "log": log, "resume": resume, "listener": on_training,
    }  # fmt: skip
    checkpoints = folder / artifacts.RUN_CHECKPOINTS
    if config.stage1.epochs and encoders.parameter_groups(lr=1.0, weight_lr=1.0):
        with clock.step("stage 1"):
            stage1 = _stage1(corpus, config, encoders, evaluation, texts, device)
            train_stage(stage1, _schedule(config.stage1), folder=checkpoints / "stage1", **run)
    if config.stage2.epochs:
        with clock.step("graph"):
            graph = build_graph(corpus, config.graph.relations)
        with clock.step("stage 2"):
            stage2, graph_encoder = _stage2(corpus, config, encoders, evaluation, graph, device, on_step)
            train_stage(stage2, _schedule(config.stage2), folder=checkpoints / "stage2", **run)
            vectors = stage2.article_vectors()
        _save_graph_encoder(graph_encoder, folder / artifacts.RUN_GRAPH_ENCODER)
    else:
        encoders.eval()
        with clock.step("article vectors"):
            vectors = encoded(encoders.articles, evaluation.articles, batch=encoders.encode_batch, device=device)
    with clock.step("index and encoders to disk"):
        _export(encoders, vectors, corpus, folder)


def _schedule(stage) -> Schedule:
    return Schedule(stage.epochs, stage.warmup, stage.weight_decay, stage.patience)


def _stage1(corpus, config: RunConfig, encoders: BiEncoder, evaluation: TrainingTexts, texts, device) -> Stage1:
    gold = gold_pairs(corpus)
    hard = None
    if config.stage1.bm25_negatives:
        bm25 = BM25(texts, language=corpus.language, k1=config.bm25.k1, b=config.bm25.b)
        hard = np.stack([_wrong_answers(bm25, gold, row) for row in range(len(gold.texts))])
    return Stage1(
        encoders,
        evaluation,
        gold=gold,
        headings=heading_pairs(corpus) if config.stage1.headings else None,
        hard_negatives=hard,
        config=config.stage1,
        device=device,
    )


def _wrong_answers(bm25: BM25, gold, question_row: int) -> np.ndarray:
    """Return the best BM25 rows that do not answer a training question, always equally many."""
    answers = gold.answers_of(question_row)
    ranked, _ = bm25.ranking(gold.texts[question_row], HARD_NEGATIVE_DEPTH + len(answers))
    wrong = ranked[~np.isin(ranked, answers)]
    return np.resize(wrong, HARD_NEGATIVE_DEPTH)


def _stage2(
    corpus: Corpus,
    config: RunConfig,
    encoders: BiEncoder,
    evaluation: TrainingTexts,
    graph: LegalGraph,
    device: torch.device,
    on_step,
) -> tuple[Stage2, GraphEncoder]:
    torch.manual_seed(derived_seed(config.seed, "graph encoder"))
    graph_encoder = GraphEncoder(
        layer=config.gnn.layer,
        width=encoders.width,
        n_layers=config.gnn.layers,
        n_heads=config.gnn.heads,
        n_edge_types=len(graph.edge_types),
        dropout=config.gnn.dropout,
        first_gate=config.gnn.first_gate,
    ).to(device)
    gold = gold_pairs(corpus)
    stage2 = Stage2(
        encoders,
        graph_encoder,
        sampler=BlockSampler(
            graph,
            fanouts=[config.gnn.fanout] * config.gnn.layers,
            target_edges=config.graph.target_edges,
            citation_dropout=config.gnn.citation_dropout,
        ),
        whole_graph=whole_graph_block(graph),
        texts=GraphTexts(
            articles=evaluation.articles,
            headings=encoders.article_inputs([heading_text(heading) for heading in graph.headings], on_step),
            questions=encoders.question_inputs(gold.texts, on_step),
        ),
        evaluation=evaluation,
        gold=gold,
        headings=heading_pairs(corpus) if config.stage2.headings else None,
        config=config.stage2,
        device=device,
    )
    return stage2, graph_encoder


def _save_graph_encoder(graph_encoder: GraphEncoder, path: Path) -> None:
    from safetensors.torch import save_file

    with artifacts.replaced_file(path) as staging:
        save_file({name: tensor.detach().cpu() for name, tensor in graph_encoder.state_dict().items()}, staging)


def _export(encoders: BiEncoder, vectors: np.ndarray, corpus: Corpus, folder: Path) -> None:
    ArticleIndex.build(vectors, [article.article_id for article in corpus.articles]).save(folder / artifacts.RUN_INDEX)
    with artifacts.replaced_folder(folder / artifacts.RUN_QUERY_ENCODER) as staging:
        encoders.save_question_encoder(staging)
    with artifacts.replaced_folder(folder / artifacts.RUN_ARTICLE_ENCODER) as staging:
        encoders.save_article_encoder(staging)
