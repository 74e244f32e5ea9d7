"""What a static backbone computes of a corpus, kept on disk: its token vectors, and the articles as bags of tokens."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import torch

from statgraph.artifacts import replaced_file
from statgraph.encoders.static import TokenBags, token_bags

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
        pass  # not there, or damaged: made anew below
    bags = token_bags(tokenizer, texts, max_tokens=max_tokens)
    with replaced_file(path) as staging:
        save_file({"ids": bags.ids.int(), "offsets": bags.offsets}, staging)
    return bags
