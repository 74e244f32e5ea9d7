"""The text vectors of all of the graph's nodes, as the text encoders last computed them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from statgraph.encoders.biencoder import Inputs
from statgraph.graph.relations import ARTICLE, CITING, HEADING, QUESTION
from statgraph.training.text_model import TextModel


@dataclass(frozen=True)
class GraphTexts:
    """The prepared inputs of the graph's nodes beside the articles, by row: headings, the training questions, and
    citing texts where it has such nodes."""

    headings: Inputs
    questions: Inputs
    citing: Inputs | None = None


class NodeBank:
    """Text vectors of the nodes, in which stage 2 looks up a block's outer nodes.

    Args:
        model: the text encoders and the articles.
        texts: the inputs of all other nodes.

    Attributes:
        nodes: (nodes, width) on the device, types one after the other in the order of `LegalGraph.node_types`.
        is_outdated: whether the encoders have changed since the nodes were encoded.
    """

    def __init__(self, model: TextModel, texts: GraphTexts):
        self._model = model
        self._texts = texts
        self.is_outdated = True
        self.renew()

    def __getitem__(self, node_type: str) -> torch.Tensor:
        """Return the vectors of a type's nodes, (nodes of the type, width)."""
        return self._by_type[node_type]

    @property
    def node_types(self) -> tuple[str, ...]:
        """Return the types of the nodes, in their order."""
        return tuple(self._by_type)

    def renew(self) -> None:
        """Encode all nodes with the current weights, without dropout, where those in the bank are outdated."""
        if not self.is_outdated:
            return
        encoders, device = self._model.encoders, self._model.device
        encode_of = {
            ARTICLE: (encoders.articles, self._model.articles),
            HEADING: (encoders.articles, self._texts.headings),
            QUESTION: (encoders.questions, self._texts.questions),
        }
        if self._texts.citing is not None:
            encode_of[CITING] = encoders.questions, self._texts.citing
        parts = [self._model.encoded(*how).reshape(-1, encoders.width) for how in encode_of.values()]
        vectors = [torch.from_numpy(part).to(device) for part in parts]
        self.nodes = torch.cat(vectors)
        self._by_type = dict(zip(encode_of, self.nodes.split([len(part) for part in vectors]), strict=True))
        self.is_outdated = False


def with_fresh(old: torch.Tensor, nodes: torch.Tensor, fresh: torch.Tensor, fresh_nodes: np.ndarray) -> torch.Tensor:
    """Return the vectors of a block's input nodes (nodes, width), the fresh ones in place of the old where there are.

    Args:
        old: (nodes, width), the vectors of the bank.
        nodes: (nodes,), the rows of the input nodes.
        fresh: (fresh nodes, width), with gradients; not all of them need be among the inputs.
        fresh_nodes: (fresh nodes,), their rows, sorted.
    """
    if np.array_equal(nodes[: len(fresh)].numpy(), fresh_nodes):  # where one process has a whole batch, they come first
        return torch.cat([fresh, old[len(fresh) :]])
    places = np.searchsorted(fresh_nodes, nodes.numpy()).clip(max=len(fresh_nodes) - 1)
    known = np.flatnonzero(fresh_nodes[places] == nodes.numpy())
    own, given = (torch.from_numpy(rows).to(old.device) for rows in (known, places[known]))
    return old.index_copy(0, own, fresh[given].to(old.dtype))
