import json
import re
import shutil
from pathlib import Path

import pytest

from statgraph.artifacts import read_json
from statgraph.disk import held_folder

QUESTION = "Who taxes my fences?"


@pytest.fixture
def run(tmp_path, dense_run):
    """Return a copy of a dense run of 16 articles, `run` in the test's folder."""
    return Path(shutil.copytree(dense_run, tmp_path / "run"))


def test_another_kind_serves_search_and_evaluate(run_here, run, town):
    before = run_here("search", QUESTION, "--run", run, "-k", 16, "--json").stdout
    report = run_here("evaluate", "--run", run, "--corpus", town, "--json").stdout

    done = run_here("index", "--run", run, "--kind", "ivf-pq", "--set", "ivf_pq.lists=4")
    assert (done.returncode, done.stderr) == (0, "")
    assert re.fullmatch(
        rf"Index of {re.escape(str(run))}: ivf-pq, built in \d+\.\d\d s\n"
        r"  articles  16\n  memory    0\.0 MiB\n  disk      0\.0 MiB\n",
        done.stdout,
    )
    manifest = read_json(run / "index" / "manifest.json")
    assert (manifest["kind"], manifest["settings"]["lists"]) == ("ivf-pq", 4)
    after = run_here("search", QUESTION, "--run", run, "-k", 16, "--json").stdout
    assert [hit["article_id"] for hit in json.loads(after)] == [hit["article_id"] for hit in json.loads(before)]
    assert run_here("evaluate", "--run", run, "--corpus", town, "--json").stdout == report

    assert run_here("index", "--run", run).stdout.startswith(f"Index of {run}: flat, ")
    assert run_here("search", QUESTION, "--run", run, "-k", 16, "--json").stdout == before


def test_rounding_is_told(run_here, run):
    options = ("--kind", "ivf-pq", "--set", "ivf_pq.precision=float16")
    told = "  vectors   rounded to float16, also in another kind; train the run again for full precision"
    assert run_here("index", "--run", run, *options).stdout.splitlines()[-1] == told
    assert run_here("index", "--run", run, "--kind", "flat").stdout.splitlines()[-1] == told


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--kind", "hnsw"], "Invalid value for '--kind': 'hnsw' is not one of 'auto', 'flat', 'ivf-pq'."),
        (
            ["--set", "ivf_pq.list=3"],
            "--set: 'ivf_pq.list' is not a setting; did you mean 'ivf_pq.lists'? Number of lists; 0 is the largest "
            "power of two up to 2 * sqrt(articles).",
        ),
        (
            ["--set", "ivf_pq.lists=few"],
            "--set: 'ivf_pq.lists' must be a whole number (got 'few'). Number of lists; 0 is the largest power of "
            "two up to 2 * sqrt(articles).",
        ),
        (
            ["--set", "ivf_pq.rerank=0"],
            "ivf_pq.rerank: must be at least 1 (got 0). Candidates ranked again, at least four for each article "
            "asked for.",
        ),
        (["--set", "kind=flat"], "--set: 'kind' has its own option; use --kind flat"),
    ],
)
def test_options_that_do_not_fit_are_refused(refused, run, arguments, message):
    assert refused("index", "--run", run, *arguments, code=2) == message


def test_an_engine_that_the_vectors_are_written_to_answers_the_same(run_here, run, tmp_path):
    engine = tmp_path / "engine"
    asked = ("search", QUESTION, "--run", run, "-k", 5, "--json")
    own = run_here(*asked)
    status, printed, problems = run_here("index", "--run", run, "--engine", "faiss", "--to", engine)
    assert (status, problems) == (0, "")
    assert re.fullmatch(
        rf"Vectors of {re.escape(str(run))} at {re.escape(str(engine))}: faiss, written in \d+\.\d\d s\n"
        r"  articles  16\n  changed   16\n  removed   0\n  state     [0-9a-f]{12}-[0-9a-f]{12}\n",
        printed,
    )
    (run / "index" / "index.faiss").unlink()
    assert run_here(*asked, "--from", engine) == own


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--engine", "lance"],
            "--engine lance: needs the place of its vectors; add --to URI (a folder, s3://... or http://...)",
        ),
        (["--engine", "annoy", "--to", "x"], "unknown index engine 'annoy'; choose from faiss, lance, milvus"),
        (
            ["--engine", "lance", "--to", "x", "--set", "flat_most=3"],
            "--set: these are settings of engine faiss; leave it out with --engine lance",
        ),
    ],
)
def test_engines_that_cannot_be_written_to_are_refused(refused, run, arguments, message):
    assert refused("index", "--run", run, *arguments, code=2) == message


def test_a_place_without_the_run_is_refused(refused, run, tmp_path):
    engine = tmp_path / "engine"
    assert refused("search", QUESTION, "--run", run, "--from", engine) == (
        f"{engine}: no such file or folder; write the run with 'statgraph index --run RUN --engine faiss --to URI'"
    )
    assert refused("search", QUESTION, "--run", run, "--from", "s3://law/fr") == (
        "s3://law/fr: engine faiss keeps vectors in a local folder; name one, or add --engine lance"
    )
    assert refused("search", QUESTION, "--run", run, "--engine", "lance", code=2) == (
        "--engine lance: needs the place of its vectors; add --from URI (a folder, s3://... or http://...)"
    )
    assert refused("search", QUESTION, "--corpus", "town", "--from", engine, code=2) == (
        "--corpus and --from: a corpus without a run has no vectors; name a run with --run"
    )


@pytest.mark.parametrize("command", ["index", "quicken"])
def test_a_run_of_bm25_is_refused(refused, bm25_run, command):
    assert refused(command, "--run", bm25_run) == (
        f"{bm25_run}: ranks by BM25 and has no vectors or encoders; name a run of another system with --run"
    )


def test_quicken_refuses_a_static_encoder(refused, dense_run):
    pytest.importorskip("onnx")
    encoder = dense_run / "query_encoder"
    assert refused("quicken", "--run", dense_run) == (
        f"{encoder}: a static encoder, which is fast without a graph; search it as it is"
    )


@pytest.mark.parametrize("command", ["index", "quicken"])
def test_a_run_that_another_process_changes_is_left_alone(refused, run, command):
    with held_folder(run):
        assert refused(command, "--run", run) == f"{run}: another process changes it; wait until it has ended"
