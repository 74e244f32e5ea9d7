"""Addresses of the hub, and the local copy of a run there; the client is never asked for more than the tests answer."""

from pathlib import Path

import huggingface_hub
import pytest

from statgraph import Retriever
from statgraph.errors import RunError, UsageError
from statgraph.runs.hub import HubAddress, local_run


@pytest.fixture
def hub(monkeypatch):
    """Return a function that says what the hub's client answers: a folder, or an error; and the calls it gets."""
    calls = []

    def answer(what):
        def snapshot_download(name, **options):
            calls.append((name, options))
            if isinstance(what, Exception):
                raise what
            return str(what)

        monkeypatch.setattr(huggingface_hub, "snapshot_download", snapshot_download)
        return calls

    return answer


def test_a_run_is_loaded_from_the_hub(hub, bm25_run):
    calls = hub(bm25_run)
    assert Retriever.load("hf://court/law@v2").search("deposit", k=1)[0].article_id == "D1"
    # Python files stay behind: a model's own code would be run.
    assert calls == [("court/law", {"revision": "v2", "ignore_patterns": ["*.py"]})]


def test_a_folder_is_itself(hub, tmp_path):
    calls = hub(tmp_path)
    for folder in (tmp_path / "run", str(tmp_path / "run"), "court/law"):
        assert local_run(folder) == Path(folder)
    assert calls == []


def test_what_the_client_cannot_get_is_one_line(hub):
    hub(OSError("no route to host\nand more"))
    with pytest.raises(RunError) as refused:
        local_run("hf://court/law")
    assert str(refused.value).startswith("hf://court/law: cannot be downloaded (no route to host); ")


@pytest.mark.parametrize(
    "text", ["hf://law", "hf://a/b/c", "hf://a/../b", "hf://court/law@", "hf:// court/law", "court/law"]
)
def test_what_is_no_address_is_refused(text):
    with pytest.raises(UsageError, match="hf://OWNER/NAME"):
        HubAddress.of(text)


def test_the_example_of_the_docs_runs_as_it_stands(hub, doc_example, bm25_run, capsys):
    calls = hub(bm25_run)
    doc_example("export.md", "The hub")
    assert calls[0][0] == "court/rent-law"
    assert capsys.readouterr().out.startswith("1 Art. 1 The deposit is returned.\n")
