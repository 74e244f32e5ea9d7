import sys
from pathlib import Path

import pytest

from statgraph.errors import DependencyError
from statgraph.law.allowed_rows import ANYWHERE, Where
from statgraph.retrieval.index.engines.milvus_engine import MilvusEngine, condition_expression
from tests.engine_fixtures import FIRST, Place
from tests.retrieval.index.engines import test_contract


class MilvusPlace(Place):
    """A file of Milvus Lite."""

    def let_go(self) -> None:
        """Let another process in: only one may be at the file."""
        from milvus_lite.server_manager import server_manager_instance

        server_manager_instance.release_all()


@pytest.fixture
def place(tmp_path: Path) -> MilvusPlace:
    pytest.importorskip("milvus_lite", reason="needs the extras 'milvus' and 'dev'")
    return MilvusPlace("milvus", str(tmp_path / "law.db"), "http://127.0.0.1:9")


class TestMilvus(test_contract.TestEveryEngine):
    """What every engine must do."""


def test_a_package_that_is_missing_is_named_with_its_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pymilvus", None)
    with pytest.raises(DependencyError, match=r"pymilvus.*'.\[engines\]'"):
        MilvusEngine.create(str(tmp_path / "law"), FIRST)


def test_conditions_as_expressions():
    assert condition_expression(ANYWHERE) == ""
    where = Where(('Code "A"', "B"), ("B", "I"), 7, ("x", "y"))
    assert condition_expression(where) == (
        'code in ["Code \\"A\\"", "B"] and path >= "B\x1fI\x1f" and path < "B\x1fI\x20" '
        'and valid_from <= 7 and valid_to > 7 and id in ["x", "y"]'
    )
