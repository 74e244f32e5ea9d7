"""Every address as a client meets it: the whole answer, worked out by hand from the village."""

import json
import shutil
import time
from http import HTTPStatus

import pytest
from fastapi.testclient import TestClient

from statgraph import __version__
from statgraph.artifacts import held_folder
from statgraph.errors import EngineError
from statgraph.law.query import LIMITS
from statgraph.retrieval.search.retriever import Retriever
from statgraph.retrieval.search.rewriting import Rewriter
from statgraph.service.answers import excerpt
from statgraph.service.app import create_app
from statgraph.service.config import LANGUAGES, ServiceConfig
from statgraph.service.laws import ServedLaw
from statgraph.service.loaded_run import LoadedRun, heading_id_of
from statgraph.service.middleware import Metrics
from statgraph.service.problems import problem_response
from statgraph.service.schemas import Passage
from statgraph.systems.pipeline import train_run
from statgraph.systems.presets import resolve_config

HOUSING, WORK = heading_id_of(["Housing Code"]), heading_id_of(["Work Code"])
LEASES = heading_id_of(["Housing Code", "Book I. Leases"])
KEYS = heading_id_of(["Housing Code", "Book I. Leases", "Chapter 1. Keys"])
WAGES = heading_id_of(["Work Code", "Book I. Leases"])


def problem(answer, status: int) -> dict:
    """Return the problem that an answer tells, once its form is checked."""
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/problem+json"
    told = answer.json()
    assert (told["type"], told["title"], told["status"]) == ("about:blank", HTTPStatus(status).phrase, status)
    return told


def found(client, **asked) -> list[str]:
    answer = client.post("/api/search", json=asked)
    assert answer.status_code == 200, answer.text
    return [hit["article_id"] for hit in answer.json()["hits"]]


def test_an_index_engine_that_is_away_is_told_with_a_time_to_retry(serve, monkeypatch):
    def search_many(*_, **__):
        raise EngineError("s3://law/fr: refused; is its server up?")

    monkeypatch.setattr(Retriever, "search_many", search_many)
    answer = serve(retry_after_s=7).post("/api/search", json={"question": "deposit"})
    assert problem(answer, 503)["detail"] == "s3://law/fr: refused; is its server up?"
    assert answer.headers["retry-after"] == "7"


def test_about(client):
    assert client.get("/api/about").json() == {
        "laws": ["village"],
        "name": "village-run",
        "corpus": "village",
        "language": "en",
        "articles": 5,
        "in_force": 5,
        "headings": 5,
        "codes": [
            {"heading_id": HOUSING, "title": "Housing Code", "articles": 3},
            {"heading_id": WORK, "title": "Work Code", "articles": 2},
        ],
        "examples": ["Who keeps the deposit?", "When are wages paid?"],
        "dated": False,
        "by_words": True,
        "explains": True,
        "signals": {},
        "limits": {name: limit.words for name, limit in LIMITS.items() if limit.words},
        "feedback": True,
        "version": __version__,
    }


def test_a_search_says_which_articles_are_not_there_and_which_words_it_read_as_others(client):
    answer = client.post("/api/search", json={"question": "article 99 of the Work Code: the depsoit"}).json()
    assert (answer["unknown_articles"], answer["corrected"]) == (["99, Work Code"], {"depsoit": "deposit"})


def test_search(client):
    answer = client.post("/api/search", json={"question": "Who signs for the keys?", "k": 1}).json()
    (hit,) = answer["hits"]
    assert (answer["question"], answer["searched"]) == ("Who signs for the keys?", 5)
    assert (answer["took_ms"] > 0, answer["unknown_articles"]) == (True, [])
    assert hit.pop("score") > 0
    text = "Keys are handed back. The lessor signs for them."
    assert answer["nothing_fits"] is False
    assert hit == {
        "rank": 1,
        "probability": None,
        "article_id": "H3",
        "title": "Art. 3, Housing Code",
        "number": "Art. 3",
        "rubric": "Handover",
        "valid_from": None,
        "valid_to": None,
        "headings": [
            {"heading_id": HOUSING, "title": "Housing Code"},
            {"heading_id": LEASES, "title": "Book I. Leases"},
            {"heading_id": KEYS, "title": "Chapter 1. Keys"},
        ],
        "text": text,
        "passage": {"start": 0, "end": text.index(" The lessor")},  # "signs" is as rare as "keys"
        "words": ["keys", "signs"],
        "explanation": None,
    }


