import pytest

from statgraph.errors import UsageError
from statgraph.plotting.depths import depths_drawing
from statgraph.plotting.writing import write_drawings


def test_a_page_and_a_picture_each(two_codes, tmp_path):
    paths = write_drawings([depths_drawing(two_codes)], tmp_path / "new" / "plots", stem="corpus", heading="Two")
    assert [path.name for path in paths] == ["corpus.html", "corpus-depths.png"]
    assert sorted(path.name for path in (tmp_path / "new" / "plots").iterdir()) == ["corpus-depths.png", "corpus.html"]
    assert paths[1].read_bytes().startswith(b"\x89PNG")
    again = write_drawings([depths_drawing(two_codes)], tmp_path / "again", stem="corpus", heading="Two")
    assert [path.read_bytes() for path in again] == [path.read_bytes() for path in paths]


def test_a_file_is_no_folder(two_codes, tmp_path):
    (tmp_path / "plots").write_text("mine")
    with pytest.raises(UsageError, match="plots: is a file; name a folder for the pictures"):
        write_drawings([depths_drawing(two_codes)], tmp_path / "plots", stem="corpus", heading="Two")
    assert (tmp_path / "plots").read_text() == "mine"
