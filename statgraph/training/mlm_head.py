"""Predicting hidden tokens: an encoder with a head tied to its input embeddings, over the pieces of one corpus."""

from __future__ import annotations

from collections.abc import Set

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from statgraph.training.masking import NO_TOKEN

# The dense layer, layer norm and bias of a checkpoint's own head, by what its family calls them.
_OWN_HEADS = (
    ("cls.predictions.transform.dense", "cls.predictions.transform.LayerNorm", "cls.predictions.bias"),  # BERT
    ("lm_head.dense", "lm_head.layer_norm", "lm_head.bias"),  # RoBERTa, CamemBERT, XLM-R, MPNet
    ("vocab_transform", "vocab_layer_norm", "vocab_projector.bias"),  # DistilBERT
)
_INITIAL_STD = 0.02  # of a new dense layer, as in BERT


class TiedHead(nn.Module):
    """Dense, GELU, layer norm, then the inner product with each piece's embedding, plus a bias a piece (BERT)."""

    def __init__(self, width: int, piece_width: int, n_pieces: int, *, eps: float):
        super().__init__()
        self.dense = nn.Linear(width, piece_width)
        nn.init.normal_(self.dense.weight, std=_INITIAL_STD)
        nn.init.zeros_(self.dense.bias)
        self.norm = nn.LayerNorm(piece_width, eps=eps)
        self.bias = nn.Parameter(torch.zeros(n_pieces))

    def forward(self, hidden: torch.Tensor, pieces: torch.Tensor) -> torch.Tensor:
        """Return logits (tokens, pieces) from hidden states (tokens, width) and embeddings (pieces, piece width)."""
        return functional.linear(self.norm(functional.gelu(self.dense(hidden))), pieces, self.bias)


class MaskedLanguageModel(nn.Module):
    """A transformer encoder under a `TiedHead`, trained on the pieces of one corpus.

    Only these pieces' embeddings train, and the softmax runs over them alone: the others occur neither in the input nor
    as a target. Their embeddings stay in the encoder as they were, so that it still reads words the corpus lacks.

    Args:
        masked_model: transformers' model with a head, of which the encoder and, where it is known, the head are used.
        missing: the names of the weights that its checkpoint lacked; a head among them starts at random.
        piece_ids: (pieces,) int64, the corpus's pieces as the encoder numbers them.
    """

    def __init__(self, masked_model, missing: Set[str], piece_ids: np.ndarray):
        super().__init__()
        self._piece_ids = torch.from_numpy(piece_ids)
        self.encoder = masked_model.base_model
        embeddings = self.encoder.get_input_embeddings()
        embeddings.requires_grad_(False)
        self.pieces = nn.Parameter(embeddings.weight.detach()[self._piece_ids].clone())
        self.head = TiedHead(
            self.encoder.config.hidden_size,
            embeddings.embedding_dim,
            len(piece_ids),
            eps=getattr(self.encoder.config, "layer_norm_eps", 1e-12),
        )
        self._take_head(masked_model, missing)

    def forward(self, ids: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
        """Return logits (hidden, pieces) at `places` (hidden,) of the flattened `ids` (batch, tokens)."""
        present = ids != NO_TOKEN
        embedded = functional.embedding(ids.clamp(min=0), self.pieces)  # (batch, tokens, piece width)
        hidden = self.encoder(inputs_embeds=embedded, attention_mask=present.long()).last_hidden_state
        return self.head(hidden.flatten(0, 1)[places], self.pieces)

    def trained_state(self) -> dict[str, torch.Tensor]:
        """Return what training changes, by name."""
        return {name: parameter for name, parameter in self.named_parameters() if parameter.requires_grad}

    def load_trained_state(self, state: dict[str, torch.Tensor]) -> None:
        """Put back what `trained_state` returned."""
        self.load_state_dict(state, strict=False)

    def trained_encoder(self):
        """Return the encoder, on the CPU, with the trained embeddings in its table."""
        table = self.encoder.get_input_embeddings().weight
        with torch.no_grad():
            table[self._piece_ids.to(table.device)] = self.pieces
        return self.encoder.cpu()

    def _take_head(self, masked_model, missing: Set[str]) -> None:
        """Copy the checkpoint's own head, where it has one and that is tied to the input embeddings."""
        state = masked_model.state_dict()
        for dense, norm, bias in _OWN_HEADS:
            names = (f"{dense}.weight", f"{dense}.bias", f"{norm}.weight", f"{norm}.bias", bias)
            tied = getattr(masked_model.config, "tie_word_embeddings", True)
            if tied and all(name in state and name not in missing for name in names):
                own = [self.head.dense.weight, self.head.dense.bias, self.head.norm.weight, self.head.norm.bias]
                with torch.no_grad():
                    for parameter, name in zip(own, names, strict=False):
                        parameter.copy_(state[name])
                    self.head.bias.copy_(state[bias][self._piece_ids])
                self.head.norm.eps = masked_model.get_submodule(norm).eps
                return
