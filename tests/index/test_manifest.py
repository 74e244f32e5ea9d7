import pytest

from statgraph.config import HnswConfig
from statgraph.errors import RunError
from statgraph.index.equal_length import EqualLength
from statgraph.index.manifest import read_entries

HELD = {"width": 2, "held_width": 3, "length": 1}
SETTINGS = {"links": 8, "build_breadth": 20, "search_breadth": 30}


def test_entries_come_back(tmp_path):
    manifest = {"width": 2, "held": HELD, "settings": SETTINGS}
    assert read_entries(tmp_path, manifest, HnswConfig, held_width=3) == (EqualLength(2, 3, 1), HnswConfig(8, 20, 30))


@pytest.mark.parametrize(
    ("entry", "value"),
    [
        ("held", None),
        ("held", {"width": 2, "held_width": 3}),
        ("held", {**HELD, "width": "2"}),
        ("settings", []),
        ("settings", {**SETTINGS, "links": 8.5}),
    ],
)
def test_damaged_entries_are_refused(tmp_path, entry, value):
    manifest = {"width": 2, "held": HELD, "settings": SETTINGS, entry: value}
    with pytest.raises(RunError) as refused:
        read_entries(tmp_path, manifest, HnswConfig, held_width=3)
    assert str(refused.value) == (
        f"{tmp_path / 'manifest.json'}: damaged ('{entry}' is not as it was written); make the index again with "
        "'statgraph train'"
    )


@pytest.mark.parametrize(("width", "held_width"), [(3, 3), (2, 4)])
def test_entries_of_another_index_are_refused(tmp_path, width, held_width):
    manifest = {"width": width, "held": HELD, "settings": SETTINGS}
    with pytest.raises(RunError, match=rf"vectors of width 2 are held in 3 components, but .* holds {held_width}; "):
        read_entries(tmp_path, manifest, HnswConfig, held_width=held_width)
