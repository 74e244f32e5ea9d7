import asyncio
import unicodedata
from dataclasses import replace
from datetime import date

import numpy as np
import pytest

from statgraph import Hit, Retriever, artifacts
from statgraph.augmentation.store import SyntheticQuestion, write_synthetic
from statgraph.errors import RunError, UsageError
from statgraph.law.query import Query
from statgraph.retrieval.index.article_index import ArticleIndex
from statgraph.retrieval.search.ranker import write_lexical_index
from statgraph.runs.article_store import write_article_store
from statgraph.runs.run import RunFolder

ODD_QUESTIONS = {
    "punctuation": "?!… — «»",
    "emoji": "👩‍⚖️ 🏠💶?",
    "right to left": "\u202eمن يدفع الإيداع؟",
    "decomposed": unicodedata.normalize("NFD", "Où récupérer la caution ?"),
    "control characters": "\x00deposit\x07\x1b[31m",
    "no break": "deposit\u00a0\u2028\ufeffkeys",
    "astral": "𝔡𝔢𝔭𝔬𝔰𝔦𝔱 \U0010ffff",
    "10,000 characters": "deposit " * 1250,
    "one word of 10,000 characters": "x" * 10_000,
}


@pytest.fixture
def retriever(dense_run):
    return Retriever.load(dense_run, device="cpu")


@pytest.fixture(params=["dense_run", "bm25_run"])
def run(request):
    return request.getfixturevalue(request.param)


def refused(run, match):
    with pytest.raises(RunError, match=match):
        Retriever.load(run, device="cpu")


def change_settings(run, group, **settings):
    path = run / artifacts.MANIFEST
    manifest = artifacts.read_json(path)
    manifest["config"][group] |= settings
    artifacts.write_json(path, manifest)


def index_again(folder):
    run = RunFolder.read(folder)
    write_lexical_index(run, run.articles.read_all())


def test_search_returns_hits_best_first(retriever):
    hits = retriever.search("deposit", k=2)
    path = ("Rent Code", "Book I. Leases")
    assert hits == [
        Hit(1, 1.0, "D1", "Art. 1", path, "The deposit is returned."),
        Hit(2, pytest.approx(0.8), "X1", "Art. 3", path, "Keys are handed back."),
    ]
    assert all(type(hit.score) is float and type(hit.rank) is int for hit in hits)


def test_passages_are_found_where_asked_for(run):
    retriever = Retriever.load(run, device="cpu")
    question = "months, keys (leases)"  # of the leases are all three, by their heading
    hits = {hit.article_id: hit for hit in retriever.search(question, k=3, passages=True)}
    # D1 shares no word: its only sentence by its vector, where there is an encoder.
    d1 = None if retriever.by_words else (0, 24)
    assert {article_id: hit.passage for article_id, hit in hits.items()} == {"D1": d1, "N1": (28, 56), "X1": (0, 21)}
    shared = retriever.shared_words("months, keys (leases)", [hits["N1"], hits["X1"]])
    assert shared == [["leases", "months"], ["leases", "keys"]]
    assert hits["N1"].text[28:56] == "Its length: “three months” €"
    assert retriever.with_passages("writing", [hits["N1"]])[0].passage == (0, 27)


def test_a_retriever_of_no_run_explains_nothing():
    with pytest.raises(UsageError, match=r"not loaded from a run; make it with Retriever\.load"):
        Retriever(None, None).explain("deposit", [])


def test_bm25_finds_by_words_and_headings(bm25_run):
    retriever = Retriever.load(str(bm25_run))
    best = retriever.search("In writing: notice!", k=1)[0]
    assert (best.article_id, best.text.splitlines()[1]) == ("N1", "Its length: “three months” €")
    assert all(hit.score > 0 for hit in retriever.search("leases"))


def test_bm25_without_headings_finds_none_by_them(bm25_run):
    change_settings(bm25_run, "encoder", heading_path=False)
    index_again(bm25_run)
    assert Retriever.load(bm25_run).search("leases") == []


def test_what_shares_no_word_is_no_hit_of_bm25_but_is_ranked(bm25_run):
    retriever = Retriever.load(bm25_run)
    questions = ["deposit", "xylophone"]
    assert retriever.by_words
    assert [[hit.article_id for hit in hits] for hits in retriever.search_many(questions, 3)] == [["D1"], []]
    assert [ranked.rows.tolist() for ranked in retriever.found(questions, 3)] == [[0], []]
    rankings = retriever.rank(questions, 3)
    assert [ranked.rows.tolist() for ranked in rankings] == [[0, 1, 2], [0, 1, 2]]
    assert [(ranked.scores > 0).tolist() for ranked in rankings] == [[True, False, False], [False] * 3]


@pytest.fixture
def expanded_run(bm25_run):
    """Return a run of BM25 whose articles have synthetic questions behind them, at most one each."""
    change_settings(bm25_run, "bm25", expansion=1)
    questions = [SyntheticQuestion("landlord robbery", ("X1",), "m"), SyntheticQuestion("carpets", ("D1", "X1"), "m")]
    write_synthetic(bm25_run / "synthetic.jsonl", questions, {"corpus": {"name": "rent", "content_hash": "0"}})
    index_again(bm25_run)
    return bm25_run