@pytest.mark.parametrize(
    ("passage", "text", "place"),
    [
        ((0, 3), "0123456789", (0, 3)),
        ((47, 49), "3456789012", (4, 6)),  # 43 to 53
        ((98, 100), "0123456789", (8, 10)),
        ((20, 30), "0123456789", (0, 10)),
    ],
)
def test_a_long_text_is_shown_around_its_passage(passage, text, place):
    start, end = place
    shown = excerpt("0123456789" * 10, passage, most=10)
    assert shown == {"text": text, "passage": Passage(start=start, end=end)}
    assert excerpt("Keys are due.", None, most=5) == {"text": "Keys ", "passage": None}


def test_a_question_is_also_searched_in_the_laws_words(serve, log, monkeypatch):
    monkeypatch.setattr(Rewriter, "rewrite", lambda rewriter, question: "keys")
    with serve(rewriter=Rewriter("http://localhost/v1")) as client:
        answer = client.post("/api/search", json={"question": "wages", "k": 3}).json()
        assert (answer["rewritten"], [hit["article_id"] for hit in answer["hits"]]) == ("keys", ["W5", "H3"])
        assert [hit["score"] for hit in answer["hits"]] == pytest.approx([1 / 61, 1 / 61])
        assert client.get("/api/about").json()["explains"] is False
        problem(client.post("/api/search", json={"question": "wages", "explain": True}), 422)
    assert "warning" not in log[0]


@pytest.mark.parametrize("slow", [False, True])
def test_without_its_endpoint_a_question_is_searched_as_it_stands(serve, log, monkeypatch, slow):
    if slow:
        monkeypatch.setattr(Rewriter, "rewrite", lambda rewriter, question: time.sleep(0.05) or "keys")
    with serve(rewriter=Rewriter("http://127.0.0.1:9/v1", timeout_s=0.01 if slow else 1.0)) as client:
        answer = client.post("/api/search", json={"question": "wages", "k": 3}).json()
    assert (answer["rewritten"], [hit["article_id"] for hit in answer["hits"]]) == (None, ["W5"])
    assert "the question was not rewritten" in log[0]["warning"]


def test_an_explained_search(client):
    asked = {"question": "Who signs for the keys?", "explain": True}
    for hit in client.post("/api/search", json=asked).json()["hits"]:
        why = hit["explanation"]
        assert sum(term["weight"] for term in why.pop("terms")) == pytest.approx(hit["score"], abs=1e-6)
        assert why == {
            "score": hit["score"],
            "own_text_score": None,
            "without_graph_score": None,
            "without_questions_score": None,
            "neighbours": [],
            "contributions": [],
            "note": "",
        }


@pytest.mark.parametrize(
    ("limits", "ids"),
    [
        ({"codes": ["Work Code"]}, {"W5", "W6"}),
        ({"codes": ["Work Code", "Housing Code"]}, {"H1", "H2", "H3", "W5", "W6"}),
        ({"heading": KEYS}, {"H3"}),
        ({"heading": LEASES}, {"H1", "H2", "H3"}),
        ({"heading": WAGES}, {"W5", "W6"}),
        ({"heading": KEYS, "codes": ["Work Code"]}, set()),
    ],
)
def test_filters(client, limits, ids):
    answer = client.post("/api/search", json={"question": "deposit leases", **limits}).json()
    assert {hit["article_id"] for hit in answer["hits"]} == ids
    assert answer["searched"] == len(ids)


@pytest.mark.parametrize(
    ("asked", "detail"),
    [
        ({}, "body.question: "),
        ({"question": ""}, "body.question: "),
        ({"question": "x" * 20_001}, "body.question: "),
        ({"question": 5}, "body.question: "),
        ({"question": "q", "k": 0}, "body.k: "),
        ({"question": "q", "k": 501}, "body.k: "),
        ({"question": "q", "k": "5"}, "body.k: "),
        ({"question": "q", "codes": [1]}, "body.codes.0: "),
        ({"question": "q", "kk": 5}, "body.kk: "),
        ({"question": "q", "as_of": 2024}, "body.as_of: "),
        ({"question": "q", "as_of": "2024-02-30"}, "body.as_of: not a day of the calendar; give a date as YYYY-MM-DD"),
        ({"question": "q", "as_of": "today"}, "body.as_of: not a date; give a date as YYYY-MM-DD"),
        ({"question": "q", "as_of": "2024-2-3"}, "body.as_of: not a date; give a date as YYYY-MM-DD"),
        ({"question": " "}, "the question is blank; ask something"),
        (
            {"question": "q", "codes": ["Tax Code"]},
            "code 'Tax Code': not among the articles; choose from Housing",
        ),
        ({"question": "q", "heading": "0" * 12}, f"heading '{'0' * 12}': no heading has this id; take one from /api/"),
    ],
)
def test_a_value_that_does_not_fit_is_named(client, asked, detail):
    told = problem(client.post("/api/search", json=asked), 422)
    assert told["detail"].startswith(detail)
    place, _, _ = detail.partition(": ")
    assert [error["place"] for error in told.get("errors", ())] == [place] * place.startswith("body.")


