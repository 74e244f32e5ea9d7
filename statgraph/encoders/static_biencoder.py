"""The static pair: one bag-of-vectors encoder for questions and articles, and what it keeps on disk."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch

from statgraph.artifacts import replaced_file, write_tensors
from statgraph.cache import cache_root
from statgraph.config import EncoderConfig
from statgraph.distributed import SINGLE, World
from statgraph.encoders.backbones import (
    EMBEDDED_STATIC,
    Backbone,
    backbone_fingerprint,
    check_sharing,
)
from statgraph.encoders.biencoder import BiEncoder, dense_module
from statgraph.encoders.loading import load_backbone
from statgraph.encoders.quiet import quiet_transformers
from statgraph.encoders.similarity import Similarity, similarity_of
from statgraph.encoders.static import FLOOR, StaticEncoder, TokenBags, distilled_token_vectors, token_bags
from statgraph.encoders.vocabulary import pruned_tokenizer, used_piece_ids
from statgraph.errors import ModelError
from statgraph.progress import Progress, silent

ARTICLE_WEIGHTS = "model.safetensors"
TOKENIZER = "tokenizer.json"
_DISTILLATION = 1  # counts the ways of distilling: raise it with one that gives other vectors


class StaticBiEncoder(BiEncoder):
    """A `StaticEncoder` with its tokenizer, shared by both sides."""

    encode_batch = 4096

    def __init__(self, tokenizer, encoder: StaticEncoder, *, trained: bool, max_tokens: int, world: World = SINGLE):
        super().__init__()
        self._world = world
        self.tokenizer = tokenizer
        self.encoder = encoder
        self.max_tokens = max_tokens
        self.encoder.requires_grad_(trained)

    @property
    def width(self) -> int:
        """Return the number of components of a vector."""
        return self.encoder.width

    def question_inputs(self, texts: Sequence[str], progress: Progress = silent) -> TokenBags:
        """Return questions as bags of tokens."""
        return token_bags(self.tokenizer, texts, max_tokens=self.max_tokens)

    def article_inputs(self, texts: Sequence[str], progress: Progress = silent) -> TokenBags:
        """Return articles or headings as bags of tokens."""
        with self._world.first_goes_first():
            return cached_token_bags(self.tokenizer, texts, max_tokens=self.max_tokens, folder=cache_root() / "bags")

    @property
    def similarity(self) -> Similarity:
        """Return what the vectors are compared by."""
        return self.encoder.similarity

    def questions(self, inputs: TokenBags) -> torch.Tensor:
        """Return question vectors (texts, width)."""
        return self.encoder(inputs)

    def articles(self, inputs: TokenBags) -> torch.Tensor:
        """Return article vectors (texts, width)."""
        return self.encoder(inputs)

    def parameter_groups(self, *, lr: float, weight_lr: float) -> list[dict]:
        """Return the token vectors and the token weights, each with its learning rate."""
        if not self.encoder.vectors.requires_grad:
            return []
        return [{"params": [self.encoder.vectors], "lr": lr}, {"params": [self.encoder.weights], "lr": weight_lr}]

    def question_parameter_groups(self, *, lr: float, weight_lr: float) -> list[dict]:
        """Return the same groups: the encoder is shared."""
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
        weighted = self.encoder.vectors.detach() * self.encoder.weights.detach().unsqueeze(1)
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
    world: World = SINGLE,
) -> StaticBiEncoder:
    """Return the static pair before training: distilled over the corpus's vocabulary, or with the token vectors of a
    sentence-transformers StaticEmbedding folder.

    Args:
        source: the transformer to distil from, in place of the embedded model.

    Raises:
        UsageError: if `encoder.train` is not none or full.
    """
    check_sharing(config, static=True)
    build = _distilled if source or backbone.name == EMBEDDED_STATIC else _loaded
    tokenizer, vectors, weights = build(source or backbone, corpus_texts)
    encoder = StaticEncoder(
        vectors, weights, token_dropout=config.token_dropout, similarity=similarity_of(config.similarity)
    )
    trained = config.train == "full"
    return StaticBiEncoder(tokenizer, encoder, trained=trained, max_tokens=config.max_tokens, world=world)


def _distilled(backbone: Backbone, corpus_texts: Sequence[str]):
    """Return (tokenizer, token vectors, token weights) of this model over the pieces of these texts, from the cache
    where it holds them."""
    path = cache_root() / "static" / f"{_distillate_name(backbone, corpus_texts)}.safetensors"
    kept = read_distillate(path)
    if kept is not None:
        return kept
    full_tokenizer = _plain_tokenizer(Path(backbone.location) / TOKENIZER)
    tokenizer, piece_ids = pruned_tokenizer(full_tokenizer, used_piece_ids(full_tokenizer, corpus_texts))
    counts = np.bincount(token_bags(tokenizer, corpus_texts, max_tokens=2**20).ids.numpy(), minlength=len(piece_ids))
    _, model = load_backbone(backbone)
    vectors, weights = distilled_token_vectors(model, full_tokenizer, piece_ids, counts=counts)
    write_distillate(path, tokenizer, vectors, weights)
    return tokenizer, vectors, weights


def _distillate_name(backbone: Backbone, corpus_texts: Sequence[str]) -> str:
    digest = hashlib.sha256(f"{_DISTILLATION} {backbone_fingerprint(backbone)} ".encode())
    digest.update(texts_digest(corpus_texts))
    return digest.hexdigest()[:24]


def _loaded(backbone: Backbone, corpus_texts: Sequence[str]):
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


def _plain_tokenizer(path: Path):
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


_TOKENIZER = "tokenizer"
FEWEST_TEXTS = 1000  # fewer are tokenised sooner than they are looked up


def texts_digest(texts: Sequence[str]) -> bytes:
    """Return the SHA-256 of texts in their order."""
    digest = hashlib.sha256()
    for text in texts:
        encoded = text.encode("utf-8", "surrogatepass")
        digest.update(len(encoded).to_bytes(8, "little"))
        digest.update(encoded)
    return digest.digest()


def write_distillate(path: Path, tokenizer, vectors: torch.Tensor, weights: torch.Tensor) -> None:
    """Keep a `tokenizers.Tokenizer` with its token vectors (vocabulary, width) and weights (vocabulary,)."""
    from safetensors.torch import save_file

    state = {"vectors": vectors.contiguous(), "weights": weights.contiguous()}
    with replaced_file(path) as staging:
        save_file(state, staging, metadata={_TOKENIZER: tokenizer.to_str()})


def read_distillate(path: Path):
    """Return (tokenizer, vectors, weights) as `write_distillate` kept them, or None where they are not there whole."""
    from safetensors import SafetensorError, safe_open
    from tokenizers import Tokenizer

    try:
        with safe_open(path, framework="pt") as file:
            tokenizer = Tokenizer.from_str(file.metadata()[_TOKENIZER])
            vectors, weights = file.get_tensor("vectors"), file.get_tensor("weights")
    except (OSError, SafetensorError, KeyError, TypeError):
        return None
    n_pieces = tokenizer.get_vocab_size()
    return (tokenizer, vectors, weights) if len(vectors) == len(weights) == n_pieces else None


def cached_token_bags(tokenizer, texts: Sequence[str], *, max_tokens: int, folder: Path) -> TokenBags:
    """Return `token_bags(...)`, from the folder where these very texts were tokenised so before.

    Args:
        folder: holds a file for each (tokenizer, texts, max_tokens); one that cannot be read is made again.
    """
    from safetensors import SafetensorError
    from safetensors.torch import load_file, save_file

    if len(texts) < FEWEST_TEXTS:
        return token_bags(tokenizer, texts, max_tokens=max_tokens)
    name = hashlib.sha256(f"{max_tokens} {tokenizer.to_str()}".encode("utf-8", "surrogatepass"))
    name.update(texts_digest(texts))
    path = folder / f"{name.hexdigest()[:24]}.safetensors"
    try:
        state = load_file(path)
        bags = TokenBags(state["ids"].long(), state["offsets"])
        if len(bags) == len(texts):
            return bags
    except (OSError, SafetensorError, KeyError):
        pass  # not there, or damaged: made below
    bags = token_bags(tokenizer, texts, max_tokens=max_tokens)
    with replaced_file(path) as staging:
        save_file({"ids": bags.ids.int(), "offsets": bags.offsets}, staging)
    return bags
