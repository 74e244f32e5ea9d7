import os

import numpy as np
import pytest

from statgraph import artifacts
from statgraph.errors import EngineError, RunError
from statgraph.retrieval.index.article_index import ArticleIndex
from statgraph.retrieval.index.engines.contract import Columns, State
from statgraph.retrieval.index.engines.faiss_engine import FaissEngine

STATE = State("a" * 64, "1" * 64)


def columns_of(n_articles: int) -> Columns:
    return Columns([("Rent Code",)] * n_articles, np.tile(np.array([0, 2**31 - 1], dtype=np.int32), (n_articles, 1)))


def test_a_state_is_a_folder_with_an_index_as_a_run_has_it(tmp_path, compass):
    FaissEngine.create(str(tmp_path), STATE).write("ENWSX", [(0, compass)], columns_of(5))
    folder = tmp_path / STATE.key
    assert ArticleIndex.load(folder / "index", device="cpu").article_ids == tuple("ENWSX")
    assert artifacts.read_json(folder / "paths.json") == {"paths": [["Rent Code"]]}
    (folder / "columns.npy").unlink()
    with pytest.raises(RunError, match=r"columns\.npy"):
        FaissEngine.open(str(tmp_path), STATE)


def test_a_state_stays_though_the_clock_was_put_back(tmp_path, compass):
    states = [State("a" * 64, digit * 64) for digit in "123"]
    for state in states:
        FaissEngine.create(str(tmp_path), state).write("ENWSX", [(0, compass)], columns_of(5))
        if state is not states[2]:
            os.utime(tmp_path / state.key, (4e9, 4e9))
    assert FaissEngine.open(str(tmp_path), states[2]).width == 2


@pytest.mark.parametrize("make", [FaissEngine.create, FaissEngine.open])
def test_object_storage_is_another_engine_s(make):
    with pytest.raises(EngineError, match="engine lance"):
        make("s3://law/fr", STATE)
