import pytest
from click.testing import CliRunner

from statgraph.cli.main import cli
from statgraph.cli.quicken import _openings
from statgraph.search.article_store import ArticleStore, StoredArticle


def test_runs_without_a_bert_are_refused(refused, bm25_run, dense_run, tmp_path):
    pytest.importorskip("onnx")
    assert refused("quicken", "--run", bm25_run) == (
        f"{bm25_run}: ranks by BM25 and has no vectors or encoders; name a run of another system with --run"
    )
    encoder = dense_run / "query_encoder"
    assert refused("quicken", "--run", dense_run) == (
        f"{encoder}: a static encoder, which is quick without a graph; search it as it is"
    )
    assert refused("quicken", "--run", tmp_path / "none").startswith(f"{tmp_path / 'none'}: no such run folder; ")


def test_a_precision_without_a_graph(refused, dense_run):
    assert "'int4' is not one of 'float32', 'int8'" in refused(
        "quicken", "--run", dense_run, "--precision", "int4", code=2
    )


@pytest.mark.parametrize(
    ("size", "rows"), [(640, range(0, 640, 10)), (96, [row for row in range(96) if row % 3 != 2]), (3, range(3))]
)
def test_openings_are_from_all_over_the_law(monkeypatch, dense_run, size, rows):
    articles = ArticleStore(dense_run)
    monkeypatch.setattr(ArticleStore, "__len__", lambda self: size)
    monkeypatch.setattr(
        ArticleStore, "read", lambda self, rows: [StoredArticle(f"a{row}", "", f"{row:04}" * 50, ()) for row in rows]
    )
    openings = _openings(articles)
    assert [opening[:4] for opening in openings] == [f"{row:04}" for row in rows]
    assert {len(opening) for opening in openings} == {150}


@pytest.mark.parametrize("precision", ["float32", "int8"])
def test_int8_is_made_by_what_the_articles_say(dense_run, monkeypatch, precision):
    told = []
    monkeypatch.setattr("statgraph.inference.fused_export.write_query_graph", lambda *given: told.append(given) or 0.0)
    CliRunner().invoke(cli, ["quicken", "--run", str(dense_run), "--precision", precision], catch_exceptions=False)
    texts = _openings(ArticleStore(dense_run)) if precision == "int8" else ()
    assert told == [(dense_run / "query_encoder", precision, texts)]
    assert precision == "float32" or len(texts) == len(ArticleStore(dense_run)) > 10