def test_expanded_articles_are_found_by_their_questions(expanded_run):
    retriever = Retriever.load(expanded_run)
    (best,) = retriever.search("robbery", k=3)
    assert (best.article_id, best.text) == ("X1", "Keys are handed back.")
    # Of X1's two questions only the first counts.
    assert [hit.article_id for hit in retriever.search("carpets", k=3)] == ["D1"]


def test_an_index_without_its_synthetic_questions_is_refused(expanded_run):
    path = expanded_run / "synthetic.jsonl"
    strange = path.read_text().replace('"D1"', '"D9"')
    for text, said in ((strange, "article 'D9' is not in the run"), ("{\n", "jsonl:1: invalid JSON at column 2")):
        path.write_text(text)
        with pytest.raises(RunError, match=said):
            index_again(expanded_run)
    path.unlink()
    with pytest.raises(RunError, match=r"synthetic\.jsonl: is missing"):
        index_again(expanded_run)


def test_many_questions_have_the_hits_of_each(run):
    retriever = Retriever.load(run, device="cpu")
    questions = ["notice in writing", "deposit", "keys"]
    assert retriever.search_many(questions, 2) == [retriever.search(question, 2) for question in questions]
    assert retriever.search_many([]) == []
    assert [hit.rank for hit in retriever.search("deposit of leases", k=1000)] == [1, 2, 3]
    with pytest.raises(UsageError, match=r"^the question is blank; ask something$"):
        retriever.search_many(["deposit", " "])


def test_a_dense_run_finds_whatever_the_score(retriever):
    assert (retriever.by_words, retriever.corrected_words("Who gets the depsoit back?")) == (False, {})
    assert [hit.score for hit in retriever.search("xylophone", 3)] == [0, 0, 0]
    assert [hit.article_id for hit in retriever.search("notice", 3)] == ["N1", "D1", "X1"]  # 1, 0 and -0.6
    assert [ranked.rows.tolist() for ranked in retriever.rank(["notice", "deposit"], 1)] == [[1], [0]]
    assert retriever.rank([], 3) == []


@pytest.mark.parametrize(
    ("limits", "line"),
    [
        ({"k": -3}, r"k: must be at least 1 \(got -3\)"),
        ({"asof": "2020-01-31"}, "unknown limit of a search 'asof'; choose from k, codes, "),
        ({"as_of": "tomorrow"}, "as of 'tomorrow': not a date"),
    ],
)
def test_limits_are_checked_before_anything_is_searched(retriever, limits, line):
    with pytest.raises(UsageError, match=f"^{line}"):
        retriever.search("deposit", **limits)


def test_a_number_that_no_article_carries_is_unknown(run):
    retriever = Retriever.load(run, device="cpu")
    assert retriever.unknown_articles("art. 1 and art. 99 of the Rent Code") == ["99, Rent Code"]
    assert retriever.unknown_articles("the deposit of 99 months") == []


def test_a_typing_error_is_read_as_a_word_of_the_law(bm25_run):
    words = Retriever.load(bm25_run)
    assert words.corrected_words("Who gets the depsoit back?") == {"depsoit": "deposit"}
    assert words.corrected_words("Who gets the deposit back?") == {}
    (typed,), (corrected,) = words.search("deposit", 1), words.search("depsoit", 1)
    assert (typed.article_id, typed.score) == (corrected.article_id, corrected.score)


def test_a_query_has_its_own_limits(retriever):
    queries = [Query("notice", 1), Query("deposit", 2, among=[2, 1]), Query("keys", 1)]
    hits = retriever.search_many(queries)
    assert hits == [
        retriever.search("notice", 1),
        retriever.search("deposit", 2, among=[2, 1]),
        retriever.search(queries[2]),
    ]
    assert [hit.article_id for hit in hits[1]] == ["X1", "N1"]
    with pytest.raises(UsageError, match=r"^as_of: a Query has its own limits"):
        retriever.search(Query("notice"), as_of="always")


def test_an_event_loop_goes_on_while_a_question_is_searched(retriever):
    async def run():
        return await asyncio.gather(retriever.asearch("notice", 2), retriever.asearch(Query("deposit", 1)))

    assert asyncio.run(run()) == [retriever.search("notice", 2), retriever.search("deposit", 1)]


@pytest.mark.parametrize("question", ODD_QUESTIONS.values(), ids=ODD_QUESTIONS)
def test_odd_questions_have_finite_scores(run, sample_run, question):
    for folder in (run, sample_run.folder):
        retriever = Retriever.load(folder, device="cpu")
        ((_, scores),) = retriever.rank([question], 3)
        assert len(scores) == 3
        assert np.isfinite(scores).all()
        assert scores.tolist() == sorted(scores, reverse=True)
        found = [hit.score for hit in retriever.search(question, k=3)]
        assert found == [score for score in scores if score > 0 or not retriever.by_words]


