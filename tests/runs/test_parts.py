from pathlib import Path

import pytest

from statgraph.runs import parts
from statgraph.runs.parts import Part

CONFIG = {"encoder": {"adapted": False}, "stage1": {"negatives": "none", "synthetic": 0}, "stage2": {"synthetic": 1.5}}


def test_a_part_is_a_path_in_a_folder(tmp_path):
    assert tmp_path / Part("a.json") == tmp_path / "a.json"
    assert not Part("a.json").is_in(tmp_path)
    (tmp_path / "a.json.partial").touch()
    assert Part("a.json").is_in(tmp_path)
    assert Path(Part("a.json")) == Path("a.json")


@pytest.mark.parametrize(
    ("part", "settings"),
    [
        (parts.STAGE1, ["encoder", "stage1"]),
        (parts.STAGE2, ["encoder", "augment", "stage1", "graph", "gnn", "stage2"]),
        (parts.SYNTHETIC, ["augment", "bm25.expansion"]),
        (parts.INDEX, []),
    ],
)
def test_a_group_that_is_switched_off_is_not_used(part, settings):
    assert list(part.settings(CONFIG)) == settings
