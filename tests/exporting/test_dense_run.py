import shutil

import pytest

from statgraph.errors import RunError
from statgraph.exporting.dense_run import DenseRun


def test_a_run_without_vectors_is_refused(bm25_run):
    with pytest.raises(RunError, match="graphml"):
        DenseRun.open(bm25_run)


def test_a_lost_encoder_is_told(dense_run):
    shutil.rmtree(dense_run / "query_encoder")
    with pytest.raises(RunError, match=r"no query encoder \(modules.json is missing\); train the run again"):
        DenseRun.open(dense_run)


def test_the_card_is_the_encoders_with_more_at_its_end(dense_run):
    card = DenseRun.open(dense_run).card("## More\n")
    assert "The query encoder of a retriever" in card
    assert "library_name: sentence-transformers\n" in card
    assert card.endswith("\n\n## More\n")