def test_half_a_character_is_refused(client):
    body = '{"question": "\\ud800"}'
    answer = client.post("/api/search", content=body, headers={"Content-Type": "application/json"})
    assert problem(answer, 422)["errors"][0]["place"] == "body.question"


def test_half_a_character_can_be_quoted():
    assert json.loads(problem_response(422, "code '\ud800'").body)["detail"] == "code '\ud800'"


NOT_READ = "the body cannot be read as JSON; send a JSON object in UTF-8"


@pytest.mark.parametrize(
    ("body", "status", "detail"),
    [
        (b'{"question": "caf\xe9"}', 400, NOT_READ),
        (b"[" * 20_000, 400, NOT_READ),
        (
            b'{"k": }',
            422,
            "body: broken JSON at character 7 (Expecting value); send a JSON object",
        ),
        (b"null", 422, "body: not a JSON object; send one"),
        (b'"deposit"', 422, "body: not a JSON object; send one"),
        (b"", 422, "body: not a JSON object; send one"),
    ],
)
def test_what_is_no_json_is_refused(client, body, status, detail):
    answer = client.post("/api/search", content=body, headers={"Content-Type": "application/json; charset=utf-8"})
    assert problem(answer, status)["detail"] == detail


@pytest.mark.parametrize("headers", [{}, {"Content-Type": "text/plain"}])
def test_a_form_of_another_site_is_refused(client, headers):
    body = '{"question": "q", "article_id": "H1", "right": true}'
    assert problem(client.post("/api/feedback", content=body, headers=headers), 422)["detail"] == (
        "body: not declared as JSON; send it with the header Content-Type: application/json"
    )


def test_article(client):
    assert client.get("/api/articles/H2").json() == {
        "article_id": "H2",
        "title": "Art. 2, Housing Code",
        "number": "",
        "rubric": "",
        "text": "Notice: see article 1, and article 5 of the Work Code.",
        "headings": [
            {"heading_id": HOUSING, "title": "Housing Code"},
            {"heading_id": LEASES, "title": "Book I. Leases"},
        ],
        "previous": {"article_id": "H1", "title": "Art. 1, Housing Code", "rubric": ""},
        "next": {"article_id": "H3", "title": "Art. 3, Housing Code", "rubric": "Handover"},
        "refers_to": [
            {"article_id": "H1", "title": "Art. 1, Housing Code", "rubric": ""},
            {"article_id": "W5", "title": "Art. 5, Work Code", "rubric": ""},
        ],
        "referred_by": [],
        "mentions": [
            {"start": 12, "end": 21, "article": {"article_id": "H1", "title": "Art. 1, Housing Code", "rubric": ""}},
            {"start": 27, "end": 36, "article": {"article_id": "W5", "title": "Art. 5, Work Code", "rubric": ""}},
        ],
        "elsewhere": [],
        "versions": [{"article_id": "H2", "valid_from": None, "valid_to": None}],
        "valid_from": None,
        "valid_to": None,
    }


def test_codes(client):
    assert client.get("/api/headings").json() == {
        "heading": None,
        "ancestors": [],
        "headings": [
            {"heading_id": HOUSING, "title": "Housing Code", "headings": 2, "articles": 3},
            {"heading_id": WORK, "title": "Work Code", "headings": 1, "articles": 2},
        ],
        "articles": [],
    }


def test_heading(client):
    assert client.get(f"/api/headings/{LEASES}").json() == {
        "heading": {"heading_id": LEASES, "title": "Book I. Leases"},
        "ancestors": [{"heading_id": HOUSING, "title": "Housing Code"}],
        "headings": [{"heading_id": KEYS, "title": "Chapter 1. Keys", "headings": 0, "articles": 1}],
        "articles": [
            {"article_id": "H1", "title": "Art. 1, Housing Code", "rubric": ""},
            {"article_id": "H2", "title": "Art. 2, Housing Code", "rubric": ""},
        ],
    }


