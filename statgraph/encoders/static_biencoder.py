"""The static pair: one bag-of-vectors encoder for questions and articles, and what it keeps on disk."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import torch

from statgraph.artifacts import replaced_file, write_tensors
from statgraph.cache import place_of
from statgraph.config import EncoderConfig
from statgraph.distributed import current_world
from statgraph.encoders.backbones import EMBEDDED_STATIC, Backbone, backbone_fingerprint, check_sharing
from statgraph.encoders.biencoder import BiEncoder, dense_module
from statgraph.encoders.loading import load_backbone, quiet_transformers
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

    def __init__(self, tokenizer, encoder: StaticEncoder, *, trained: bool, max_tokens: int):
        super().__init__()
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
        with current_world().first_goes_first():
            return cached_token_bags(self.tokenizer, texts, max_tokens=self.max_tokens)

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
    return StaticBiEncoder(tokenizer, encoder, trained=trained, max_tokens=config.max_tokens)


def _distilled(backbone: Backbone, corpus_texts: Sequence[str]):
    """Return (tokenizer, token vectors, token weights) of this model over the pieces of these texts, from the cache
    where it holds them."""
    from tokenizers import Tokenizer

    def distil() -> tuple[dict[str, torch.Tensor], dict[str, str]]:
        full = _plain_tokenizer(Path(backbone.location) / TOKENIZER)
        tokenizer, piece_ids = pruned_tokenizer(full, used_piece_ids(full, corpus_texts))
        ids = token_bags(tokenizer, corpus_texts, max_tokens=2**20).ids.numpy()
        _, model = load_backbone(backbone)
        counts = np.bincount(ids, minlength=len(piece_ids))
        vectors, weights = distilled_token_vectors(model, full, piece_ids, counts=counts)
        return {"vectors": vectors.contiguous(), "weights": weights}, {_TOKENIZER: tokenizer.to_str()}

    digest = hashlib.sha256(f"{_DISTILLATION} {backbone_fingerprint(backbone)} ".encode())
    digest.update(_texts_digest(corpus_texts))
    tensors, notes = _kept_tensors("static", digest.hexdigest()[:24], distil)
    return Tokenizer.from_str(notes[_TOKENIZER]), tensors["vectors"], tensors["weights"]


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
MIN_CACHED_TEXTS = 1000  # fewer are tokenised sooner than they are looked up


def cached_token_bags(tokenizer, texts: Sequence[str], *, max_tokens: int) -> TokenBags:
    """Return `token_bags(...)`, from the cache where the same texts were tokenised before."""
    if len(texts) < MIN_CACHED_TEXTS:
        return token_bags(tokenizer, texts, max_tokens=max_tokens)

    def tokenise() -> tuple[dict[str, torch.Tensor], dict[str, str]]:
        bags = token_bags(tokenizer, texts, max_tokens=max_tokens)
        return {"ids": bags.ids.int(), "offsets": bags.offsets}, {}

    digest = hashlib.sha256(f"{max_tokens} {tokenizer.to_str()}".encode("utf-8", "surrogatepass"))
    digest.update(_texts_digest(texts))
    tensors, _ = _kept_tensors("bags", digest.hexdigest()[:24], tokenise)
    return TokenBags(tensors["ids"].long(), tensors["offsets"])


def _texts_digest(texts: Sequence[str]) -> bytes:
    """Return the SHA-256 of texts in their order."""
    digest = hashlib.sha256()
    for text in texts:
        encoded = text.encode("utf-8", "surrogatepass")
        digest.update(len(encoded).to_bytes(8, "little"))
        digest.update(encoded)
    return digest.digest()


def _kept_tensors(
    kind: str, name: str, make: Callable[[], tuple[dict[str, torch.Tensor], dict[str, str]]]
) -> tuple[Mapping[str, torch.Tensor], Mapping[str, str]]:
    """Return (tensors, notes) by name from the file `<cache>/<kind>/<name>.safetensors`, which is made where it is
    missing or damaged."""
    from safetensors import SafetensorError, safe_open
    from safetensors.torch import save_file

    path = place_of(kind, f"{name}.safetensors")
    try:
        with safe_open(path, framework="pt") as file:
            return {key: file.get_tensor(key) for key in file.keys()}, file.metadata() or {}  # noqa: SIM118
    except (OSError, SafetensorError):
        tensors, notes = make()
    with replaced_file(path) as staging:
        save_file(tensors, staging, metadata=notes)
    return tensors, notes
