"""A saved BERT query encoder in plain torch: the numbers of transformers' BertModel without importing it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from statgraph.inference.encoder_outline import MODULE_CONFIG, MODULE_WEIGHTS, EncoderOutline, json_object
from statgraph.inference.packed_linear import packed_linear

TOKENS_PER_BATCH = 8192
_TOKENIZERS = ("TokenizersBackend", "PreTrainedTokenizerFast")  # both are what tokenizer.json says, and no more
# What must be so where a configuration says anything about it.
_PLAIN_BERT = {
    "model_type": "bert",
    "hidden_act": "gelu",
    "dtype": "float32",
    "position_embedding_type": "absolute",
    "is_decoder": False,
    "add_cross_attention": False,
}
_PLAIN_TRANSFORMER = {
    "transformer_task": "feature-extraction",
    "modality_config": {"text": {"method": "forward", "method_output_name": "last_hidden_state"}},
    "module_output_name": "token_embeddings",
}


class BertQueryEncoder:
    """BERT (Devlin et al. 2019), pooled, then the linear map, then unit length.

    Questions of any lengths go through it together, token behind token; only the attention pads them.

    Args:
        outline: an encoder that `knows` returns true for.
        dtype: what the layers compute in; the embeddings, the pooling and the last map are float32 always.

    Raises:
        OSError, KeyError, ValueError, SafetensorError: if a file is missing or damaged (tokenizers raises a plain
            Exception).
    """

    def __init__(self, outline: EncoderOutline, dtype):
        from safetensors.torch import load_file

        config = json_object(outline.first / MODULE_CONFIG)
        weights = load_file(outline.first / MODULE_WEIGHTS)  # mapped: only the word vectors that are asked for are read
        self._tokenizer = bert_tokenizer(outline, config)
        self._outline = outline
        self._dtype = dtype
        self._heads, self._eps = config["num_attention_heads"], config["layer_norm_eps"]
        self._words = weights["embeddings.word_embeddings.weight"]
        self._type = weights["embeddings.token_type_embeddings.weight"][0].clone()
        self._positions = weights["embeddings.position_embeddings.weight"].clone()
        self._first_norm = _pair(weights, "embeddings.LayerNorm")
        self._layers = [
            _Layer(weights, f"encoder.layer.{layer}.", dtype) for layer in range(config["num_hidden_layers"])
        ]
        self._dense = None if outline.dense is None else _pair(load_file(outline.dense / MODULE_WEIGHTS), "linear")

    @classmethod
    def knows(cls, outline: EncoderOutline) -> bool:
        """Return whether an outline is that of a plain BERT with a tokenizer that its file alone describes."""
        if outline.kind != "Transformer":
            return False
        config = json_object(outline.first / MODULE_CONFIG)
        settings = json_object(outline.first / "sentence_bert_config.json")
        tokenizer = json_object(outline.first / "tokenizer_config.json")
        return (
            config.get("model_type") == "bert"
            and all(config.get(key, value) == value for key, value in _PLAIN_BERT.items())
            and settings == _PLAIN_TRANSFORMER
            and tokenizer.get("tokenizer_class") in _TOKENIZERS
            and {tokenizer.get("truncation_side"), tokenizer.get("padding_side")} <= {None, "right"}
            and (outline.first / "tokenizer.json").is_file()
            and (outline.first / MODULE_WEIGHTS).is_file()
        )

    def encode(self, questions: Sequence[str]) -> np.ndarray:
        """Return vectors (questions, width) float32."""
        import torch

        encodings = self._tokenizer.encode_batch_fast([self._outline.prompt + question for question in questions])
        ids = [encoding.ids for encoding in encodings]
        vectors: list[np.ndarray] = [np.empty(0, dtype=np.float32)] * len(ids)
        with torch.inference_mode():
            for rows in batches([len(text_ids) for text_ids in ids]):
                batch = self._vectors([ids[row] for row in rows]).numpy()
                for row, vector in zip(rows, batch, strict=True):
                    vectors[row] = vector
        return np.stack(vectors)

    def _vectors(self, ids: Sequence[Sequence[int]]):
        """Return vectors (texts, width) of the token ids of texts, none without a token."""
        import torch
        from torch.nn import functional

        lengths = [len(text_ids) for text_ids in ids]
        tokens = torch.tensor([token for text_ids in ids for token in text_ids], dtype=torch.int64)
        places = torch.cat([self._positions[:length] for length in lengths]) if len(ids) > 1 else self._positions
        hidden = functional.embedding(tokens, self._words) + self._type + places[: len(tokens)]  # (tokens, width)
        hidden = functional.layer_norm(hidden, hidden.shape[-1:], *self._first_norm, self._eps).to(self._dtype)
        padding = _Padding(lengths) if len(set(lengths)) > 1 else None
        for layer in self._layers:
            hidden = layer(hidden, len(ids), padding, self._heads, self._eps)
        texts = hidden.float().split(lengths)
        pooled = [text[0] if self._outline.pooling == "cls" else text.sum(dim=0) / len(text) for text in texts]
        vectors = torch.stack(pooled)
        if self._dense is not None:
            vectors = functional.linear(vectors, *self._dense)
        return functional.normalize(vectors, dim=1) if self._outline.unit_length else vectors


class _Padding:
    """Where the tokens of texts of different lengths stand once the shorter ones are filled up.

    Attributes:
        rows: (texts, longest), the row of each place's token; of a filled place row 0.
        places: (tokens,), the place of each token.
        mask: (texts, 1, 1, longest) bool, whether a place holds a token of its text.
    """

    def __init__(self, lengths: Sequence[int]):
        import torch

        counts = torch.tensor(lengths)[:, None]
        column = torch.arange(max(lengths))
        filled = column < counts  # (texts, longest)
        self.rows = torch.where(filled, counts.cumsum(dim=0) - counts + column, 0)
        self.places = filled.flatten().nonzero()[:, 0]
        self.mask = filled[:, None, None]


class _Layer:
    """One layer: attention and feed-forward, each added to what came in and normalised."""

    def __init__(self, weights: dict, prefix: str, dtype):
        import torch

        def pair(name: str):
            return tuple(tensor.to(dtype) for tensor in _pair(weights, prefix + name))

        parts = [pair(f"attention.self.{part}") for part in ("query", "key", "value")]
        self._question_key_value = packed_linear(*(torch.cat(tensors) for tensors in zip(*parts, strict=True)))
        self._attention_out = packed_linear(*pair("attention.output.dense"))
        self._attention_norm = pair("attention.output.LayerNorm")
        self._widening = packed_linear(*pair("intermediate.dense"), gelu=True)
        self._narrowing = packed_linear(*pair("output.dense"))
        self._norm = pair("output.LayerNorm")

    def __call__(self, hidden, n_texts: int, padding: _Padding | None, n_heads: int, eps: float):
        """Return (tokens, width) from the same; without padding all texts are of one length."""
        from torch.nn import functional

        width = hidden.shape[-1:]
        split = self._question_key_value(hidden)  # (tokens, 3 * width)
        if padding is not None:
            split = split[padding.rows]  # (texts, longest, 3 * width)
        split = split.reshape(n_texts, -1, 3, n_heads, width[0] // n_heads)
        split = split.permute(2, 0, 3, 1, 4)  # (3, texts, heads, longest, width of a head)
        mask = None if padding is None else padding.mask
        attended = functional.scaled_dot_product_attention(*split, attn_mask=mask).transpose(1, 2)
        attended = attended.reshape(-1, width[0])
        if padding is not None:
            attended = attended[padding.places]  # (tokens, width)
        hidden = functional.layer_norm(self._attention_out(attended) + hidden, width, *self._attention_norm, eps)
        return functional.layer_norm(self._narrowing(self._widening(hidden)) + hidden, width, *self._norm, eps)


def _pair(weights: dict, name: str) -> tuple:
    """Return copies of a weight and its bias: those in `weights` are pages of a file that may be replaced."""
    return weights[f"{name}.weight"].clone(), weights[f"{name}.bias"].clone()


def bert_tokenizer(outline: EncoderOutline, config: dict):
    """Return the tokenizer of a BERT that `BertQueryEncoder` knows: it truncates and never pads.

    Args:
        config: the BERT's own.

    Raises:
        Exception: of tokenizers', if its file is damaged.
    """
    from tokenizers import Tokenizer

    about = json_object(outline.first / "tokenizer_config.json")
    tokenizer = Tokenizer.from_file(str(outline.first / "tokenizer.json"))
    tokenizer.no_padding()
    longest = config["max_position_embeddings"]
    tokenizer.enable_truncation(min(about.get("model_max_length", longest), longest))
    return tokenizer


def batches(lengths: Sequence[int], *, most_padding: float = 1.0) -> Iterator[list[int]]:
    """Yield the rows of texts, the shortest first, at most `TOKENS_PER_BATCH` tokens with their padding at a time.

    Args:
        lengths: of the texts, in tokens.
        most_padding: the largest part of a batch's places that may be padding.
    """
    batch: list[int] = []
    n_tokens = 0
    for row in sorted(range(len(lengths)), key=lengths.__getitem__):
        n_places = lengths[row] * (len(batch) + 1)
        n_padding = n_places - n_tokens - lengths[row]
        if batch and (n_places > TOKENS_PER_BATCH or n_padding > most_padding * n_places):
            yield batch
            batch, n_tokens = [], 0
        batch.append(row)
        n_tokens += lengths[row]
    if batch:
        yield batch
