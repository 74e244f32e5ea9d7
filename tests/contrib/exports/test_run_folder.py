"""A run in a folder of its own: it answers alike, shares no file, and what is nobody's business stays behind."""

import os
import shutil

import pytest

from statgraph import Retriever, train
from statgraph.contrib.exports.run_folder import export_run_folder
from statgraph.errors import UsageError


@pytest.mark.parametrize("system", ["dense", "bm25"])
def test_the_folder_answers_without_the_run(request, system, tmp_path):
    run, out = request.getfixturevalue(f"{system}_run"), tmp_path / "elsewhere" / "run"
    (run / "feedback.jsonl").write_text("what readers asked")
    os.link(run / "articles.jsonl", tmp_path / "also-in-the-cache")
    here = Retriever.load(run, device="cpu").search("deposit")
    size = export_run_folder(run, out)
    files = [path for path in out.rglob("*") if path.is_file()]
    assert size == sum(path.stat().st_size for path in files)
    assert {path.stat().st_nlink for path in files} == {1}
    assert not (out / "feedback.jsonl").exists()
    shutil.rmtree(run)
    assert Retriever.load(out, device="cpu").search("deposit") == here
    with pytest.raises(UsageError, match="exists already"):
        export_run_folder(out, out)


def test_an_ensemble_answers_from_it_too(corpus, tmp_path):
    """One of its signals saves nothing, and its folder is empty."""
    run, out = tmp_path / "run", tmp_path / "out"
    train(corpus, settings=["ensemble.members=none"], out=run)
    export_run_folder(run, out)
    for question in ("article 3", "who keeps the deposit"):
        assert Retriever.load(out, device="cpu").search(question) == Retriever.load(run, device="cpu").search(question)
