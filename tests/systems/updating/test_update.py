import shutil
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from statgraph import Retriever, artifacts
from statgraph.config import IndexConfig, IvfPqConfig
from statgraph.errors import RunError
from statgraph.law.records import Article
from statgraph.retrieval.index.article_index import ArticleIndex
from statgraph.retrieval.search.evaluating import evaluate_split
from statgraph.retrieval.search.graph_run import enriched_article_vectors, load_graph_run
from statgraph.retrieval.search.reindexing import reindex
from statgraph.runs.article_store import ArticleStore
from statgraph.runs.run import RunFolder
from statgraph.systems.pipeline import train_run
from statgraph.systems.presets import resolve_config
from statgraph.systems.updating import update
from statgraph.systems.updating.update import update_run

QUESTIONS = ("May I keep my wells?", "What do I pay for carts?", "dogs taxed by day")


def index_of(run) -> ArticleIndex:
    return ArticleIndex.load(run / "index", device="cpu")


def rankings(run) -> list[list[tuple[str, float]]]:
    hits = (Retriever.load(run, device="cpu").search(question, 16) for question in QUESTIONS)
    return [[(hit.article_id, pytest.approx(hit.score, abs=2e-5)) for hit in ranking] for ranking in hits]


def state(folder) -> dict[str, tuple[int, int]]:
    return {str(path.relative_to(folder)): (path.stat().st_mtime_ns, path.stat().st_size) for path in folder.rglob("*")}


@pytest.mark.parametrize("system", ["qabisar", "dsr", "bm25"])
def test_hits_are_those_of_a_run_made_wholly_anew(run, reformed, tmp_path, system):
    folder = run(system, *(("stage2.epochs=0",) if system == "dsr" else ()))
    update_run(folder, reformed, full=True, out=tmp_path / "full")
    summary = update_run(folder, reformed)
    assert rankings(folder) == rankings(tmp_path / "full")
    question = "May I keep my dogs in town?"  # the town is in every heading: BM25 finds them all
    found = {hit.article_id for hit in Retriever.load(folder, device="cpu").search(question, 99)}
    assert found == {article.article_id for article in reformed.articles}
    assert "wells1" not in found
    assert summary.written
    RunFolder.read(folder).check_corpus(reformed)
    assert evaluate_split(Retriever.load(folder), reformed, "dev", rng=np.random.default_rng(0)).strata["all"]


def test_the_hits_of_bm25_are_those_of_training_on_the_new_version(run, reformed, tmp_path):
    folder = run("bm25")
    summary = update_run(folder, reformed)
    assert (summary.embedded, summary.taken, summary.recomputed) == (0, 0, 0)
    train_run(reformed, resolve_config("bm25", ["device=cpu"]), tmp_path / "new")
    assert rankings(folder) == rankings(tmp_path / "new")


def test_it_says_what_it_did(run, reformed):
    folder = run()
    summary = update_run(folder, reformed)
    assert summary.changes.counts() == {
        "added": 1, "repealed": 1, "amended": 3, "unchanged": 12,
        "amended_parts": {"text": 1, "path": 1, "title": 0, "rubric": 0, "place": 1, "dates": 0},
    }  # fmt: skip
    assert (summary.headings, summary.citations) == ((1, 0), (0, 1))
    assert (summary.embedded, summary.taken, summary.articles, summary.run) == (4, 0, 16, folder)
    manifest = artifacts.read_json(folder / "manifest.json")
    assert manifest["corpus"]["content_hash"] == reformed.content_hash
    (entry,) = manifest["updates"]
    assert (entry["to"], entry["embedded"]) == (reformed.content_hash, 4)
    assert not (folder / "report.json").exists()
    for card in (folder / "README.md", folder / "query_encoder" / "README.md"):
        assert "Not measured: the run was updated with other articles since." in card.read_text()
    assert artifacts.as_json(summary.to_dict())["changes"]["added"] == 1


def test_an_updated_run_can_be_updated_again_and_back(run, town_corpus, reformed):
    folder = run()
    vectors = index_of(folder).vectors
    update_run(folder, reformed)
    np.testing.assert_allclose(
        enriched_article_vectors(load_graph_run(RunFolder.read(folder))), index_of(folder).vectors, atol=2e-6
    )
    summary = update_run(folder, town_corpus)
    # The citation that the repeal took comes back with the question of the old version.
    assert summary.citations == (1, 0)
    np.testing.assert_allclose(index_of(folder).vectors, vectors, atol=2e-6)
    assert len(artifacts.read_json(folder / "manifest.json")["updates"]) == 2


def test_the_same_version_leaves_the_run_alone(run, town_corpus):
    folder = run()
    before = state(folder)
    summary = update_run(folder, town_corpus)
    assert (summary.written, summary.embedded, summary.recomputed) == (False, 0, 0)
    assert state(folder) == before


def test_a_dry_run_tells_the_same_and_writes_nothing(run, reformed, monkeypatch):
    folder = run()
    before = state(folder)
    with monkeypatch.context() as patch:
        patch.setattr(update, "load_article_encoder", None)
        told = update_run(folder, reformed, dry_run=True)
    assert state(folder) == before
    assert not told.written
    done = update_run(folder, reformed)
    same = ("changes", "headings", "citations", "embedded", "taken", "recomputed", "articles")
    assert all(getattr(told, name) == getattr(done, name) for name in same)


