"""The main job on 29,115 articles of French law, by the command line: graph, training, search, an amended law."""

import json
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from statgraph.encoders.inference.query_encoder import read_query_encoder
from statgraph.law import read_corpus
from statgraph.law.store import write_corpus
from statgraph.retrieval.index.article_index import ArticleIndex
from statgraph.retrieval.search.retriever import Retriever

pytestmark = pytest.mark.real

CLI = Path(__file__).parents[1] / "cli.py"
N_ARTICLES, N_AMENDED = 29_115, 292
MOST_MIB = 4096  # of every step of training
QUESTION = "Mon employeur peut-il me licencier pendant un arrêt maladie ?"
STEP = re.compile(r"  ([a-z0-9 ,]+?) +([\d.]+) s +([\d,]+) MiB")


def statgraph(*arguments: object) -> str:
    """Return what `statgraph ARGS...` prints, once it has ended well and in silence."""
    command = [sys.executable, str(CLI), *map(str, arguments)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=1200)
    assert (done.stderr, done.returncode) == ("", 0)
    return done.stdout


@pytest.fixture(scope="module")
def trained(legi_fr_folder, tmp_path_factory):
    """Return (run folder, what `train` printed): QABISAR as its preset says, with the static encoder."""
    run = tmp_path_factory.mktemp("main_job") / "run"
    options = ("--set", "encoder.backbone=embedded:static", "--device", "cpu", "--out", run)
    return run, statgraph("train", "--corpus", legi_fr_folder, *options)


@pytest.fixture
def run(trained, tmp_path):
    """Return a copy of the run that a test may change."""
    return Path(shutil.copytree(trained[0], tmp_path / "run"))


def recall_on_dev(run: Path, corpus: Path) -> dict[str, float]:
    """Return R@200 on dev by stratum."""
    strata = json.loads(statgraph("evaluate", "--run", run, "--corpus", corpus, "--split", "dev", "--json"))["strata"]
    return {name: stratum["metrics"]["R@200"]["mean"] for name, stratum in strata.items()}


def test_the_graph(legi_fr_folder, tmp_path):
    said = statgraph("build-graph", legi_fr_folder, "--out", tmp_path / "graph").splitlines()
    assert said[1] == "  nodes   29,115 articles, 10,372 headings, 492 questions"
    assert [line.split(maxsplit=1)[1].split(maxsplit=1)[::-1] for line in said if line.startswith("  edges")] == [
        ["article-cited_by-question", "6,087"],
        ["article-in_heading-heading", "29,115"],
        ["heading-contains_article-article", "29,115"],
        ["heading-contains_heading-heading", "10,368"],
        ["heading-under_heading-heading", "10,368"],
        ["question-cites-article", "6,087"],
    ]


def test_training_stays_small_and_beats_bm25(trained, legi_fr_folder, tmp_path):
    run, said = trained
    peaks = {name: int(peak.replace(",", "")) for name, _, peak in STEP.findall(said)}
    assert list(peaks)[-2:] == ["index and encoders to disk", "evaluation on dev"]
    assert max(peaks.values()) < MOST_MIB
    statgraph("train", "--system", "bm25", "--corpus", legi_fr_folder, "--out", tmp_path / "bm25")
    ours, words = (recall_on_dev(folder, legi_fr_folder) for folder in (run, tmp_path / "bm25"))
    assert ours["all"] > words["all"] + 0.05
    assert ours["seen"] > words["seen"] + 0.05


def test_hits_are_the_best_of_all_articles(trained, legi_fr_folder):
    run, _ = trained
    hits = json.loads(statgraph("search", QUESTION, "--run", run, "-k", 50, "--json"))
    vectors = ArticleIndex.load(run / "index").vectors
    (question,) = read_query_encoder(run / "query_encoder", device="cpu").encode([QUESTION])
    scores = vectors.astype(np.float64) @ question.astype(np.float64)
    np.testing.assert_allclose([hit["score"] for hit in hits], np.sort(scores)[::-1][:50], rtol=0, atol=1e-5)
    articles = {article.article_id: article for article in read_corpus(legi_fr_folder).articles}
    assert len(articles) == len(vectors) == N_ARTICLES
    for hit in hits:
        article = articles[hit["article_id"]]
        assert (hit["text"], hit["title"], tuple(hit["path"])) == (article.text, article.title, article.path)


def test_an_approximate_index_finds_the_same(trained, run, legi_fr_folder):
    questions = [question.text for question in read_corpus(legi_fr_folder).questions if question.split == "dev"]
    statgraph("index", "--run", run, "--kind", "ivf-pq")
    exact, near = (Retriever.load(folder, device="cpu") for folder in (trained[0], run))
    shares = []
    for question in questions:
        best, found = ({hit.article_id for hit in each.search(question, k=100)} for each in (exact, near))
        shares.append(len(best & found) / 100)
    assert np.mean(shares) > 0.95


def test_an_amended_law(run, legi_fr_folder, tmp_path):
    corpus = read_corpus(legi_fr_folder)
    rows = set(range(0, N_ARTICLES, 100))
    articles = (
        replace(article, text=f"{article.text}\nModifié par le décret n° {row}.") if row in rows else article
        for row, article in enumerate(corpus.articles)
    )
    write_corpus(replace(corpus, articles=tuple(articles)), tmp_path / "amended")
    done = json.loads(statgraph("update", "--run", run, "--corpus", tmp_path / "amended", "--json"))
    assert done["changes"]["amended"] == len(rows) == N_AMENDED
    assert 0 < done["recomputed"] < N_ARTICLES / 4
    assert recall_on_dev(run, tmp_path / "amended")["all"] > 0.6
