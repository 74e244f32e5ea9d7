import pytest

from statgraph.errors import UsageError
from statgraph.exporting.new_path import new_file, new_folder


@pytest.mark.parametrize("new", [new_folder, new_file])
def test_what_is_there_is_left_alone(tmp_path, new):
    (tmp_path / "here").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    for name in ("here", "link"):
        with pytest.raises(UsageError) as refused, new(tmp_path / name):
            pass
        assert str(refused.value) == (
            f"{tmp_path / name}: exists already, and an export replaces nothing; choose another --out"
        )


def half(new, out):
    """Write half of an export, and fail."""
    with new(out) as place:
        (place / "half" if place.is_dir() else place).write_text("half")
        raise OSError("disk full")


def test_whole_or_not_at_all(tmp_path):
    for new in (new_folder, new_file):
        with pytest.raises(OSError, match="disk full"):
            half(new, tmp_path / "a")
    assert list(tmp_path.iterdir()) == []
    with new_folder(tmp_path / "deep" / "a") as folder:
        (folder / "whole").write_text("")
    with new_file(tmp_path / "deep" / "b") as path:
        path.write_text("whole")
    assert sorted(path.name for path in (tmp_path / "deep").iterdir()) == ["a", "b"]
    assert (tmp_path / "deep" / "a" / "whole").is_file()
