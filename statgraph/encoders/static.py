"""The static encoder, one vector and one weight per word piece, summed over a text; and the pair of it for questions
and articles, with what it keeps on disk."""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from statgraph.artifacts import write_tensors
from statgraph.cache import cached, place_of
from statgraph.config import EncoderConfig
from statgraph.device import on_device
from statgraph.distributed import SINGLE, in_world
from statgraph.encoders.article_text import text_hashes
from statgraph.encoders.backbone import EMBEDDED_STATIC, Backbone
from statgraph.encoders.backbones import backbone_fingerprint
from statgraph.encoders.biencoder import BiEncoder, dense_module
from statgraph.encoders.chunking import chunk_places
from statgraph.encoders.frozen import Tower, VectorCache, embedded_chunks
from statgraph.encoders.loading import load_backbone, quiet_transformers
from statgraph.encoders.similarity import SIMILARITIES, Similarity, similarity_of
from statgraph.encoders.vocabulary import pruned_tokenizer, token_ids, used_piece_ids
from statgraph.errors import ModelError
from statgraph.progress import Progress, silent

if TYPE_CHECKING:
    from tokenizers import Tokenizer

ARTICLE_WEIGHTS = "model.safetensors"
TOKENIZER = "tokenizer.json"
_DISTILLATION = 2  # counts the ways of distilling: raise it with one that gives other vectors
FLOOR = 1e-8  # keeps the length of a text without tokens from being zero; far below a token's share
_SIF_A = 1e-3  # Arora et al. 2017, section 3: the smoothing constant of the inverse-frequency weights


@dataclass(frozen=True)
class TokenBags:
    """Texts as bags of token ids: `ids` (tokens,) int64, `offsets` (texts + 1,) int64."""

    ids: torch.Tensor
    offsets: torch.Tensor

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def take(self, rows: torch.Tensor) -> TokenBags:
        """Return the bags of these rows, in their order."""
        places, offsets = chunk_places(self.offsets.numpy(), rows)
        return TokenBags(self.ids[torch.from_numpy(places)], torch.from_numpy(offsets))

    def to(self, device: torch.device) -> TokenBags:
        """Return the same bags on a device."""
        return TokenBags(on_device(self.ids, device), on_device(self.offsets, device))


def token_bags(tokenizer: Tokenizer, texts: Sequence[str], *, max_tokens: int) -> TokenBags:
    """Return the texts as bags of at most `max_tokens` ids each, without special tokens."""
    ids = [np.array(text_ids[:max_tokens], dtype=np.int64) for text_ids in token_ids(tokenizer, texts)]
    lengths = np.array([len(text_ids) for text_ids in ids], dtype=np.int64)
    flat = np.concatenate(ids) if ids else np.empty(0, dtype=np.int64)
    return TokenBags(torch.from_numpy(flat), torch.from_numpy(np.concatenate([[0], lengths.cumsum()])))


class StaticEncoder(nn.Module):  # type: ignore[misc]
    """An EmbeddingBag with a learnt weight per token: v(text) = mean over tokens of weight[t] * vectors[t], at unit
    length where the similarity is the cosine.

    Args:
        vectors: (vocabulary, width) float32, the start of the token vectors.
        weights: (vocabulary,) float32, the start of the token weights.
        token_dropout: share of a text's tokens left out in training, 0 to 1.
        similarity: what the vectors are compared by.
    """

    def __init__(
        self,
        vectors: torch.Tensor,
        weights: torch.Tensor,
        *,
        token_dropout: float = 0.0,
        similarity: Similarity = SIMILARITIES["cosine"],
    ):
        super().__init__()
        self.similarity = similarity
        self.vectors = nn.Parameter(vectors.clone())
        self.weights = nn.Parameter(weights.clone())
        self.token_dropout = token_dropout

    @property
    def width(self) -> int:
        """Return the number of components of a vector."""
        return int(self.vectors.shape[1])

    def forward(self, bags: TokenBags) -> torch.Tensor:
        """Return vectors (texts, width); texts without a known token all get the same one."""
        weights = self.weights[bags.ids]  # (tokens,)
        if self.training and self.token_dropout:
            weights = functional.dropout(weights, self.token_dropout)
        summed = functional.embedding_bag(
            bags.ids, self.vectors, bags.offsets, mode="sum", per_sample_weights=weights, include_last_offset=True
        )
        lengths = (bags.offsets[1:] - bags.offsets[:-1]).clamp(min=1).unsqueeze(1)
        return self.similarity.finished(summed / lengths + FLOOR)