@pytest.mark.parametrize("ids", [["D1", "N1"], ["D1", "N1", "Y1"], ["A1", "N1", "X1"]])
def test_an_index_of_other_articles_is_refused(dense_run, ids):
    vectors = np.eye(2, dtype=np.float32)[np.zeros(len(ids), dtype=int)]
    ArticleIndex.build(vectors, ids, device="cpu").save(dense_run / "index")
    refused(dense_run, "hold different articles")


def test_the_query_encoder_is_a_plain_sentence_transformers_folder(sample_run):
    from sentence_transformers import SentenceTransformer

    question = "Who gets the deposit back?"
    encoder = SentenceTransformer(str(sample_run.folder / "query_encoder"), device="cpu", local_files_only=True)
    vector = encoder.encode([question])
    index = ArticleIndex.load(sample_run.folder / "index", device="cpu")
    ((rows, scores),) = index.search(vector.astype(np.float32), 5)
    hits = Retriever.load(sample_run.folder, device="cpu").search(question, k=5)
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)
    assert [hit.article_id for hit in hits] == [index.article_ids[row] for row in rows]
    assert [hit.score for hit in hits] == pytest.approx(scores.tolist())


def test_a_search_among_some_articles(run):
    retriever = Retriever.load(run, device="cpu")
    full = retriever.search("deposit", k=3)
    kept = [hit.article_id for hit in full if hit.article_id != "N1"]
    hits = retriever.search("deposit", k=3, among=np.array([2, 0]))
    assert [(hit.rank, hit.article_id) for hit in hits] == list(enumerate(kept, start=1))
    assert retriever.search("deposit", k=3, among=np.array([], dtype=np.int64)) == []
    rankings = retriever.rank(["deposit", "notice"], 1, among=np.array([1]))
    assert [ranked.rows.tolist() for ranked in rankings] == [[1], [1]]
    with pytest.raises(UsageError, match=r"^among: row 3, but there are 3 articles; give rows 0 to 2$"):
        retriever.search("deposit", among=np.array([3]))


@pytest.mark.parametrize("system", ["bm25", "dsr"])
def test_a_search_in_some_codes_or_under_a_heading(train_town, town_corpus, system):
    """The second of the town's two books is what it taxes: every other article."""
    retriever = Retriever.load(train_town(system), device="cpu")
    book, taxed = ("Town Code", "Book II. Duties"), {a.article_id for a in town_corpus.articles if "2" in a.article_id}
    asked = "Are lamps taxed or allowed?"
    assert {hit.article_id for hit in retriever.search(asked, 16, heading=book)} <= taxed
    assert retriever.search(asked, 16, heading=book, codes=["Town Code"]) == retriever.search(asked, 16, heading=book)
    assert retriever.search(asked, 16, codes=["Town Code"]) == retriever.search(asked, 16)
    hits = retriever.search(asked, 16, heading=book, among=np.array([0, 1, 3]))
    assert {hit.article_id for hit in hits} == {"lamps2", "wells2"}
    with pytest.raises(UsageError, match="code 'City'"):
        retriever.search(asked, codes=["City"])


@pytest.fixture
def dated_run(dense_run, corpus):
    """Return a run where D1 is in force in 2020 and 2021, N1 from 2022 on, and X1, without dates, always."""
    dates = {"D1": {"valid_from": "2020-01-01", "valid_to": "2022-01-01"}, "N1": {"valid_from": "2022-01-01"}, "X1": {}}
    write_article_store([replace(a, metadata=dates[a.article_id]) for a in corpus.articles], dense_run)
    return dense_run


@pytest.mark.parametrize(
    ("as_of", "found"),
    [
        ("2019-12-31", {"X1"}),
        ("2020-01-01", {"D1", "X1"}),
        (date(2021, 12, 31), {"D1", "X1"}),
        ("2022-01-01", {"N1", "X1"}),
        ("today", {"N1", "X1"}),
        ("always", {"D1", "N1", "X1"}),
    ],
)
def test_the_law_of_a_day_is_searched(dated_run, as_of, found):
    retriever = Retriever.load(dated_run, device="cpu")
    assert {hit.article_id for hit in retriever.search("deposit", 3, as_of=as_of)} == found
    assert {hit.article_id for hit in retriever.search("deposit", 1, as_of=as_of)} <= found
    (ranked,) = retriever.rank(["deposit"], 3, as_of=as_of)
    assert {["D1", "N1", "X1"][row] for row in ranked.rows} == found


def test_a_search_without_a_day_is_of_today_and_a_ranking_of_all(dated_run):
    retriever = Retriever.load(dated_run, device="cpu")
    assert {hit.article_id for hit in retriever.search("deposit", 3)} == {"N1", "X1"}
    assert len(retriever.rank(["deposit"], 3)[0].rows) == 3
    assert retriever.has_dates


def test_without_dates_all_law_is_of_every_day(dense_run):
    retriever = Retriever.load(dense_run, device="cpu")
    assert not retriever.has_dates
    assert len(retriever.search("deposit", 3, as_of="1804-03-21")) == 3