def test_graph(client):
    answer = client.get("/api/graph/H3", params={"hops": 1}).json()
    assert answer == {
        "nodes": [
            {"id": "article:H3", "kind": "article", "title": "Art. 3, Housing Code", "hops": 0},
            {"id": f"heading:{KEYS}", "kind": "heading", "title": "Chapter 1. Keys", "hops": 1},
            {"id": "question:q1", "kind": "question", "title": "Who keeps the deposit?", "hops": 1},
        ],
        "edges": [
            {"source": f"heading:{KEYS}", "target": "article:H3", "relation": "contains_article"},
            {"source": "question:q1", "target": "article:H3", "relation": "cites"},
        ],
        "cut": False,
    }
    assert client.get("/api/graph/H3").json() == client.get("/api/graph/H3", params={"hops": 2}).json() != answer


@pytest.mark.parametrize("hops", ["0", "4", "two"])
def test_hops_beyond_three_are_refused(client, hops):
    assert problem(client.get("/api/graph/H3", params={"hops": hops}), 422)["errors"][0]["place"] == "query.hops"


@pytest.mark.parametrize(
    "address",
    ["/api/articles/H9", "/api/articles/", "/api/articles/a/b", "/api/graph/H9", "/api/headings/00", "/api/x"],
)
def test_what_is_not_there_is_a_problem(client, address):
    problem(client.get(address), 404)


def test_another_method_is_a_problem(client):
    answer = client.put("/api/search", json={})
    assert problem(answer, 405)["detail"] == "this address does not take PUT; send POST"
    assert answer.headers["allow"] == "POST"
    told = problem(client.post("/static/js/main.js"), 405)
    assert told["detail"] == "this address does not take POST; send GET, HEAD"


def test_feedback_is_on_disk_when_it_is_told(serve, tmp_path):
    client = serve()
    marks = [
        {"question": "Où ?", "article_id": "H1", "right": True, "comment": "clear"},
        {"question": "Où ?", "article_id": "W5", "right": False},
    ]
    for mark in marks:
        answer = client.post("/api/feedback", json=mark)
        assert (answer.status_code, answer.json()) == (201, {"stored": True})
    lines = [json.loads(line) for line in (tmp_path / "feedback.jsonl").read_text(encoding="utf-8").splitlines()]
    assert all(line.pop("time").endswith("+00:00") for line in lines)
    assert lines == marks


def test_feedback_on_an_unknown_article_is_refused(serve, tmp_path):
    problem(serve().post("/api/feedback", json={"question": "q", "article_id": "H9", "right": True}), 404)
    assert not (tmp_path / "feedback.jsonl").exists()


def test_feedback_that_does_not_fit_on_disk_is_a_problem(serve, tmp_path):
    mark = {"question": "q", "article_id": "H1", "right": True}
    problem(serve(max_feedback=10).post("/api/feedback", json=mark), 507)
    problem(serve(feedback=tmp_path / "gone" / "feedback.jsonl").post("/api/feedback", json=mark), 507)


def test_a_service_without_feedback_says_so(serve):
    client = serve(feedback=None)
    assert client.get("/api/about").json()["feedback"] is False
    problem(client.post("/api/feedback", json={"question": "q", "article_id": "H1", "right": True}), 404)


def test_until_the_run_is_loaded_all_but_health_is_turned_away(serve):
    client = serve(loaded=False)
    assert client.get("/healthz").status_code == 200
    for answer in (client.get("/readyz"), client.get("/api/about"), client.post("/api/search", json={"question": "q"})):
        problem(answer, 503)
        assert answer.headers["retry-after"] == "1"


def test_figures(serve):
    client = serve()
    client.get("/api/articles/H1")
    client.get("/api/articles/H9")
    client.post("/api/search", json={"question": "deposit"})
    answer = client.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=")
    lines = answer.text.splitlines()
    article = 'statgraph_requests_total{law="village",method="GET",route="/api/articles/{article_id:path}"'
    assert f'{article},status="200"}} 1.0' in lines
    assert f'{article},status="404"}} 1.0' in lines
    assert 'statgraph_request_seconds_count{law="village",route="/api/search"} 1.0' in lines
    assert 'statgraph_questions_waiting{law="village"} 0.0' in lines
    assert 'statgraph_ready{law="village"} 1.0' in lines


@pytest.fixture(scope="module")
def ensemble_client(village, dated_run, tmp_path_factory):
    """Return a client of the service over an ensemble of signals; W6 is no longer in force in 2021."""
    folder = tmp_path_factory.mktemp("ensemble")
    config = resolve_config("ensemble", ["ensemble.members=none", "ranker.learnt=false"])
    run = train_run(village, config, folder / "run").folder
    law = ServedLaw("village", ServiceConfig(), Metrics(), folder / "feedback.jsonl")
    law.open(LoadedRun(dated_run(run, {"W6": {"valid_to": "2020-12-31"}}), device="cpu"))
    return TestClient(create_app([law]))


