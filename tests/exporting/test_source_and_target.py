import shutil

import pytest

from statgraph.errors import RunError, UsageError
from statgraph.exporting.source_and_target import dense_run as exportable
from statgraph.exporting.source_and_target import encoder_card, new_file, new_folder


def test_a_run_without_vectors_is_refused(bm25_run):
    with pytest.raises(RunError, match="graphml"):
        exportable(bm25_run)


def test_a_lost_encoder_is_told(dense_run):
    shutil.rmtree(dense_run / "query_encoder")
    with pytest.raises(RunError, match=r"no query encoder \(modules.json is missing\); train the run again"):
        exportable(dense_run)


def test_the_card_is_the_encoders_with_more_at_its_end(dense_run):
    card = encoder_card(exportable(dense_run), "## More\n")
    assert "The query encoder of a retriever" in card
    assert "library_name: sentence-transformers\n" in card
    assert card.endswith("\n\n## More\n")


@pytest.mark.parametrize("new", [new_folder, new_file])
def test_what_is_there_is_left_alone(tmp_path, new):
    (tmp_path / "here").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    for name in ("here", "link"):
        with pytest.raises(UsageError, match=f"{name}: exists already"), new(tmp_path / name):
            pass


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
