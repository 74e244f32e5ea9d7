"""A run in a folder of its own, and as a repository of the hub, whose client is replaced by one that keeps what it is
given in a folder."""

import os
import shutil
from dataclasses import replace
from types import SimpleNamespace

import huggingface_hub
import pytest
from huggingface_hub import CommitOperationDelete

from statgraph import Retriever, export, train
from statgraph.config import EnsembleConfig, RunConfig
from statgraph.contrib.exports.run_copies import push_run
from statgraph.errors import RunError, UsageError
from statgraph.runs.run import RunFolder


@pytest.mark.parametrize("system", ["dense", "bm25"])
def test_the_folder_answers_without_the_run(request, system, tmp_path):
    run, out = request.getfixturevalue(f"{system}_run"), tmp_path / "elsewhere" / "run"
    (run / "feedback.jsonl").write_text("what readers asked")
    os.link(run / "articles.jsonl", tmp_path / "also-in-the-cache")
    here = Retriever.load(run, device="cpu").search("deposit")
    about = export(run, "folder", out).about
    files = [path for path in out.rglob("*") if path.is_file()]
    assert about == f"what {run} needs to answer ({sum(path.stat().st_size for path in files) / 1e6:.1f} MB)"
    assert {path.stat().st_nlink for path in files} == {1}
    assert not (out / "feedback.jsonl").exists()
    shutil.rmtree(run)
    assert Retriever.load(out, device="cpu").search("deposit") == here


def test_an_ensemble_answers_from_its_folder_too(corpus, tmp_path):
    """One of its signals saves nothing, and its folder is empty."""
    run, out = tmp_path / "run", tmp_path / "out"
    train(corpus, settings=["ensemble.members=none"], out=run)
    export(run, "folder", out)
    for question in ("article 3", "who keeps the deposit"):
        assert Retriever.load(out, device="cpu").search(question) == Retriever.load(run, device="cpu").search(question)


@pytest.fixture
def hub(tmp_path, monkeypatch):
    """Return the hub: `folder` is the one repository, `made` how it was asked to be made."""
    state = SimpleNamespace(folder=tmp_path / "repository", made=[], messages=[])

    class Client:
        def repo_exists(self, name):
            return state.folder.exists()

        def list_repo_files(self, name):
            return [path.relative_to(state.folder).as_posix() for path in state.folder.rglob("*") if path.is_file()]

        def create_repo(self, name, *, private, exist_ok):
            state.made.append((name, private, exist_ok))
            state.folder.mkdir(exist_ok=True)

        def create_commit(self, name, operations, *, commit_message):
            state.messages.append(commit_message)
            for operation in operations:
                path = state.folder / operation.path_in_repo
                if isinstance(operation, CommitOperationDelete):
                    path.unlink()
                    continue
                path.parent.mkdir(parents=True, exist_ok=True)
                with operation.as_file() as file:
                    path.write_bytes(file.read())
            return SimpleNamespace(oid=f"{len(state.messages):040}")

    monkeypatch.setattr(huggingface_hub, "HfApi", Client)
    monkeypatch.setattr(huggingface_hub, "snapshot_download", lambda name, **_: str(state.folder))
    return state


@pytest.mark.parametrize("system", ["dense", "bm25"])
def test_a_run_answers_from_the_hub_as_it_does_here(hub, request, system):
    run = request.getfixturevalue(f"{system}_run")
    address = push_run(run, "court/law")
    assert str(address) == f"hf://court/law@{1:040}"
    assert hub.made == [("court/law", True, True)]
    there, here = (Retriever.load(place, device="cpu").search("deposit") for place in (str(address), run))
    assert there == here
    assert 'Retriever.load("hf://court/law")' in (hub.folder / "README.md").read_text()


def test_what_is_nobodys_business_stays_here(hub, dense_run):
    (dense_run / "feedback.jsonl").write_text("what readers asked")
    (dense_run / "checkpoints").mkdir()
    (dense_run / "checkpoints" / "last.safetensors").write_text("")
    (dense_run / "index" / ".half-written").write_text("")
    (dense_run / "README.md").write_text("# The card\n")
    push_run(dense_run, "hf://court/law", public=True)
    assert hub.made == [("court/law", False, True)]
    names = {path.name for path in hub.folder.rglob("*")}
    assert names.isdisjoint({"feedback.jsonl", "checkpoints", ".half-written"})
    assert (hub.folder / "README.md").read_text().startswith("# The card\n\n## Load it\n")


def test_members_of_an_ensemble_go_along(hub, bm25_run, dense_run):
    config = RunConfig(system="ensemble", retriever="ensemble", ensemble=EnsembleConfig(members=("heads@e5",)))
    replace(RunFolder.read(bm25_run), config=config).write()
    (bm25_run / "members").mkdir()
    (bm25_run / "members" / "heads-e5").symlink_to(dense_run)
    push_run(bm25_run, "court/law")
    assert (hub.folder / "members" / "heads-e5" / "index" / "ids.json").is_file()


def test_a_new_commit_takes_the_place_of_the_old(hub, dense_run, bm25_run):
    push_run(dense_run, "court/law")
    (hub.folder / ".gitattributes").write_text("")
    assert str(push_run(bm25_run, "court/law")).endswith("2")
    assert not (hub.folder / "index" / "index.faiss").exists()
    assert (hub.folder / ".gitattributes").exists()
    assert hub.messages == ["A run of qabisar", "A run of bm25"]


def test_a_repository_of_something_else_is_left_alone(hub, bm25_run):
    hub.folder.mkdir()
    (hub.folder / "pytorch_model.bin").write_text("")
    with pytest.raises(UsageError, match="something other than a run"):
        push_run(bm25_run, "court/law")
    assert [path.name for path in hub.folder.iterdir()] == ["pytorch_model.bin"]


def test_what_the_hub_refuses_is_one_line(hub, bm25_run, monkeypatch):
    monkeypatch.setattr(huggingface_hub.HfApi, "create_commit", lambda *_, **__: 1 / 0)
    with pytest.raises(RunError, match=r"^hf://court/law: the hub refuses the run \(division by zero\)"):
        push_run(bm25_run, "court/law")
    with pytest.raises(UsageError, match="hf://OWNER/NAME"):
        push_run(bm25_run, "law")
