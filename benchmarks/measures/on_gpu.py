"""What a GPU does: QABISAR's layer beside PyG's, and embedding beside sentence-transformers and a plain product."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.util import find_spec

import torch

from benchmarks.measures import attention, embedding
from benchmarks.rows import Row, Spread, not_measured, ratio_text, taking_turns, times_faster
from benchmarks.settings import Settings
from statgraph.encoders.article_text import article_text
from statgraph.encoders.backbones import resolve_backbone
from statgraph.encoders.loading import load_backbone
from statgraph.graph.blocks import whole_graph_block
from statgraph.graph.build import build_graph
from statgraph.graph.gnn.qabisar import QabisarLayer
from statgraph.law.records import Corpus
from statgraph.law.store import read_corpus

LAYER, EMBEDDING = "QABISAR's layer on a GPU", "embedding articles on a GPU"
NO_GPU, NO_PYG = "No GPU was at hand.", "PyG is not installed (pip install '.[bench]')."
ASKED = "3 times faster, 35 % of the bf16 rate"
_PRODUCT = 8192  # rows and columns of the plain product


def measure(settings: Settings) -> list[Row]:
    """Return the rows on this machine's GPU; without one they are marked, and with `quick` a CPU stands for it."""
    if not torch.cuda.is_available() and not settings.quick:
        return [
            not_measured(LAYER, against=attention.PYG, asked="", why=NO_GPU),
            not_measured(EMBEDDING, against=embedding.RIVAL, asked=ASKED, why=NO_GPU),
        ]
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    corpus = read_corpus(settings.corpus)
    rounds = 1 if settings.quick else 9
    return [_layer_row(corpus, device, rounds), _embedding_row(corpus, device, rounds, settings.quick)]


def _layer_row(corpus: Corpus, device: torch.device, rounds: int) -> Row:
    if find_spec("torch_geometric") is None:
        return not_measured(LAYER, against=attention.PYG, asked="", why=NO_PYG)
    torch.manual_seed(0)
    graph = build_graph(corpus)
    block, width = whole_graph_block(graph).to(device), attention.WIDTH
    nodes = torch.randn(block.n_inputs, width, device=device, requires_grad=True)
    gradient = torch.randn(block.n_outputs, width, device=device)
    n_types = len(graph.edge_types)
    ours = QabisarLayer(width, n_heads=attention.HEADS, n_edge_types=n_types).to(device)
    works = {
        LAYER: _synchronised(attention.there_and_back(lambda: ours(nodes, block), ours, nodes, gradient), device),
        attention.PYG: _synchronised(attention.pyg(block, n_types, nodes, gradient), device),
    }
    seconds = taking_turns(works, rounds=rounds)
    faster = times_faster(seconds[LAYER], seconds[attention.PYG])
    scale = f"{corpus.name}: {block.n_inputs:,} nodes, {len(block.sources):,} edges, {width} wide"
    note = "Forward and backward in float32 over the whole graph. DGL is not compared: its build is for CPUs."
    return Row(f"{LAYER}, {scale}", attention.PYG, "", ratio_text(faster), None, {"seconds": seconds}, note)


def _embedding_row(corpus: Corpus, device: torch.device, rounds: int, quick: bool) -> Row:
    rows = embedding.sampled_rows(corpus, min(4 if quick else 5000, len(corpus.articles)))
    texts = [article_text(corpus.articles[row]) for row in rows]
    backbone = resolve_backbone(embedding.BACKBONE)
    tokenizer, model = load_backbone(backbone)
    rival = embedding.sentence_transformer(backbone, tokenizer, model, device)
    works = {
        EMBEDDING: lambda: embedding.embed_texts(backbone, tokenizer, model, texts, device),
        embedding.RIVAL: lambda: embedding.encode_texts(rival, texts, backbone.passage_prefix),
    }
    seconds = taking_turns(works, rounds=min(rounds, 3), warm_up=not quick)
    faster = times_faster(seconds[EMBEDDING], seconds[embedding.RIVAL])
    share = _operations(tokenizer, model, texts) / Spread.of(seconds[EMBEDDING]).median / _rate(device, quick)
    return Row(
        f"{EMBEDDING}: {len(texts):,} of {corpus.name} with {backbone.name}",
        embedding.RIVAL,
        ASKED,
        f"{ratio_text(faster)}; {100 * share:.0f} % of the bf16 rate",
        faster.median >= 3 and share >= 0.35,
        {"seconds": seconds},
        f"Texts up to {embedding.MAX_TOKENS} tokens, tokenisation included, nothing cached. The rate is that of a "
        f"product of two matrices of {_PRODUCT} rows beside it; of the model its products with weights count.",
    )


def _operations(tokenizer, model, texts: Sequence[str]) -> float:
    """Return the additions and multiplications of the model's products with its weights over texts."""
    n_tokens = sum(min(len(ids), embedding.MAX_TOKENS) for ids in tokenizer(list(texts))["input_ids"])
    weights = sum(weight.numel() for name, weight in model.named_parameters() if "embeddings" not in name)
    return 2.0 * weights * n_tokens


def _rate(device: torch.device, quick: bool) -> float:
    """Return the operations a second of a product of two bfloat16 matrices."""
    size = 256 if quick else _PRODUCT
    one, other = (torch.randn(size, size, device=device).bfloat16() for _ in range(2))
    seconds = taking_turns({"product": _synchronised(lambda: one @ other, device)}, rounds=5)["product"]
    return 2.0 * size**3 / Spread.of(seconds).median


def _synchronised(work: Callable[[], object], device: torch.device) -> Callable[[], None]:
    """Return a function that ends when the device has done the work."""

    def run() -> None:
        work()
        if device.type == "cuda":
            torch.cuda.synchronize()

    return run