@pytest.mark.parametrize("broken", ["write_article_store", "load_article_encoder", "write_graph_inputs"])
def test_interrupted_it_leaves_the_run_as_it_was(run, reformed, monkeypatch, broken, tmp_path):
    def interrupted(*arguments, **options):
        raise KeyboardInterrupt

    folder = run()
    before = state(folder)
    monkeypatch.setattr(update, broken, interrupted)
    with pytest.raises(KeyboardInterrupt):
        update_run(folder, reformed)
    assert state(folder) == before
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_an_index_stays_of_its_kind_and_settings(run, reformed, tmp_path):
    folder = run()
    reindex(folder, IndexConfig(kind="ivf-pq", ivf_pq=IvfPqConfig(lists=4, rerank=99)))
    about = artifacts.read_json(folder / "index" / "manifest.json")
    update_run(folder, reformed)
    now = artifacts.read_json(folder / "index" / "manifest.json")
    assert (now["kind"], now["settings"]) == (about["kind"], about["settings"])
    update_run(shutil.copytree(folder, tmp_path / "copy"), reformed, full=True)
    assert rankings(folder) == rankings(tmp_path / "copy")


def test_questions_that_expand_an_article_go_with_it(tmp_path, town_corpus, reformed):
    config = resolve_config("doct5query", ["device=cpu", "augment.generator=headings"])
    folder = train_run(town_corpus, config, tmp_path / "run").folder
    update_run(folder, reformed)
    assert {hit.article_id for hit in Retriever.load(folder, device="cpu").search("town", 99)} == {
        article.article_id for article in reformed.articles
    }


def test_other_law_is_refused(run, reformed):
    folder = run()
    other = tuple(replace(article, article_id=f"new-{article.article_id}") for article in reformed.articles)
    with pytest.raises(RunError, match="corpus 'town' has none of its article ids"):
        update_run(folder, replace(reformed, articles=other, questions=()))
    with pytest.raises(RunError, match="its law is in 'en', corpus 'town' in 'nl'"):
        update_run(folder, replace(reformed, language="nl"))


def test_an_index_of_other_articles_is_refused(run, reformed):
    folder = run()
    index = index_of(folder)
    ids = [*index.article_ids[1:], index.article_ids[0]]
    ArticleIndex.build(index.vectors, ids).save(folder / "index")
    with pytest.raises(RunError, match="its index and its articles differ; train the run again"):
        update_run(folder, reformed)


def test_a_new_end_alone_is_an_amendment(run, town_corpus):
    folder = run()
    articles = tuple(
        replace(article, metadata={"valid_to": "2000-01-01"}) if article.article_id == "dogs1" else article
        for article in town_corpus.articles
    )
    corpus = replace(town_corpus, articles=articles)
    summary = update_run(folder, corpus)
    assert (summary.written, summary.embedded, summary.changes.amended["dates"]) == (True, 0, ("dogs1",))
    hits = Retriever.load(folder, device="cpu")
    assert "dogs1" not in {hit.article_id for hit in hits.search("May I keep my dogs?", 16)}
    assert "dogs1" in {hit.article_id for hit in hits.search("May I keep my dogs?", 16, as_of="1999-12-31")}
    assert not update_run(folder, corpus).written
    assert update_run(folder, town_corpus).changes.amended["dates"] == ("dogs1",)
    assert not Retriever.load(folder, device="cpu").has_dates


BOOKS = ("Book I. Rights", "Book II. Duties", "Book III. Wheels")
TEXTS = st.sampled_from(["Dogs are taxed by day.", "Carts are allowed.", "Lamps and wells are kept.", "?"])


@st.composite
def reforms(draw, corpus):
    """Draw a version of a corpus whose articles are repealed, amended, moved, added and put in another order."""

    def amended(article):
        part = draw(st.sampled_from(["none", "none", "text", "path", "title"]))
        value = {
            "text": TEXTS,
            "path": st.sampled_from([("Town Code", book) for book in BOOKS]),
            "title": st.just("New"),
        }
        return article if part == "none" else replace(article, **{part: draw(value[part])})

    kept = draw(st.lists(st.sampled_from(corpus.articles), min_size=1, unique_by=lambda article: article.article_id))
    added = [
        Article(f"new{number}", f"Art. {number}", draw(TEXTS), ("Town Code", draw(st.sampled_from(BOOKS))), 0)
        for number in range(draw(st.integers(0, 3)))
    ]
    articles = draw(st.permutations([*map(amended, kept), *added]))
    articles = tuple(replace(article, order=order) for order, article in enumerate(articles, start=1))
    there = {article.article_id for article in articles}
    questions = [
        replace(question, article_ids=tuple(cited for cited in question.article_ids if cited in there))
        for question in corpus.questions
    ]
    return replace(
        corpus, articles=articles, questions=tuple(question for question in questions if question.article_ids)
    )


@pytest.mark.parametrize("system", ["qabisar", "bm25"])
def test_an_update_equals_computing_everything_again(train_town, town_corpus, tmp_path_factory, system):
    @settings(max_examples=4, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(reforms(town_corpus), reforms(town_corpus))
    def check(first, second):
        folder = tmp_path_factory.mktemp("update")
        shutil.copytree(train_town(system), folder / "run")
        for version, corpus in enumerate((first, second)):
            if not {article.article_id for article in corpus.articles} & set(article_ids(folder / "run")):
                continue
            update_run(folder / "run", corpus, full=True, out=folder / f"full{version}")
            update_run(folder / "run", corpus)
            updated, full = (folder / name for name in ("run", f"full{version}"))
            assert article_ids(updated) == [article.article_id for article in corpus.articles]
            assert ArticleStore(updated).read_all() == ArticleStore(full).read_all()
            if system == "bm25":
                assert rankings(updated) == rankings(full)
            else:
                np.testing.assert_allclose(index_of(updated).vectors, index_of(full).vectors, atol=2e-6)
            assert not update_run(updated, corpus).written

    check()


def article_ids(run) -> list[str]:
    return [article.article_id for article in ArticleStore(run).read_all()]
