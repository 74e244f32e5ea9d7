"""What any ONNX graph of a query encoder is made of: operators one after another, and the model that they end in.

Two kinds are written. The portable one (`portable_graph.py`, for `statgraph export`) has standard operators and its
weights with it, so that every ONNX runtime takes it. The fused one (`fused_operators.py`, for the run itself) has ONNX
Runtime's own operators over the weights that the run has already: quicker, and of no use anywhere else.
"""

from __future__ import annotations

from collections.abc import Sequence

# The oldest set that has LayerNormalization, and the format of its time, so that runtimes of some years ago read it.
OPERATOR_SET, FORMAT_VERSION = 17, 8


class OnnxOperators:
    """Collects operators; each is named by what it gives."""

    def __init__(self):
        self._nodes: list = []

    def add(self, operator: str, *inputs: str, domain: str = "", **attributes: object) -> str:
        """Return the name of what an operator gives of its inputs. `domain` is blank for the standard's own."""
        from onnx import helper

        name = f"{operator.lower()}_{len(self._nodes)}"
        self._nodes.append(helper.make_node(operator, list(inputs), [name], name=name, domain=domain, **attributes))
        return name

    def split(self, tensor: str, parts: int) -> list[str]:
        """Return the names of a tensor's parts, equally many columns each."""
        from onnx import helper

        names = [f"split_{len(self._nodes)}_{part}" for part in range(parts)]
        self._nodes.append(helper.make_node("Split", [tensor], names, name=f"split_{len(self._nodes)}", axis=-1))
        return names

    def model_of(
        self, vectors: str, *, inputs: Sequence, output: object, weights: Sequence, domains: Sequence[str] = ()
    ):
        """Return the `onnx.ModelProto` that gives `vectors` under the name of its output.

        Args:
            vectors: the name of what an operator gives.
            inputs: `onnx.ValueInfoProto`, each.
            output: `onnx.ValueInfoProto`.
            weights: `onnx.TensorProto`, each.
            domains: of the operators beside the standard's, in their version 1.
        """
        from onnx import helper

        from statgraph import __version__

        self._nodes.append(helper.make_node("Identity", [vectors], [output.name]))
        return helper.make_model(
            helper.make_graph(self._nodes, "query_encoder", list(inputs), [output], list(weights)),
            opset_imports=[
                helper.make_opsetid("", OPERATOR_SET),
                *(helper.make_opsetid(domain, 1) for domain in domains),
            ],
            ir_version=FORMAT_VERSION,
            producer_name="statgraph",
            producer_version=__version__,
        )
