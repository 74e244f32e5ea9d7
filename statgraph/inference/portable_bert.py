"""BERT and RoBERTa in standard ONNX operators, from the weights that transformers saves."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from statgraph.inference.portable_graph import TOKEN_IDS, TOKEN_MASK, PortableGraph

BERTS, ROBERTAS = ("bert",), ("roberta", "xlm-roberta", "camembert")
_HIDDEN = np.float32(-1e9)  # added to the score of a token that the mask hides
# What must be so where a configuration says anything about it.
_PLAIN = {
    "hidden_act": "gelu",
    "position_embedding_type": "absolute",
    "is_decoder": False,
    "add_cross_attention": False,
}


def difficulty(config: Mapping[str, object]) -> str:
    """Return what about a model's configuration cannot be written here, blank where all can."""
    kind = config.get("model_type")
    if kind not in BERTS + ROBERTAS:
        return f"model_type '{kind}'"
    strange = [key for key, value in _PLAIN.items() if config.get(key, value) != value]
    return f"{strange[0]} '{config[strange[0]]}'" if strange else ""


def most_positions(config: Mapping[str, object]) -> int:
    """Return how many tokens the model has positions for."""
    return config["max_position_embeddings"] - _first_position(config)


def add_bert(graph: PortableGraph, weights: Mapping[str, np.ndarray], config: Mapping[str, object]) -> str:
    """Return the last hidden states, (texts, tokens, width) (Devlin et al. 2019; Liu et al. 2019).

    Args:
        graph: gets the operators.
        weights: by the names that transformers gives them, float32.
        config: of the model, one without `difficulty`.
    """
    eps = config["layer_norm_eps"]

    def norm(hidden: str, name: str) -> str:
        scale, bias = (graph.weight(weights[f"{name}.LayerNorm.{part}"]) for part in ("weight", "bias"))
        return graph.add("LayerNormalization", hidden, scale, bias, axis=-1, epsilon=eps)

    def linear(hidden: str, name: str) -> str:
        return graph.linear(hidden, weights[f"{name}.weight"], weights[f"{name}.bias"])

    words = graph.add("Gather", graph.weight(weights["embeddings.word_embeddings.weight"]), TOKEN_IDS)
    hidden = norm(graph.add("Add", words, _places(graph, weights, config)), "embeddings")
    hidden_scores = graph.add("Mul", graph.add("Sub", graph.number(1.0), graph.float_mask()), graph.number(_HIDDEN))
    over_heads = graph.weight(np.array([1, 2], dtype=np.int64))
    hidden_scores = graph.add("Unsqueeze", hidden_scores, over_heads)  # (texts, 1, 1, tokens)
    for layer in range(config["num_hidden_layers"]):
        name = f"encoder.layer.{layer}"
        attended = _attention(graph, hidden, hidden_scores, f"{name}.attention.self", linear, config)
        attended = linear(attended, f"{name}.attention.output.dense")
        hidden = norm(graph.add("Add", attended, hidden), f"{name}.attention.output")
        wide = _gelu(graph, linear(hidden, f"{name}.intermediate.dense"))
        hidden = norm(graph.add("Add", linear(wide, f"{name}.output.dense"), hidden), f"{name}.output")
    return hidden


def _attention(graph: PortableGraph, hidden: str, hidden_scores: str, name: str, linear, config) -> str:
    """Return what the heads gather of `hidden`, (texts, tokens, width)."""
    width, heads = config["hidden_size"], config["num_attention_heads"]
    split = graph.weight(np.array([0, 0, heads, width // heads], dtype=np.int64))

    def of_heads(part: str, order: list[int]) -> str:
        return graph.add("Transpose", graph.add("Reshape", linear(hidden, f"{name}.{part}"), split), perm=order)

    questions = of_heads("query", [0, 2, 1, 3])  # (texts, heads, tokens, width of a head)
    keys, values = of_heads("key", [0, 2, 3, 1]), of_heads("value", [0, 2, 1, 3])
    scale = graph.number((width // heads) ** -0.5)
    scores = graph.add("Mul", graph.add("MatMul", questions, keys), scale)  # (texts, heads, tokens, tokens)
    shares = graph.add("Softmax", graph.add("Add", scores, hidden_scores), axis=-1)
    gathered = graph.add("Transpose", graph.add("MatMul", shares, values), perm=[0, 2, 1, 3])
    return graph.add("Reshape", gathered, graph.weight(np.array([0, 0, width], dtype=np.int64)))


def _places(graph: PortableGraph, weights: Mapping[str, np.ndarray], config: Mapping[str, object]) -> str:
    """Return the vectors of the tokens' positions and of the one token type, (texts, tokens, width).

    A position counts the tokens that the mask shows, so that padding changes nothing on whichever side it stands.
    """
    table = weights["embeddings.position_embeddings.weight"] + weights["embeddings.token_type_embeddings.weight"][0]
    counted = graph.add("CumSum", TOKEN_MASK, graph.weight(np.array(1, dtype=np.int64)))  # from 1
    shift = graph.weight(np.array(_first_position(config) - 1, dtype=np.int64))
    return graph.add("Gather", graph.weight(table), graph.add("Add", counted, shift))


def _first_position(config: Mapping[str, object]) -> int:
    """Return the position of a text's first token: RoBERTa counts on from the number of its padding token."""
    return config["pad_token_id"] + 1 if config["model_type"] in ROBERTAS else 0


def _gelu(graph: PortableGraph, hidden: str) -> str:
    """Return x (1 + erf(x / sqrt 2)) / 2."""
    turned = graph.add("Erf", graph.add("Mul", hidden, graph.number(0.5**0.5)))
    return graph.add("Mul", graph.add("Mul", hidden, graph.add("Add", turned, graph.number(1.0))), graph.number(0.5))
