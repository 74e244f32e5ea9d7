import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from statgraph.corpus.store import write_corpus

QUESTION = "May I keep my dogs?"


@pytest.fixture
def amended(tmp_path, town_corpus) -> Path:
    """Return a corpus folder of the town's law, one article repealed and one amended."""
    articles = tuple(
        replace(article, text="Dogs are free.") if article.article_id == "dogs1" else article
        for article in town_corpus.articles
        if article.article_id != "wells1"
    )
    questions = tuple(question for question in town_corpus.questions if "wells1" not in question.article_ids)
    write_corpus(replace(town_corpus, articles=articles, questions=questions), tmp_path / "amended")
    return tmp_path / "amended"


def test_a_dry_run_then_the_update_then_nothing_to_do(run_here, dense_run, tmp_path, amended):
    run = shutil.copytree(dense_run, tmp_path / "run")
    dry = run_here("update", "--run", run, "--corpus", amended, "--dry-run")
    assert (dry.returncode, dry.stderr) == (0, "")
    told = re.fullmatch(
        rf"Dry run of the update of {run} to town, \d+\.\d s\n"
        r"(  articles   0 added, 1 repealed, 1 amended \(1 text\), 14 unchanged\n"
        r"  headings   0 added, 0 removed\n"
        r"  citations  0 added, 1 removed\n"
        r"  embedded   1 texts\n"
        r"  computed   7 of 15 article vectors\n)"
        r"(?:  [a-z ,]+ +\d+\.\d s +[\d,]+ MiB\n)+"
        r"Nothing written\n",
        dry.stdout,
    )
    assert told, dry.stdout
    assert "wells1" in run_here("search", QUESTION, "--run", run, "-k", 16, "--json").stdout

    done = run_here("update", "--run", run, "--corpus", amended)
    assert (done.returncode, done.stderr) == (0, "")
    assert told[1] in done.stdout
    assert done.stdout.startswith(f"Update of {run} to town, ")
    assert done.stdout.endswith(f"Run folder: {run}\n")
    hits = run_here("search", QUESTION, "--run", run, "-k", 16, "--json").stdout
    assert "wells1" not in hits
    assert "Dogs are free." in hits
    assert run_here("evaluate", "--run", run, "--corpus", amended, "--split", "dev").returncode == 0

    again = run_here("update", "--run", run, "--corpus", amended)
    assert again.stdout.endswith(f"Nothing to do: {run} is up to date\n")


def test_json_and_another_folder(run_here, bm25_run, tmp_path, amended):
    done = run_here("update", "--run", bm25_run, "--corpus", amended, "--out", "new", "--json")
    told = json.loads(done.stdout)
    assert (told["run"], told["changes"]["repealed"], told["written"], told["headings"]) == ("new", 1, True, None)
    assert "wells1" in run_here("search", "wells", "--run", bm25_run, "--json").stdout
    assert "wells1" not in run_here("search", "wells", "--run", "new", "--json").stdout


def test_what_cannot_be_updated_is_one_line(refused, dense_run, tmp_path, amended):
    run = shutil.copytree(dense_run, tmp_path / "run")
    shutil.rmtree(run / "graph_inputs")
    assert refused("update", "--run", run, "--corpus", amended) == (
        f"{run / 'graph_inputs'}: missing, since the run was trained by a version that did not save its graph "
        "encoder's inputs; train the run again"
    )
    assert refused("update", "--run", dense_run, "--corpus", amended, "--out", amended) == (
        f"{amended}: not empty; choose another --out"
    )
