import json
import shutil
from dataclasses import replace

import numpy as np
import pytest

from statgraph.corpus.records import Article
from statgraph.errors import RunError
from statgraph.index.article_index import ArticleIndex
from statgraph.plotting.subjects import corpus_drawings, graph_drawings, training_drawings
from statgraph.search.article_store import write_article_store


def names(drawings):
    return [drawing.name for drawing in drawings]


def test_a_corpus_and_its_graph(two_codes):
    assert names(corpus_drawings(two_codes)) == ["codes", "depths", "lengths", "labels"]
    assert names(graph_drawings(two_codes, code="Code B")) == ["tree", "edges", "degrees"]


def test_without_questions_there_are_no_labels(two_codes):
    assert names(corpus_drawings(replace(two_codes, questions=()))) == ["codes", "depths", "lengths"]


@pytest.fixture
def run(tmp_path):
    """Return a folder with what the drawings read of a finished run."""
    corpus = {"name": "c", "language": "en", "content_hash": "0"}
    manifest = {"config": {"system": "dsr"}, "corpus": corpus, "versions": {}}
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    lines = [{"stage": "stage1", "epoch": epoch, "loss": epoch or None, "R@200": 0.5} for epoch in (0, 1)]
    (tmp_path / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    articles = [Article(str(row), f"Art. {row}", "", ("Code",), row) for row in range(6)]
    write_article_store(articles, tmp_path)
    vectors = np.eye(6, dtype=np.float32)
    ArticleIndex.build(vectors, [article.article_id for article in articles], device="cpu").save(tmp_path / "index")
    return tmp_path


def test_a_run(run):
    drawings = training_drawings(run, projection="pca")
    assert names(drawings) == ["losses", "dev-recall", "article-map"]
    assert drawings[-1].rows == (("Code", 6, 6),)


def test_what_a_run_does_not_have_is_not_drawn(run):
    (run / "metrics.jsonl").unlink()
    assert names(training_drawings(run, projection="pca")) == ["article-map"]
    shutil.rmtree(run / "index")
    with pytest.raises(RunError, match="system 'dsr' trains nothing and has no vectors; name a run of another system"):
        training_drawings(run)
