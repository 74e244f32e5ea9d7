"""The text vectors of all of the graph's nodes, as the text encoders stood when they were last made."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch

from statgraph.distributed import SINGLE, World
from statgraph.encoders.biencoder import BiEncoder, Inputs, encoded
from statgraph.graph.relations import ARTICLE, HEADING, NODE_TYPES, QUESTION


@dataclass(frozen=True)
class GraphTexts:
    """The prepared inputs of the graph's nodes, by row of their type; questions are the training questions."""

    articles: Inputs
    headings: Inputs
    questions: Inputs


class NodeBank:
    """Text vectors of the nodes, which stage 2 looks a block's outer nodes up in.

    Args:
        encoders: the text encoders.
        texts: the inputs of every node.
        world: the processes that encode, each its share.

    Attributes:
        nodes: (nodes, width) on the device, types one after the other in the order of `NODE_TYPES`.
    """

    def __init__(self, encoders: BiEncoder, texts: GraphTexts, *, device: torch.device, world: World = SINGLE):
        self._encoders = encoders
        self._texts = texts
        self._device = device
        self._world = world
        self.renew()

    def __getitem__(self, node_type: str) -> torch.Tensor:
        """Return the vectors of a type's nodes, (nodes of the type, width)."""
        return self._by_type[node_type]

    def renew(self) -> None:
        """Encode all nodes as the encoders stand, without dropout."""
        was_training = self._encoders.training
        self._encoders.eval()
        encode_of = {
            ARTICLE: (self._encoders.articles, self._texts.articles),
            HEADING: (self._encoders.articles, self._texts.headings),
            QUESTION: (self._encoders.questions, self._texts.questions),
        }
        vectors = [self.encoded(*encode_of[node_type]) for node_type in NODE_TYPES]
        self._encoders.train(was_training)
        self.nodes = torch.cat(vectors)
        self._by_type = dict(zip(NODE_TYPES, self.nodes.split([len(part) for part in vectors]), strict=True))

    def encoded(self, encode: Callable[[Inputs], torch.Tensor], inputs: Inputs) -> torch.Tensor:
        """Return vectors of inputs (inputs, width) on the device, without gradients."""
        vectors = encoded(encode, inputs, batch=self._encoders.encode_batch, device=self._device, world=self._world)
        return torch.from_numpy(vectors.reshape(-1, self._encoders.width)).to(self._device)
