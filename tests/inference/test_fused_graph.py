import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from statgraph.errors import ModelError
from statgraph.inference.encoder_outline import encoder_outline
from statgraph.inference.fused_graph import fused_bert
from statgraph.inference.fused_operators import LENGTHS, TOKEN_IDS

onnx = pytest.importorskip("onnx")


@pytest.mark.parametrize("pooling", ["mean", "cls"])
def test_the_graph_points_to_the_weights_and_holds_none(save_bert, pooling):
    folder = save_bert(pooling)
    model = fused_bert(encoder_outline(folder), folder)
    assert [value.name for value in model.graph.input] == [TOKEN_IDS, LENGTHS]
    outside = {tensor.name: tensor for tensor in model.graph.initializer if tensor.external_data}
    inside = [tensor for tensor in model.graph.initializer if not tensor.external_data]
    assert sum(len(tensor.raw_data) for tensor in inside) < 100  # axes and the like
    # 5 of the embeddings, 16 of each of 3 layers, 2 of the linear map.
    assert len(outside) == 5 + 3 * 16 + 2
    weights = load_file(folder / "2_Dense" / "model.safetensors")
    about = {entry.key: entry.value for entry in outside["dense.linear.weight"].external_data}
    assert about["location"] == "2_Dense/model.safetensors"
    found = np.memmap(folder / about["location"], np.float32, "r", int(about["offset"]), (32, 32))
    np.testing.assert_array_equal(found, weights["linear.weight"])


def test_a_missing_weight_is_refused(save_bert):
    folder = save_bert("mean")
    path = folder / "model.safetensors"
    weights = load_file(path)
    del weights["encoder.layer.2.output.dense.bias"]
    save_file(weights, path)
    with pytest.raises(ModelError) as refused:
        fused_bert(encoder_outline(folder), folder)
    assert str(refused.value) == (
        f"{folder}: no weight 'encoder.layer.2.output.dense.bias', which a BERT has; train the run again"
    )


def test_a_weight_of_another_type_is_refused(save_bert):
    folder = save_bert("mean")
    path = folder / "model.safetensors"
    save_file({name: array.astype(np.float16) for name, array in load_file(path).items()}, path)
    with pytest.raises(ModelError) as refused:
        fused_bert(encoder_outline(folder), folder)
    assert str(refused.value) == (f"{path}: 'embeddings.word_embeddings.weight' is F16; only F32 goes into a graph")
