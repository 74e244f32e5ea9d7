"""What every pair of encoders offers, so that training and search need not know which kind it is."""

from __future__ import annotations

import shutil
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import torch
from torch import nn

from statgraph.device import training_dtype
from statgraph.distributed import current_world
from statgraph.encoders.loading import quiet_transformers
from statgraph.encoders.similarity import Similarity
from statgraph.progress import Progress, silent

if TYPE_CHECKING:
    from sentence_transformers.sentence_transformer.modules import Dense
    from transformers import PreTrainedModel, PreTrainedTokenizerBase


class Inputs(Protocol):
    """Texts prepared for an encoder, addressed by row."""

    def __len__(self) -> int: ...

    def take(self, rows: torch.Tensor) -> Inputs:
        """Return the inputs of these rows, in their order."""

    def to(self, device: torch.device) -> Inputs:
        """Return the same inputs on a device."""


class BiEncoder(nn.Module, ABC):  # type: ignore[misc]
    """A question encoder and an article encoder into one space, (texts, width) float32, compared by one similarity.

    Preparing (`question_inputs`, `article_inputs`) is done once: tokenising, and for a frozen backbone its vectors.
    """

    width: int
    encode_batch: int
    similarity: Similarity

    @abstractmethod
    def question_inputs(self, texts: Sequence[str], progress: Progress = silent) -> Inputs:
        """Return questions prepared for `questions`."""

    @abstractmethod
    def article_inputs(self, texts: Sequence[str], progress: Progress = silent) -> Inputs:
        """Return articles or headings prepared for `articles`."""

    @abstractmethod
    def questions(self, inputs: Any) -> torch.Tensor:
        """Return question vectors (texts, width) of what `question_inputs` returns."""

    @abstractmethod
    def articles(self, inputs: Any) -> torch.Tensor:
        """Return article vectors (texts, width) of what `article_inputs` returns."""

    @abstractmethod
    def parameter_groups(self, *, lr: float, weight_lr: float) -> list[dict[str, Any]]:
        """Return the optimiser's groups of what this regime trains in both encoders; empty where it trains nothing."""

    @abstractmethod
    def question_parameter_groups(self, *, lr: float, weight_lr: float) -> list[dict[str, Any]]:
        """Return the optimiser's groups of what this regime trains in the question encoder."""

    def part(self) -> None:
        """Give questions an encoder of their own, as it is now, where both sides share one; the articles' stays."""

    @abstractmethod
    def save_question_encoder(self, folder: Path) -> None:
        """Write the question encoder as a plain sentence-transformers folder."""

    @abstractmethod
    def save_article_encoder(self, folder: Path) -> None:
        """Write the article encoder's weights (safetensors) and what it needs to be built again."""

    def trained_state(self) -> dict[str, torch.Tensor]:
        """Return what training can change, by name: a frozen backbone is not in it."""
        trained = {name for name, parameter in self.named_parameters() if parameter.requires_grad}
        return {name: tensor for name, tensor in self.state_dict().items() if name in trained}

    def load_trained_state(self, state: dict[str, torch.Tensor]) -> None:
        """Put back what `trained_state` returned."""
        self.load_state_dict(state, strict=False)


def encoded(
    encode: Callable[[Inputs], torch.Tensor],
    inputs: Inputs,
    *,
    batch: int,
    device: torch.device,
) -> np.ndarray:
    """Return the vectors of all inputs, (texts, width) float32, computed in batches without gradients and in the
    precision of training; each process computes its share of the batches, and all get all vectors."""
    world = current_world()
    starts = np.arange(0, len(inputs), batch)
    if not len(starts):
        return np.empty((0, 0), dtype=np.float32)
    vectors = []
    dtype = training_dtype(device)
    with torch.inference_mode(), torch.autocast(device.type, dtype=dtype, enabled=dtype != torch.float32):
        for start in world.share(starts).tolist():
            rows = torch.arange(start, min(start + batch, len(inputs)))
            vectors.append(encode(inputs.take(rows).to(device)).float().cpu().numpy())
    ends = np.append(starts, len(inputs))
    parts = [world.part(len(starts), rank) for rank in range(world.size)]
    return world.all_rows(np.concatenate(vectors), [int(ends[part.stop] - ends[part.start]) for part in parts])


def save_transformer(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    folder: Path,
    *,
    max_tokens: int,
    pooling: str,
    after: Sequence[nn.Module] = (),
    **options: object,
) -> None:
    """Write a transformers model as a sentence-transformers folder: Transformer, Pooling, and the modules `after` them;
    `options` are those of SentenceTransformer, such as its prompts."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer

    quiet_transformers()
    folder.mkdir(parents=True, exist_ok=True)
    plain = folder / ".backbone"
    model.save_pretrained(plain)
    tokenizer.save_pretrained(plain)
    modules = [Transformer(str(plain), max_seq_length=max_tokens), Pooling(model.config.hidden_size, pooling), *after]
    SentenceTransformer(modules=modules, device="cpu", **options).save(str(folder), create_model_card=False)
    shutil.rmtree(plain)


def dense_module(weight: torch.Tensor, bias: torch.Tensor) -> Dense:
    """Return sentence-transformers' Dense, without activation, for a map (width out, width in), (width out,)."""
    from sentence_transformers.sentence_transformer.modules import Dense

    dense = Dense(weight.shape[1], weight.shape[0], activation_function=torch.nn.Identity())
    dense.linear.load_state_dict({"weight": weight.cpu(), "bias": bias.cpu()})
    return dense
