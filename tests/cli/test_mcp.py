import os
import sys
from pathlib import Path

import pytest

from statgraph.config import RunConfig
from statgraph.law.catalogue import sample_folder
from statgraph.law.store import read_corpus

REPO = Path(__file__).parents[3]


def test_the_example_of_the_docs_asks_the_sample_over_standard_input(
    write_run, doc_example, tmp_path, monkeypatch, capfd
):
    pytest.importorskip("mcp", reason="the command needs the extra 'mcp'")
    (tmp_path / "runs").mkdir()
    write_run(tmp_path / "runs" / "mine", read_corpus(sample_folder()), RunConfig(system="bm25", retriever="bm25"))
    command = tmp_path / "bin" / "statgraph"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{REPO / "cli.py"}" "$@"\n')
    command.chmod(0o755)
    monkeypatch.setenv("PATH", f"{command.parent}:{os.environ['PATH']}")
    monkeypatch.chdir(tmp_path)
    names = doc_example("integrations.md", "Assistants")
    hits = names["found"].structured_content["articles"]
    assert [hit["rank"] for hit in hits] == [1, 2, 3, 4, 5]
    assert (hits[0]["title"], hits[0]["path"][0]) == ("Art. 24, Housing Code", "Housing Code")
    assert capfd.readouterr().out.startswith(f"1 {hits[0]['title']} {hits[0]['passage']}")
    assert names["around"].structured_content["article"]["article_id"] == hits[4]["article_id"]


def test_a_run_that_is_not_there_is_refused_to_assistants(refused):
    pytest.importorskip("mcp")
    assert refused("mcp", "--run", "gone") == "gone: no such run folder; train one with 'statgraph train'"