def distilled_token_vectors(pieces: torch.Tensor, counts: np.ndarray) -> tuple[torch.Tensor, torch.Tensor]:
    """Return (vectors, weights) distilled from what a transformer says of each piece of a vocabulary by itself.

    The mean over the vocabulary is removed and PCA turns the axes, as model2vec does. The weights are a / (a +
    p(token)) (SIF: Arora et al. 2017, equation 3).

    Args:
        pieces: (vocabulary, width) float32, the mean over each piece with its special tokens.
        counts: (vocabulary,) how often each occurs in the corpus.

    Returns:
        float32 tensors (vocabulary, width) and (vocabulary,).
    """
    centred = pieces - pieces.mean(dim=0)
    _, axes = torch.linalg.eigh(centred.T @ centred)  # ascending
    turned = functional.normalize(centred @ axes.flip(1), dim=1)
    share = torch.from_numpy(np.maximum(counts, 1) / max(counts.sum(), 1)).float()
    return turned, _SIF_A / (_SIF_A + share)


class StaticBiEncoder(BiEncoder):
    """A `StaticEncoder` with its tokenizer, shared by both sides until `part` gives questions a copy to train."""

    encode_batch = 4096

    def __init__(self, tokenizer: Tokenizer, encoder: StaticEncoder, *, trained: bool, max_tokens: int):
        super().__init__()
        self.tokenizer = tokenizer
        self.encoder = encoder
        self.width = encoder.width
        self.similarity = encoder.similarity
        self.max_tokens = max_tokens
        self.encoder.requires_grad_(trained)
        self.own: StaticEncoder | None = None  # of the questions, once they have one

    @property
    def question_encoder(self) -> StaticEncoder:
        """Return what encodes questions."""
        return self.encoder if self.own is None else self.own

    def part(self) -> None:
        if self.own is None:
            self.own = copy.deepcopy(self.encoder)
            self.encoder.requires_grad_(False)

    def question_inputs(self, texts: Sequence[str], progress: Progress = silent) -> TokenBags:
        return token_bags(self.tokenizer, texts, max_tokens=self.max_tokens)

    def article_inputs(self, texts: Sequence[str], progress: Progress = silent) -> TokenBags:
        return token_bags(self.tokenizer, texts, max_tokens=self.max_tokens)

    def questions(self, inputs: TokenBags) -> torch.Tensor:
        return self.question_encoder(inputs)

    def articles(self, inputs: TokenBags) -> torch.Tensor:
        return self.encoder(inputs)

    def parameter_groups(self, *, lr: float, weight_lr: float) -> list[dict[str, Any]]:
        """Return the token vectors and the token weights, each with its learning rate."""
        encoder = self.question_encoder
        if not encoder.vectors.requires_grad:
            return []
        return [{"params": [encoder.vectors], "lr": lr}, {"params": [encoder.weights], "lr": weight_lr}]

    def question_parameter_groups(self, *, lr: float, weight_lr: float) -> list[dict[str, Any]]:
        """Return the same groups: the encoder is shared, or the articles' no longer trains."""
        return self.parameter_groups(lr=lr, weight_lr=weight_lr)

    def save_question_encoder(self, folder: Path) -> None:
        """Write a sentence-transformers folder: StaticEmbedding (weight times vector for each token), Dense, and for
        unit vectors Normalize.

        The Dense is the identity plus the floor that gives a text without tokens a vector.
        """
        from sentence_transformers import SentenceTransformer
        from sentence_transformers.sentence_transformer.modules import Normalize, StaticEmbedding
        from tokenizers import Tokenizer

        quiet_transformers()
        cutting = Tokenizer.from_str(self.tokenizer.to_str())
        cutting.enable_truncation(self.max_tokens)
        encoder = self.question_encoder
        weighted = encoder.vectors.detach() * encoder.weights.detach().unsqueeze(1)
        floor = dense_module(*self.similarity.query_projection(torch.eye(self.width), torch.full((self.width,), FLOOR)))
        modules = [StaticEmbedding(cutting, embedding_weights=weighted.cpu().numpy()), floor]
        modules += [Normalize()] * self.similarity.unit_length
        SentenceTransformer(modules=modules, device="cpu").save(str(folder), create_model_card=False)

    def save_article_encoder(self, folder: Path) -> None:
        """Write token vectors and weights apart, with the tokenizer."""
        folder.mkdir(parents=True, exist_ok=True)
        write_tensors(folder / ARTICLE_WEIGHTS, self.encoder.state_dict())
        self.tokenizer.save(str(folder / TOKENIZER))


