"""Embedding articles with a frozen transformer, against sentence-transformers' own `encode` of the same model."""

from __future__ import annotations

import copy
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional

from benchmarks.measures import attention
from benchmarks.measuring import Row, Settings, ratio_text, taking_turns, times_faster
from statgraph.device import inference_dtype
from statgraph.encoders.article_text import article_text
from statgraph.encoders.backbone import Backbone
from statgraph.encoders.backbones import resolve_backbone
from statgraph.encoders.frozen import Tower, VectorCache, embedded_chunks
from statgraph.encoders.loading import load_backbone
from statgraph.errors import UsageError
from statgraph.evaluation.metrics import QUALITY
from statgraph.law.records import Corpus
from statgraph.law.store import read_corpus
from statgraph.training.text_model import vector_metrics

BACKBONE = "embedded:multilingual-e5-small"
RIVAL = "SentenceTransformer.encode(batch_size=32)"
MAX_TOKENS = 512  # the model's positions, where sentence-transformers cuts a text off
ROUNDS = 5


def measure(settings: Settings) -> list[Row]:
    """Return the row of this machine's CPU."""
    return [_row(read_corpus(settings.corpus), torch.device("cpu"), quick=settings.quick)]


def measure_on_gpu(settings: Settings) -> list[Row]:
    """Return the rows of the attention layer and of embedding on this machine's GPU; with `quick` a CPU may stand for
    it.

    Raises:
        UsageError: if torch sees no CUDA device.
    """
    if not torch.cuda.is_available() and not settings.quick:
        raise UsageError(f"torch {torch.__version__} sees no CUDA device; install its CUDA build (docs/gpu.md)")
    device, corpus = torch.device("cuda" if torch.cuda.is_available() else "cpu"), read_corpus(settings.corpus)
    rounds = 1 if settings.quick else 9
    return [_row(corpus, device, quick=settings.quick), *attention.rows_on(corpus, device, rounds=rounds)]


def _row(corpus: Corpus, device: torch.device, *, quick: bool) -> Row:
    """Return the row of a device; both sides get the same texts, in slices that take turns."""
    from sentence_transformers import SentenceTransformer

    n_articles = min(100 if quick else 5000, len(corpus.articles))
    rows = _sampled_rows(corpus, n_articles)
    texts = [article_text(corpus.articles[row]) for row in rows]
    backbone = resolve_backbone(BACKBONE)
    tokenizer, model = load_backbone(backbone)
    rival = SentenceTransformer(str(backbone.location), device=str(device), local_files_only=True)
    rival.max_seq_length = MAX_TOKENS
    slices = np.array_split(np.arange(n_articles), 1 if quick else ROUNDS)
    ours, theirs = np.empty((2, n_articles, model.config.hidden_size), dtype=np.float32)

    def embed(chosen: np.ndarray) -> None:
        ours[chosen] = _embedded(backbone, tokenizer, model, [texts[place] for place in chosen], device)

    def encode(chosen: np.ndarray) -> None:
        theirs[chosen] = _encoded(rival, [texts[place] for place in chosen], backbone.passage_prefix)

    works = {"statgraph": embed, RIVAL: encode}
    turns = [taking_turns(works, [chosen], warm_up=device.type == "cuda") for chosen in slices]
    seconds = {name: [turn[name][0] for turn in turns] for name in works}
    ratio = times_faster(seconds["statgraph"], seconds[RIVAL])
    quality = [_dev_quality(corpus, rows, vectors, rival, backbone.query_prefix) for vectors in (ours, theirs)]
    place, precision = "the CPU" if device.type == "cpu" else "a GPU", str(inference_dtype(device)).split(".")[-1]
    return Row(
        f"embedding {n_articles:,} articles of {corpus.name} with {backbone.name} on {place} ({precision})",
        RIVAL,
        f"{ratio_text(ratio)}; quality {quality[0]:.2f} against {quality[1]:.2f}",
        {"seconds": seconds, "quality": quality},
        f"Texts up to {MAX_TOKENS} tokens, tokenisation included, nothing cached, {len(slices)} slices. Quality on the "
        "dev questions with an article among them, without training. Sorted by tokens, batches of equal token budget; "
        "bfloat16 only where the processor multiplies it.",
    )


def _sampled_rows(corpus: Corpus, n_articles: int) -> list[int]:
    """Return sorted article rows: those that answer dev questions first, then random ones."""
    wanted = sorted({row for labels in corpus.label_rows(corpus.split("dev")) for row in labels})[:n_articles]
    rest = np.setdiff1d(np.arange(len(corpus.articles)), wanted)
    drawn = np.random.default_rng(0).choice(rest, n_articles - len(wanted), replace=False)
    return sorted([*wanted, *drawn.tolist()])


def _embedded(backbone: Backbone, tokenizer, model, texts: Sequence[str], device: torch.device) -> np.ndarray:
    """Return the vectors of texts as training embeds them on a device, nothing cached, (texts, width) of length 1."""
    tower = Tower(backbone, tokenizer, copy.deepcopy(model), device, inference_dtype(device))
    chunks = tower.chunks(texts, prefix=backbone.passage_prefix, chunk_tokens=MAX_TOKENS, max_tokens=MAX_TOKENS)
    with tempfile.TemporaryDirectory() as cache:
        vectors = embedded_chunks(tower, chunks.chunk_ids, cache=VectorCache(Path(cache)))
    return functional.normalize(torch.from_numpy(vectors).float(), dim=1).numpy()


def _encoded(rival, texts: Sequence[str], prefix: str) -> np.ndarray:
    """Return the vectors that sentence-transformers gives, (texts, width) of length 1."""
    return rival.encode(list(texts), prompt=prefix, batch_size=32, normalize_embeddings=True, show_progress_bar=False)


def _dev_quality(corpus: Corpus, rows: Sequence[int], vectors: np.ndarray, rival, prefix: str) -> float:
    """Return quality, in percent, on the dev questions that have an article among the rows."""
    place = {row: at for at, row in enumerate(rows)}
    dev = corpus.split("dev")
    labels = [[place[row] for row in wanted if row in place] for wanted in corpus.label_rows(dev)]
    asked = [(question.text, found) for question, found in zip(dev, labels, strict=True) if found]
    questions = _encoded(rival, [text for text, _ in asked], prefix)
    return 100 * vector_metrics(questions, vectors, [found for _, found in asked])[QUALITY]
