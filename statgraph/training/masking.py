"""Masked-language modelling: texts packed into blocks, tokens hidden in them, and the model that predicts these."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from statgraph.errors import ModelError, UsageError

NO_TOKEN = -1  # fills the last block where the texts have ended
_BATCH = 4096
_MASK_NAMES = ("<mask>", "[MASK]")
# Of the tokens to predict (BERT: Devlin et al. 2019, section 3.1); the rest of them stays as it is.
_MASKED_SHARE, _RANDOM_SHARE = 0.8, 0.1


@dataclass(frozen=True)
class TokenBlocks:
    """Texts as blocks of equal length, their pieces numbered among those that occur.

    `ids` (blocks, tokens) int32, `NO_TOKEN` behind the end of the last; `piece_ids` (pieces,) int64, sorted: piece p is
    the tokenizer's `piece_ids[p]`; `special` (pieces,) bool, which are no part of a text; `mask` is the piece that
    hides a token, and `mask_token` what it is called.
    """

    ids: np.ndarray
    piece_ids: np.ndarray
    special: np.ndarray
    mask: int
    mask_token: str

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True)
class MaskedBatch:
    """Blocks with hidden tokens: `ids` (batch, tokens) int32; `places` (hidden,) int64, where in the flattened `ids`
    tokens are to be predicted; `targets` (hidden,) int64, which pieces they are."""

    ids: np.ndarray
    places: np.ndarray
    targets: np.ndarray


def token_blocks(tokenizer, texts: Iterable[str], *, block_tokens: int) -> TokenBlocks:
    """Return the texts one after the other, an end token behind each, cut into blocks of `block_tokens` tokens.

    Blocks run over the ends of texts (FULL-SENTENCES: RoBERTa, Liu et al. 2019, section 4.2), so that none but the last
    is padded. Each begins and ends with the tokenizer's special tokens, which count.

    Args:
        tokenizer: a transformers fast tokenizer.

    Raises:
        UsageError: if a block has no room for text beside the special tokens.
        ModelError: if the tokenizer has neither a mask token nor an unknown one.
    """
    plain = tokenizer.backend_tokenizer
    plain.no_truncation()
    plain.no_padding()
    around = plain.encode("").ids
    begin, end = around[: len(around) // 2], around[len(around) // 2 :]
    room = block_tokens - len(around)
    if room < 1:
        raise UsageError(
            f"pretrain.max_tokens: {block_tokens} leaves no room for text beside the special tokens; "
            f"use {len(around) + 1} or more"
        )
    stream = _stream(plain, list(texts), end)
    n_blocks = max(1, -(-len(stream) // room))
    ids = np.full((n_blocks, block_tokens), NO_TOKEN, dtype=np.int32)
    for row in range(n_blocks):
        block = np.concatenate([begin, stream[row * room : (row + 1) * room], end])
        ids[row, : len(block)] = block
    mask_token, mask_id = _mask_piece(tokenizer)
    piece_ids = np.union1d(ids[ids != NO_TOKEN], [mask_id]).astype(np.int64)
    numbered = np.searchsorted(piece_ids, ids).astype(np.int32)
    return TokenBlocks(
        ids=np.where(ids == NO_TOKEN, np.int32(NO_TOKEN), numbered),
        piece_ids=piece_ids,
        special=np.isin(piece_ids, [*tokenizer.all_special_ids, *around, mask_id]),
        mask=int(np.searchsorted(piece_ids, mask_id)),
        mask_token=mask_token,
    )


def masked_batch(blocks: TokenBlocks, rows: np.ndarray, rng: np.random.Generator, *, share: float) -> MaskedBatch:
    """Return these blocks with a share of their tokens to be predicted, one at least, special tokens never.

    Of those, 80 % are masked, 10 % become another piece of the texts, and 10 % stay.
    """
    original = blocks.ids[rows]  # (batch, tokens)
    text = np.flatnonzero((original != NO_TOKEN) & ~blocks.special[original])
    places = rng.permutation(text)[: max(1, round(share * len(text)))]
    n_masked, n_random = round(_MASKED_SHARE * len(places)), round(_RANDOM_SHARE * len(places))
    ids = original.copy()
    flat = ids.reshape(-1)
    flat[places[:n_masked]] = blocks.mask
    others = np.flatnonzero(~blocks.special)
    flat[places[n_masked : n_masked + n_random]] = rng.choice(others, size=n_random) if n_random else 0
    return MaskedBatch(ids, places, original.reshape(-1)[places].astype(np.int64))


class MaskedLanguageModel(nn.Module):
    """A transformers model with a masked-language head, reduced to the pieces of one corpus.

    The other pieces occur neither in the input nor as a target, so their embeddings do not train, and the softmax, the
    gradients and the optimizer's moments do without them: E5 has 250,000 pieces, of which a corpus uses a tenth.

    Args:
        model: the model, which is changed in place.
        piece_ids: (pieces,) int64, the corpus's pieces as the model numbers them.
    """

    def __init__(self, model, piece_ids: np.ndarray):
        super().__init__()
        self.model = model
        self._piece_ids = torch.from_numpy(piece_ids)
        self._all_pieces = self._pieces.detach().clone()  # (vocabulary, width)
        with torch.no_grad():
            for table in {self._pieces, *model.get_output_embeddings().parameters()}:  # one and the same where tied
                table[: len(piece_ids)] = table[self._piece_ids]
        model.resize_token_embeddings(len(piece_ids))

    def forward(self, ids: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
        """Return logits (hidden, pieces) at `places` (hidden,) of the flattened `ids` (batch, tokens)."""

        def keep_hidden(encoder, arguments, output) -> None:
            output.last_hidden_state = output.last_hidden_state.flatten(0, 1)[places]  # (hidden, width)

        present = ids != NO_TOKEN
        # By their vectors, since families number positions by the padding piece, which has another number here.
        embedded = functional.embedding(ids.clamp(min=0), self._pieces)  # (batch, tokens, width)
        hook = self.model.base_model.register_forward_hook(keep_hidden)
        try:
            return self.model(inputs_embeds=embedded, attention_mask=present.long()).logits
        finally:
            hook.remove()

    def trained_state(self) -> dict[str, torch.Tensor]:
        """Return what training changes, by name."""
        return dict(self.named_parameters())

    def load_trained_state(self, state: dict[str, torch.Tensor]) -> None:
        """Put back what `trained_state` returned."""
        self.load_state_dict(state, strict=False)

    def trained_encoder(self):
        """Return the encoder, on the CPU, with all of its pieces again, the corpus's among them as trained."""
        self.model.cpu()
        self._all_pieces[self._piece_ids] = self._pieces.detach()
        self.model.resize_token_embeddings(len(self._all_pieces), mean_resizing=False)
        with torch.no_grad():
            self._pieces.copy_(self._all_pieces)
        return self.model.base_model

    @property
    def _pieces(self) -> nn.Parameter:
        return self.model.get_input_embeddings().weight


def _stream(plain, texts: list[str], end: Sequence[int]) -> np.ndarray:
    """Return the token ids of all texts, (tokens,) int32, the end tokens behind each but the last."""
    parts: list[np.ndarray] = []
    for start in range(0, len(texts), _BATCH):
        for encoding in plain.encode_batch_fast(texts[start : start + _BATCH], add_special_tokens=False):
            parts += [np.array(encoding.ids, dtype=np.int32), np.array(end, dtype=np.int32)]
    return np.concatenate(parts[:-1]) if parts else np.empty(0, dtype=np.int32)


def _mask_piece(tokenizer) -> tuple[str, int]:
    """Return (token, id) of what hides a token: the mask token, else a piece of that name, else the unknown token."""
    names = (tokenizer.mask_token, *_MASK_NAMES, tokenizer.unk_token)
    for name in names:
        number = tokenizer.backend_tokenizer.token_to_id(name) if name else None
        if number is not None:
            return name, number
    raise ModelError(
        f"{tokenizer.name_or_path}: the tokenizer has neither a mask token nor an unknown one; name another backbone"
    )
