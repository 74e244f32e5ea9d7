import json
import struct

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from statgraph.inference.encoder_outline import encoder_outline
from statgraph.inference.weight_places import weight_marks, weight_places


def test_places_are_those_of_the_bytes(tmp_path):
    path = tmp_path / "model.safetensors"
    save_file({"a": np.array([1.0, 2.0], dtype=np.float32), "b": np.array([[3.0]], dtype=np.float32)}, path)
    places = weight_places(path)
    assert {name: (about["dtype"], about["shape"]) for name, about in places.items()} == {
        "a": ("F32", [2]),
        "b": ("F32", [1, 1]),
    }
    begin, end = places["a"]["data_offsets"]
    assert struct.unpack("<2f", path.read_bytes()[begin:end]) == (1.0, 2.0)


def test_a_file_that_ends_too_soon_is_refused(tmp_path):
    path = tmp_path / "model.safetensors"
    path.write_bytes(struct.pack("<Q", 100) + b"{}")
    with pytest.raises(ValueError, match=r"^model.safetensors ends within its header$"):
        weight_places(path)


def test_marks_change_with_the_shape_and_not_with_the_values(save_bert):
    folder = save_bert("mean")
    outline, path = encoder_outline(folder), folder / "2_Dense" / "model.safetensors"
    marks = weight_marks(outline, folder)
    assert list(json.loads(marks)) == ["model.safetensors", "2_Dense/model.safetensors"]
    weights = load_file(path)
    save_file({name: 2 * array for name, array in weights.items()}, path)
    assert weight_marks(outline, folder) == marks
    save_file({name: array[:16] for name, array in weights.items()}, path)
    assert weight_marks(outline, folder) != marks
