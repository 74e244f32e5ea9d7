"""Masked-language modelling: texts packed into blocks, and a model that predicts their hidden tokens, reduced to the
pieces that occur. The masking itself is transformers' own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import nn
from torch.nn import functional

from statgraph.config import PretrainConfig
from statgraph.device import on_device
from statgraph.encoders.vocabulary import token_ids
from statgraph.errors import ModelError, UsageError

if TYPE_CHECKING:
    from transformers import DataCollatorForLanguageModeling, PreTrainedModel, PreTrainedTokenizerBase
    from transformers.modeling_outputs import BaseModelOutput

NO_PIECE = -1  # fills the last block where the texts have ended
NO_LABEL = -100  # of a token that is not to be predicted, as transformers and torch have it


class TokenBlocks(NamedTuple):
    """Texts as blocks of equal length, their pieces numbered among those that occur.

    `ids` (blocks, tokens) int64, `NO_PIECE` behind the end of the last; `piece_ids` (pieces,) int64, sorted: piece p is
    the tokenizer's `piece_ids[p]`; `tokens` (pieces,) what they are called; `special` (pieces,) bool, which are no part
    of a text; `mask_token` hides a token.
    """

    ids: torch.Tensor
    piece_ids: torch.Tensor
    tokens: Sequence[str]
    special: torch.Tensor
    mask_token: str


def token_blocks(tokenizer: PreTrainedTokenizerBase, texts: Sequence[str], config: PretrainConfig) -> TokenBlocks:
    """Return the texts one after the other, an end token behind each, cut into blocks of `config.max_tokens` tokens.

    Blocks run over the ends of texts (FULL-SENTENCES: RoBERTa, Liu et al. 2019, section 4.2), so that none but the last
    is padded. Each begins and ends with the tokenizer's special tokens, which count.

    Raises:
        UsageError: if a block has no room for text beside the special tokens.
        ModelError: if the tokenizer has neither a mask token nor an unknown one.
    """
    mask_token = tokenizer.mask_token or tokenizer.unk_token
    if mask_token is None:
        raise ModelError(
            f"{tokenizer.name_or_path}: the tokenizer has neither a mask token nor an unknown one; name another "
            "backbone"
        )
    mask_id = tokenizer.convert_tokens_to_ids(mask_token)
    plain = tokenizer.backend_tokenizer
    plain.no_truncation()
    plain.no_padding()
    around = plain.encode("").ids
    begin, end = around[: len(around) // 2], around[len(around) // 2 :]
    room = config.max_tokens - len(around)
    if room < 1:
        raise UsageError(
            f"pretrain.max_tokens: {config.max_tokens} leaves no room for text beside the special tokens; "
            f"use {len(around) + 1} or more"
        )
    parts = []
    for text_ids in token_ids(plain, texts):
        parts += [torch.tensor(text_ids, dtype=torch.int64), torch.tensor(end)]
    stream = torch.cat(parts[:-1])  # (tokens,)
    rows = [torch.cat([torch.tensor(begin), part, torch.tensor(end)]) for part in stream.split(room)]
    ids = nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=NO_PIECE)  # (blocks, tokens)
    piece_ids = torch.cat([ids[ids != NO_PIECE], torch.tensor([mask_id])]).unique()
    special = torch.isin(piece_ids, torch.tensor([*tokenizer.all_special_ids, *around, mask_id]))
    numbered = torch.where(ids == NO_PIECE, NO_PIECE, torch.searchsorted(piece_ids, ids))
    return TokenBlocks(numbered, piece_ids, tokenizer.convert_ids_to_tokens(piece_ids.tolist()), special, mask_token)


def masking_of(blocks: TokenBlocks, share: float) -> DataCollatorForLanguageModeling:
    """Return transformers' collator that hides a share of the tokens, those that it draws at random being pieces of the
    texts too: 80 % become the mask, 10 % another piece, and 10 % stay (BERT: Devlin et al. 2019, section 3.1)."""
    from tokenizers import Tokenizer, models
    from transformers import DataCollatorForLanguageModeling, PreTrainedTokenizerFast

    numbers = {token: number for number, token in enumerate(blocks.tokens)}
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer(models.WordLevel(numbers, unk_token=blocks.mask_token)), mask_token=blocks.mask_token
    )
    return DataCollatorForLanguageModeling(tokenizer, mlm_probability=share)


def cut_to_pieces(model: PreTrainedModel, piece_ids: torch.Tensor) -> None:
    """Reduce a model with a masked-language head to some of its pieces, in place.

    The others occur neither in the input nor as a label, so their embeddings do not train, and the softmax, the
    gradients and the optimiser's moments do without them: E5 has 250,000 pieces, of which a corpus uses a tenth.
    """
    tables = {model.get_input_embeddings().weight, *model.get_output_embeddings().parameters()}  # one where tied
    with torch.no_grad():
        for table in tables:
            table[: len(piece_ids)] = table[piece_ids]
    model.resize_token_embeddings(len(piece_ids))


def put_pieces_back(model: PreTrainedModel, piece_ids: torch.Tensor, whole_table: torch.Tensor) -> None:
    """Give a model all of its pieces again, in place, those of `piece_ids` as trained."""
    whole_table[piece_ids] = model.get_input_embeddings().weight.detach()
    model.resize_token_embeddings(len(whole_table), mean_resizing=False)
    with torch.no_grad():
        model.get_input_embeddings().weight.copy_(whole_table)


def masked_loss(model: PreTrainedModel, ids: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """Return the mean cross-entropy of the labels (batch, tokens) that are not `NO_LABEL`, 0 if there are none; logits
    (labels, pieces) are computed at these alone. Both come on the CPU, which knows how many these are."""
    wanted = (labels.flatten() != NO_LABEL).nonzero().flatten()
    chosen, places, ids = (on_device(each, model.device) for each in (labels.flatten()[wanted], wanted, ids))

    def keep_wanted(encoder: nn.Module, arguments: object, output: BaseModelOutput) -> None:
        output.last_hidden_state = output.last_hidden_state.flatten(0, 1)[places]  # (labels, width)

    # By their vectors, since families number positions by the padding piece, which has another number here.
    embedded = functional.embedding(ids.clamp(min=0), model.get_input_embeddings().weight)  # (batch, tokens, width)
    hook = model.base_model.register_forward_hook(keep_wanted)
    try:
        logits = model(inputs_embeds=embedded, attention_mask=(ids != NO_PIECE).long()).logits
    finally:
        hook.remove()
    losses = functional.cross_entropy(logits.float(), chosen, reduction="sum")
    return losses / max(1, len(wanted))
