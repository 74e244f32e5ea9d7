import shutil

import pytest

from statgraph.contrib.exports.source_and_target import dense_run as exportable
from statgraph.contrib.exports.source_and_target import encoder_card, refuse_existing
from statgraph.errors import RunError, UsageError


def test_a_lost_encoder_is_told(dense_run):
    shutil.rmtree(dense_run / "query_encoder")
    with pytest.raises(RunError, match=r"no query encoder \(modules.json is missing\); train the run again"):
        exportable(dense_run)


def test_the_card_is_the_encoders_with_more_at_its_end(dense_run):
    card = encoder_card(exportable(dense_run), "## More\n")
    assert "The query encoder of a retriever" in card
    assert "library_name: sentence-transformers\n" in card
    assert card.endswith("\n\n## More\n")


def test_what_is_there_is_left_alone(tmp_path):
    (tmp_path / "here").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    for name in ("here", "link"):
        with pytest.raises(UsageError, match=f"{name}: exists already"):
            refuse_existing(tmp_path / name)
    refuse_existing(tmp_path / "new")
