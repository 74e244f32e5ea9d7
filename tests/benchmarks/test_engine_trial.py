import numpy as np

from benchmarks.engine_trial import columns_of, conditions, write
from statgraph.index.engines.contract import State
from statgraph.index.engines.faiss_engine import FaissEngine


def test_conditions_are_met_by_the_shares_that_they_name(tmp_path):
    np.save(tmp_path / "drawn.npy", np.eye(8, dtype=np.float32)[np.arange(10_000) % 8])
    assert write(tmp_path, engine="faiss")["disk_mib"] > 0
    reader = FaissEngine.open(str(tmp_path / "faiss"), State("a" * 64, "1" * 64))
    assert [reader.count(where) for where in conditions().values()] == [10_000, 9_000, 1_000, 10]


def test_columns_of_few_articles():
    columns = columns_of(3)
    assert columns.paths == [("Code 0", "Book 0"), ("Code 1", "Book 0"), ("Code 2", "Book 0")]
    assert columns.days.shape == (3, 2)
