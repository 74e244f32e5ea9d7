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


@pytest.mark.parametrize("command", [["search", "Who?"], ["evaluate"], ["index"], ["quicken"]])
def test_a_run_is_needed(refused, command):
    remedy = "train one with 'statgraph train', or name one with --run"
    if command[0] == "search":
        remedy = "train one with 'statgraph train', name one with --run, or search a corpus without a run with --corpus"
    assert refused(*command) == f"runs: holds no finished run; {remedy}"
    missing = "none: no such run folder; train one with 'statgraph train'"
    assert refused(*command, "--run", "none") == missing


@pytest.mark.parametrize("command", [["build-graph"], ["evaluate", "--run", "r", "--corpus"], ["train", "--corpus"]])
def test_a_missing_corpus_is_refused(refused, command, tmp_path):
    missing = "none: no such corpus folder; make one with 'statgraph import' or 'statgraph fetch'"
    assert refused(*command, "none") == missing
    assert list(tmp_path.iterdir()) == []