def build_static_biencoder(
    backbone: Backbone,
    config: EncoderConfig,
    corpus_texts: Sequence[str],
    source: Backbone | None = None,
) -> StaticBiEncoder:
    """Return the static pair before training: distilled over the corpus's vocabulary, or with the token vectors of a
    sentence-transformers StaticEmbedding folder.

    Args:
        source: the transformer to distil from, in place of the embedded model.
    """
    build = _distilled if source or backbone.name == EMBEDDED_STATIC else _loaded
    tokenizer, vectors, weights = build(source or backbone, corpus_texts)
    encoder = StaticEncoder(
        vectors, weights, token_dropout=config.token_dropout, similarity=similarity_of(config.similarity)
    )
    trained = config.train == "full"
    return StaticBiEncoder(tokenizer, encoder, trained=trained, max_tokens=config.max_tokens)


def _distilled(backbone: Backbone, corpus_texts: Sequence[str]) -> tuple[Tokenizer, torch.Tensor, torch.Tensor]:
    """Return (tokenizer, token vectors, token weights) of this model over the pieces of these texts, from the cache
    where it holds them."""
    from safetensors.torch import load_file
    from tokenizers import Tokenizer

    fingerprint = backbone_fingerprint(backbone)

    def distil(folder: Path) -> None:
        full = _plain_tokenizer(Path(backbone.location) / TOKENIZER)
        tokenizer, piece_ids = pruned_tokenizer(full, used_piece_ids(full, corpus_texts))
        ids = token_bags(tokenizer, corpus_texts, max_tokens=2**20).ids.numpy()
        begin, end = full.encode("").ids
        chunks = [[begin, piece, end] for piece in piece_ids.tolist()]
        tower = Tower(replace(backbone, pooling="mean"), *load_backbone(backbone), torch.device("cpu"), torch.float32)
        read_before = VectorCache(place_of("vectors", f"pieces-{fingerprint}"), np.float32)
        with in_world(SINGLE):  # the other processes wait for what it makes
            pieces = embedded_chunks(tower, chunks, cache=read_before)
        counts = np.bincount(ids, minlength=len(piece_ids))
        vectors, weights = distilled_token_vectors(torch.from_numpy(pieces), counts)
        write_tensors(folder / ARTICLE_WEIGHTS, {"vectors": vectors, "weights": weights})
        tokenizer.save(str(folder / TOKENIZER))

    texts = hashlib.sha256(text_hashes(corpus_texts).tobytes()).hexdigest()
    folder = cached("static", [_DISTILLATION, fingerprint, texts], distil)
    tensors = load_file(folder / ARTICLE_WEIGHTS)
    return Tokenizer.from_file(str(folder / TOKENIZER)), tensors["vectors"], tensors["weights"]


def _loaded(backbone: Backbone, corpus_texts: Sequence[str]) -> tuple[Tokenizer, torch.Tensor, torch.Tensor]:
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    folder = Path(backbone.location)
    for name in (ARTICLE_WEIGHTS, TOKENIZER):
        if not (folder / name).is_file():
            raise ModelError(f"{folder}: holds no {name}; name a sentence-transformers StaticEmbedding folder")
    try:
        vectors = load_file(folder / ARTICLE_WEIGHTS)["embedding.weight"]
    except (SafetensorError, KeyError):
        raise ModelError(
            f"{folder / ARTICLE_WEIGHTS}: holds no 'embedding.weight'; name a sentence-transformers "
            "StaticEmbedding folder"
        ) from None
    return _plain_tokenizer(folder / TOKENIZER), vectors.float(), torch.ones(len(vectors))


def _plain_tokenizer(path: Path) -> Tokenizer:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer
