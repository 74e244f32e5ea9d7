import pytest

pytest.importorskip("pyarrow", reason="the extra 'parquet' is run in an environment of its own")

from statgraph.corpus.importing import import_corpus
from statgraph.errors import UsageError
from statgraph.exporting.parquet_folder import export_parquet


def test_a_corpus_is_written_whole_and_nothing_is_replaced(corpus, tmp_path):
    export_parquet(corpus, tmp_path / "out")
    assert import_corpus("parquet", tmp_path / "out") == corpus
    with pytest.raises(UsageError, match="exists already"):
        export_parquet(corpus, tmp_path / "out")
