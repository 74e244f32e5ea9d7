import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from statgraph.artifacts import held_folder, read_json
from statgraph.law.store import write_corpus

DOGS = "May I keep my dogs?"


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


def test_a_dry_run_then_the_update_then_nothing_to_do(run_here, ran, dense_run, tmp_path, amended):
    run = shutil.copytree(dense_run, tmp_path / "run")
    dry = ran("update", "--run", run, "--corpus", amended, "--dry-run")
    told = re.fullmatch(
        rf"Dry run of the update of {run} to town, \d+\.\d s\n"
        r"(  articles   0 added, 1 repealed, 1 amended \(1 text\), 14 unchanged\n"
        r"  headings   0 added, 0 removed\n"
        r"  citations  0 added, 1 removed\n"
        r"  embedded   1 texts\n"
        r"  computed   7 of 15 article vectors\n)"
        r"(?:  [a-z ,]+ +\d+\.\d s +[\d,]+ MiB\n)+"
        r"Nothing written\n",
        dry,
    )
    assert told, dry
    assert "wells1" in run_here("search", DOGS, "--run", run, "-k", 16, "--json").stdout

    done = ran("update", "--run", run, "--corpus", amended)
    assert told[1] in done
    assert done.startswith(f"Update of {run} to town, ")
    assert done.endswith(f"Run folder: {run}\n")
    hits = run_here("search", DOGS, "--run", run, "-k", 16, "--json").stdout
    assert "wells1" not in hits
    assert "Dogs are free." in hits
    assert run_here("evaluate", "--run", run, "--corpus", amended, "--split", "dev").returncode == 0

    again = run_here("update", "--run", run, "--corpus", amended)
    assert again.stdout.endswith(f"Nothing to do: {run} is up to date\n")


def test_what_cannot_be_updated_is_one_line(refused, dense_run, tmp_path, amended):
    run = shutil.copytree(dense_run, tmp_path / "run")
    shutil.rmtree(run / "graph_inputs")
    assert refused("update", "--run", run, "--corpus", amended) == (
        f"{run / 'graph_inputs'}: missing; train the run again"
    )
    assert refused("update", "--run", dense_run, "--corpus", amended, "--out", amended) == (
        f"{amended}: not empty; choose another --out"
    )


QUESTION = "Who taxes my fences?"


@pytest.fixture
def run(tmp_path, dense_run):
    """Return a copy of a dense run of 16 articles, `run` in the test's folder."""
    return Path(shutil.copytree(dense_run, tmp_path / "run"))


def test_the_index_is_of_another_kind_and_back(ran, run):
    before = ran("search", QUESTION, "--run", run, "-k", 16, "--json")
    done = ran("index", "--run", run, "--kind", "ivf-pq", "--set", "ivf_pq.lists=4")
    assert re.fullmatch(
        rf"Index of {re.escape(str(run))}: ivf-pq, built in \d+\.\d\d s\n"
        r"  articles  16\n  memory    0\.0 MiB\n  disk      0\.0 MiB\n",
        done,
    )
    manifest = read_json(run / "index" / "manifest.json")
    assert (manifest["kind"], manifest["settings"]["lists"]) == ("ivf-pq", 4)
    assert ran("index", "--run", run).startswith(f"Index of {run}: flat, ")
    assert ran("search", QUESTION, "--run", run, "-k", 16, "--json") == before


def test_an_engine_that_the_vectors_are_written_to_answers_the_same(ran, run, tmp_path):
    engine = tmp_path / "engine"
    asked = ("search", QUESTION, "--run", run, "-k", 5, "--json")
    own = ran(*asked)
    printed = ran("index", "--run", run, "--engine", "faiss", "--to", engine)
    assert re.fullmatch(
        rf"Vectors of {re.escape(str(run))} at {re.escape(str(engine))}: faiss, written in \d+\.\d\d s\n"
        r"  articles  16\n  changed   16\n  removed   0\n  state     [0-9a-f]{12}-[0-9a-f]{12}\n",
        printed,
    )
    (run / "index" / "index.faiss").unlink()
    assert ran(*asked, "--from", engine) == own


@pytest.mark.parametrize("command", ["index", "quicken"])
def test_a_run_that_another_process_changes_is_left_alone(refused, run, command):
    with held_folder(run):
        assert refused(command, "--run", run) == f"{run}: another process changes it; wait until it has ended"


def test_single_articles_are_added_and_removed(run_here, ran, train_town, tmp_path):
    run = shutil.copytree(train_town("bm25"), tmp_path / "run")
    article = ("--id", "bells", "--text", "Bells ring at noon.", "--path", "Town Code > Book I. Rights")
    done = ran("add", "--run", run, *article, "--number", "7a")
    assert re.match(rf"Update of {run} to 17 articles, \d+\.\d s\n  articles   1 added, 0 repealed", done)
    found = json.loads(run_here("search", "When do bells ring?", "--run", run, "--json").stdout)
    assert (found[0]["article_id"], found[0]["number"]) == ("bells", "7a")
    again = run_here("add", "--run", run, *article)
    assert (again.returncode, again.stderr) == (
        2,
        f"Error: article 'bells': {run} has one of this id; add --replace, or remove it\n",
    )
    assert run_here("add", "--run", run, *article, "--replace", "--json").returncode == 0
    removed = json.loads(run_here("remove", "bells", "--run", run, "--json").stdout)
    assert (removed["changes"]["repealed"], removed["articles"]) == (1, 16)
