from dataclasses import replace

import numpy as np
import pytest

from statgraph.encoders.article_text import text_hashes
from statgraph.errors import RunError
from statgraph.graph.gnn.graph_inputs import GraphInputs, read_graph_inputs, write_graph_inputs
from statgraph.law.records import CitingText, Question

TEXTS = {"article": ["a", "b"], "heading": ["Code"], "question": ["why\u2028so?"]}


def inputs_of(texts: dict[str, list[str]]) -> GraphInputs:
    vectors = {
        node_type: np.arange(3 * len(of_type), dtype=np.float32).reshape(-1, 3) for node_type, of_type in texts.items()
    }
    questions = tuple(Question(f"q{row}", text, "train", ("L1",)) for row, text in enumerate(texts["question"]))
    return GraphInputs(vectors, {name: text_hashes(of_type) for name, of_type in texts.items()}, questions)


def test_they_come_back_as_they_were(tmp_path):
    inputs = inputs_of(TEXTS)
    write_graph_inputs(inputs, tmp_path / "kept")
    read = read_graph_inputs(tmp_path / "kept")
    assert read.width == 3
    assert isinstance(read.vectors["article"], np.memmap)
    assert read.vectors["article"].tolist() == [[0, 1, 2], [3, 4, 5]]
    assert all((read.hashes[node_type] == inputs.hashes[node_type]).all() for node_type in TEXTS)
    assert read.questions == (Question("q0", "why\u2028so?", "train", ("L1",)),)


def test_citing_texts_come_back_without_their_questions(tmp_path):
    texts = TEXTS | {"citing": ["Guide\nLamps."]}
    inputs = replace(inputs_of(texts), citing=(CitingText("c1", "Guide", "Lamps.", ("L1",), "q0", "section"),))
    write_graph_inputs(inputs, tmp_path / "kept")
    read = read_graph_inputs(tmp_path / "kept")
    assert read.citing == (CitingText("c1", "Guide", "Lamps.", ("L1",)),)
    assert list(read.vectors) == ["article", "heading", "question", "citing"]
    assert read.vectors["citing"].tolist() == [[0, 1, 2]]
    (tmp_path / "kept" / "citing.jsonl").unlink()
    with pytest.raises(RunError, match=r"citing\.jsonl: .*; train the run again"):
        read_graph_inputs(tmp_path / "kept")


def test_a_type_without_nodes_has_arrays_without_rows(tmp_path):
    inputs = inputs_of(TEXTS | {"question": []})
    inputs.vectors["question"] = np.empty((0, 0), dtype=np.float32)
    write_graph_inputs(inputs, tmp_path / "kept")
    read = read_graph_inputs(tmp_path / "kept")
    assert (read.vectors["question"].shape, read.questions) == ((0, 3), ())


@pytest.mark.parametrize(
    ("name", "content"),
    [("article.npy", b"\x93NUMPY"), ("heading.hashes.npy", b""), ("questions.jsonl", b"[1"), ("manifest.json", b"{}")],
)
def test_a_damaged_file_is_named(tmp_path, name, content):
    write_graph_inputs(inputs_of(TEXTS), tmp_path)
    (tmp_path / name).write_bytes(content)
    with pytest.raises(RunError, match=f"{name}: .*; train the run again"):
        read_graph_inputs(tmp_path)


def test_a_missing_folder_and_an_array_of_another_shape_are_refused(tmp_path):
    with pytest.raises(RunError, match=r"kept: missing.*; train the run again"):
        read_graph_inputs(tmp_path / "kept")
    write_graph_inputs(inputs_of(TEXTS), tmp_path)
    np.save(tmp_path / "heading.npy", np.zeros((2, 3), dtype=np.float32))
    with pytest.raises(RunError, match=r"heading\.npy: .*\(2, 3\).*\(1, 3\)"):
        read_graph_inputs(tmp_path)
