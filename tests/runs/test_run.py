import dataclasses

import pytest

from statgraph import Retriever, artifacts
from statgraph.errors import RunError
from statgraph.runs.run import FORMAT, Run


def refusal(run) -> str:
    with pytest.raises(RunError) as refused:
        Retriever.load(run, device="cpu")
    return str(refused.value)


def test_a_missing_run_is_refused(tmp_path):
    folder = tmp_path / "none"
    assert refusal(folder) == f"{folder}: no such run folder; train one with 'statgraph train'"


def test_a_folder_that_is_no_run_is_refused(tmp_path):
    assert refusal(tmp_path) == f"{tmp_path}: not a run folder; train one with 'statgraph train --out DIR'"


def test_an_unfinished_run_is_refused(dense_run):
    (dense_run / "manifest.json").rename(dense_run / "config.json")
    assert refusal(dense_run) == (
        f"{dense_run}: an unfinished run; go on with the 'statgraph train' that began it, "
        f"with --out {dense_run} --resume"
    )


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"{", "Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"),
        (b"", "Expecting value: line 1 column 1 (char 0)"),
        (b'{"a": "\xff"}', "'utf-8' codec can't decode byte 0xff in position 7: invalid start byte"),
    ],
)
def test_a_manifest_that_is_no_json_is_refused(dense_run, content, reason):
    path = dense_run / "manifest.json"
    path.write_bytes(content)
    assert refusal(dense_run) == f"{path}: not readable as JSON ({reason}); train the run again"


@pytest.mark.parametrize(
    "content",
    ["[]", "3", "{}", '{"config": {}}', '{"config": [], "corpus": {}}', '{"config": {}, "corpus": {"name": "x"}}'],
)
def test_another_manifest_is_refused(dense_run, content):
    path = dense_run / "manifest.json"
    path.write_text(content)
    assert refusal(dense_run) == f"{path}: not the manifest of a run; name a run folder, or train the run again"


def test_a_setting_of_another_version_is_refused(dense_run):
    path = dense_run / artifacts.MANIFEST
    artifacts.write_json(path, artifacts.read_json(path) | {"config": {"sead": 3}})
    assert refusal(dense_run) == (
        f"{path}: 'sead' is not a setting; did you mean 'seed'? (the run is damaged, or another version's; "
        "train it again)"
    )


def test_what_is_written_comes_back(dense_run):
    run = dataclasses.replace(
        Run.read(dense_run),
        data={"licence": "CC0", "labels": {"dev": 2}},
        backbone_licences={"own": None},
        processes=2,
        steps=({"name": "stage 1", "seconds": 0.5, "peak_mib": 7},),
        versions={"numpy": "2"},
        commit="abc1234",
        updates=({"from": "a", "to": "b"},),
    )
    run.write()
    assert Run.read(dense_run) == run
    assert artifacts.read_json(dense_run / artifacts.MANIFEST)["format"] == FORMAT


def test_a_later_format_is_refused(dense_run):
    path = dense_run / artifacts.MANIFEST
    artifacts.write_json(path, artifacts.read_json(path) | {"format": FORMAT + 1})
    assert "update statgraph" in refusal(dense_run)


def test_the_corpus_of_the_run_is_accepted(dense_run, corpus):
    Run.read(dense_run).check_corpus(corpus)
    assert Run.read(dense_run).corpus.name == "rent"


def test_another_corpus_is_refused(dense_run, corpus):
    with pytest.raises(RunError) as refused:
        Run.read(dense_run).check_corpus(
            dataclasses.replace(corpus, name="valmere", articles=corpus.articles[:2], questions=())
        )
    assert str(refused.value) == (
        f"{dense_run}: trained on corpus 'rent', not on 'valmere'; name its corpus folder with --corpus"
    )


def test_another_state_of_the_corpus_is_refused(dense_run, corpus):
    now = dataclasses.replace(corpus, questions=())
    with pytest.raises(RunError) as refused:
        Run.read(dense_run).check_corpus(now)
    assert str(refused.value) == (
        f"{dense_run}: trained on another state of corpus 'rent' (hash {corpus.content_hash[:12]}, now "
        f"{now.content_hash[:12]}); name the folder as it was with --corpus, or train again"
    )


def test_the_corpus_that_a_run_was_updated_to_is_named_as_such(dense_run, corpus):
    path = dense_run / artifacts.MANIFEST
    artifacts.write_json(path, artifacts.read_json(path) | {"updates": [{}]})
    with pytest.raises(RunError, match=r": updated to corpus 'rent', not to 'valmere'; name its"):
        Run.read(dense_run).check_corpus(
            dataclasses.replace(corpus, name="valmere", articles=corpus.articles[:2], questions=())
        )
    with pytest.raises(RunError, match=r": updated to another state of corpus 'rent' \(hash "):
        Run.read(dense_run).check_corpus(dataclasses.replace(corpus, questions=()))