def test_an_ensemble_says_what_its_signals_are(ensemble_client):
    signals = ensemble_client.get("/api/about").json()["signals"]
    assert list(signals) == ["citation", "bm25", "wording"]
    assert signals["bm25"]["en"] == "Its words"
    assert set(signals["bm25"]) == set(LANGUAGES)


def test_counts_are_of_the_law_in_force(ensemble_client):
    # W6 was in force until 2020.
    about = ensemble_client.get("/api/about").json()
    assert (about["articles"], about["in_force"], [code["articles"] for code in about["codes"]]) == (5, 4, [3, 1])
    assert ensemble_client.get("/api/about", params={"as_of": "2020-06-01"}).json()["in_force"] == 5
    for day, count in (("2020-06-01", 2), ("2021-06-01", 1)):
        codes = ensemble_client.get("/api/headings", params={"as_of": day}).json()["headings"]
        assert [code["articles"] for code in codes] == [3, count]
        (below,) = ensemble_client.get(f"/api/headings/{WORK}", params={"as_of": day}).json()["headings"]
        assert below["articles"] == count
    for day in ("always", "0", "0.0", "2020-02-30"):
        problem(ensemble_client.get("/api/about", params={"as_of": day}), 422)


def test_an_ensemble_answers_filters_and_knows_the_day(ensemble_client):
    assert found(ensemble_client, question="Art. 6, Work Code", k=1, as_of="2020-06-01") == ["W6"]
    assert "W6" not in found(ensemble_client, question="Art. 6, Work Code", as_of="2021-06-01")
    question = "Who keeps the deposit, and when are wages paid?"
    assert {"H1", "W5"} <= set(found(ensemble_client, question=question))
    on_the_day = found(ensemble_client, question=question, heading=WAGES, as_of="2020-06-01")
    assert set(on_the_day) == {"W5", "W6"}


BELLS = {"id": "H4", "text": "Bells ring at noon.", "path": ["Housing Code"], "number": "4"}


@pytest.fixture
def editable(village_run, tmp_path):
    """Return a client of a service whose run, a copy, can be changed."""
    run = shutil.copytree(village_run, tmp_path / "run")
    law = ServedLaw("village", ServiceConfig(token="secret", editable=True), Metrics())

    async def reopen():
        law.open(LoadedRun(run))

    law.open(LoadedRun(run))
    law.reopen = reopen
    return TestClient(create_app([law]), headers={"Authorization": "Bearer secret"})


def test_an_article_is_added_replaced_and_removed(editable):
    answer = editable.post("/api/articles", json=BELLS)
    assert (answer.status_code, answer.json()) == (201, {"articles": 6})
    assert editable.get("/api/articles/H4").json()["text"] == BELLS["text"]
    assert found(editable, question="When do bells ring?")[0] == "H4"
    told = problem(editable.post("/api/articles", json=BELLS), 409)
    assert told["detail"] == "article 'H4': the run has one of this id; send replace, or another id"
    replaced = BELLS | {"text": "Bells are silent.", "replace": True}
    assert editable.post("/api/articles", json=replaced).json() == {"articles": 6}
    assert editable.get("/api/articles/H4").json()["text"] == "Bells are silent."
    answer = editable.delete("/api/articles/H4")
    assert (answer.status_code, answer.json()) == (200, {"articles": 5})
    problem(editable.delete("/api/articles/H4"), 404)


def test_what_is_no_article_is_refused(editable):
    told = problem(
        editable.post("/api/articles", json=BELLS | {"valid_from": "2027-02-01", "valid_to": "2027-01-01"}), 422
    )
    assert "valid_to" in told["detail"]
    problem(editable.post("/api/articles", json={"id": "H4", "text": "No path."}), 422)
    assert editable.get("/api/about").json()["articles"] == 5


def test_a_run_that_another_process_changes_is_not_changed(editable, tmp_path):
    with held_folder(tmp_path / "run"):
        told = problem(editable.post("/api/articles", json=BELLS), 409)
    assert told["detail"].endswith("another process changes it; wait until it has ended")


def test_a_service_that_was_not_asked_to_changes_nothing(client):
    for answer in (client.post("/api/articles", json=BELLS), client.delete("/api/articles/H1")):
        assert problem(answer, 403)["detail"] == "this service changes no articles; start it with --editable"
