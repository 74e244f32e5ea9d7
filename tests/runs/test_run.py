import dataclasses
import json

import pytest

from statgraph import artifacts
from statgraph.errors import RunError
from statgraph.runs import parts
from statgraph.runs.run import FORMAT, RunFolder


@pytest.fixture
def read(dense_run):
    """Return a function that reads the run with another manifest, or none for None."""

    def reads(content: str | bytes | None) -> RunFolder:
        path = dense_run / artifacts.MANIFEST
        if content is None:
            path.unlink()
        else:
            path.write_bytes(content.encode() if isinstance(content, str) else content)
        return RunFolder.read(dense_run)

    return reads


def test_what_is_no_finished_run_is_refused(read, dense_run, tmp_path):
    with pytest.raises(RunError, match="none: no such run folder"):
        RunFolder.read(tmp_path / "none")
    with pytest.raises(RunError, match="not a run folder"):
        read(None)
    (dense_run / parts.CONFIG).touch()
    with pytest.raises(RunError, match="an unfinished run"):
        RunFolder.read(dense_run)


def test_a_corpus_is_no_run(tmp_path):
    (tmp_path / artifacts.CORPUS_ARTICLES).touch()
    (tmp_path / artifacts.MANIFEST).write_text('{"name": "town"}')
    with pytest.raises(RunError, match=f"{tmp_path}: a corpus, not a run; train one with 'statgraph train --corpus"):
        RunFolder.read(tmp_path)


@pytest.mark.parametrize(
    "content",
    [
        *("{", "", b'{"a": "\xff"}', "[]", "3", "{}", '{"config": {}}', '{"config": [], "corpus": {}}'),
        '{"config": {}, "corpus": {"name": "x"}}',
    ],
)
def test_what_is_no_manifest_is_refused(read, content):
    with pytest.raises(RunError, match=r"manifest\.json: not (readable|a JSON object)"):
        read(content)


def test_a_setting_of_another_version_is_refused(read, dense_run):
    manifest = artifacts.read_json(dense_run / artifacts.MANIFEST)
    with pytest.raises(RunError, match=r"manifest\.json: 'sead' is not a setting.*; train the run again"):
        read(json.dumps(manifest | {"config": {"sead": 3}}))


def test_what_is_written_comes_back(dense_run):
    run = dataclasses.replace(
        RunFolder.read(dense_run),
        data={"licence": "CC0", "labels": {"dev": 2}},
        backbone_licences={"own": None},
        processes=2,
        steps=({"name": "stage 1", "seconds": 0.5, "peak_mib": 7},),
        versions={"numpy": "2"},
        commit="abc1234",
        updates=({"from": "a", "to": "b"},),
    )
    run.write()
    assert RunFolder.read(dense_run) == run
    assert artifacts.read_json(dense_run / artifacts.MANIFEST)["format"] == FORMAT


@pytest.mark.parametrize("known", [FORMAT - 1, FORMAT + 1])
def test_another_format_is_refused(read, dense_run, known):
    manifest = artifacts.read_json(dense_run / artifacts.MANIFEST)
    with pytest.raises(RunError, match=rf"format {known}, .*; update statgraph, or train the run again$"):
        read(json.dumps(manifest | {"format": known}))


@pytest.mark.parametrize(("updates", "since"), [((), "trained on"), (({},), "updated to")])
def test_only_the_corpus_of_the_run_is_accepted(dense_run, corpus, updates, since):
    run = dataclasses.replace(RunFolder.read(dense_run), updates=updates)
    run.check_corpus(corpus)
    without_questions = dataclasses.replace(corpus, questions=())
    with pytest.raises(RunError, match=rf": {since} corpus 'rent', not {since[-2:]} 'valmere'"):
        run.check_corpus(dataclasses.replace(without_questions, name="valmere"))
    with pytest.raises(RunError, match=rf": {since} another state of corpus 'rent' \(hash {corpus.content_hash[:12]}"):
        run.check_corpus(without_questions)
