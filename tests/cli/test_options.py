from pathlib import Path

import pytest

from statgraph.cli.options import chosen_corpus
from statgraph.errors import CorpusError


def test_a_fetched_corpus_by_its_name(town, town_corpus, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "corpora").mkdir()
    (tmp_path / "corpora" / "town").symlink_to(town)
    assert chosen_corpus(Path("town")).content_hash == town_corpus.content_hash
    (tmp_path / "town").mkdir()  # what is there by that very name comes first
    with pytest.raises(CorpusError):
        chosen_corpus(Path("town"))
