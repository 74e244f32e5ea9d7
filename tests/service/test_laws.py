"""Questions under way: too many, too slow, one after another; the service goes on after each. Several laws: which one
each request is answered from, and what is kept apart."""

import asyncio
import json
import shutil
import threading

import pytest
from fastapi.testclient import TestClient

from statgraph.errors import UsageError
from statgraph.law.query import Query
from statgraph.service.app import create_app
from statgraph.service.config import ServiceConfig
from statgraph.service.laws import OpenRun, ServedLaw
from statgraph.service.loaded_run import LoadedRun
from statgraph.service.middleware import Metrics
from statgraph.service.problems import ProblemError


class HeldRetriever:
    """Searches no further than told: each search waits until `released` is set."""

    def __init__(self):
        self.begun, self.released = threading.Event(), threading.Event()

    def search_many(self, queries):
        self.begun.set()
        assert self.released.wait(30)
        if any(query.text == "bad" for query in queries):
            raise UsageError("a bad question")
        return [[(query.text, query.k)] for query in queries]


@pytest.fixture
def held(loaded_run, monkeypatch):
    retriever = HeldRetriever()
    monkeypatch.setattr(loaded_run.retriever, "search_many", retriever.search_many)
    yield retriever
    retriever.released.set()


def opened(loaded_run, **settings) -> ServedLaw:
    law = ServedLaw("village", ServiceConfig(**settings), Metrics())
    law.open(loaded_run)
    return law


async def until(condition) -> None:
    while not condition():
        await asyncio.sleep(0.001)


def test_beyond_the_bound_questions_are_turned_away_and_later_taken(loaded_run, held):
    law = opened(loaded_run, most_waiting=2, retry_after_s=3)

    async def run():
        under_way = [asyncio.create_task(law.search(law.current, Query("a", 1)))]
        await until(held.begun.is_set)
        while True:
            task = asyncio.create_task(law.search(law.current, Query("b", 2)))
            done, _ = await asyncio.wait([task], timeout=0.05)
            if done:
                break
            under_way.append(task)
        with pytest.raises(ProblemError) as refused:
            await task
        assert len(under_way) == 3
        assert law.metrics.registry.get_sample_value("statgraph_questions_waiting", {"law": "village"}) == 2
        held.released.set()
        answers = await asyncio.gather(*under_way)
        assert [answer[0][:2] for answer in answers] == [("a", 1)] + [("b", 2)] * (len(under_way) - 1)
        assert (await law.search(law.current, Query("c", 1)))[0][0] == "c"
        return refused.value

    problem = asyncio.run(run())
    assert (problem.status, problem.headers) == (503, {"Retry-After": "3"})
    assert problem.detail == "too many questions are in progress; retry in a moment"
    law.close()


def test_a_search_or_an_explanation_that_takes_too_long_is_given_up(loaded_run, held, held_explanations):
    law = opened(loaded_run, timeout_s=0.05)
    for call, what in (
        (lambda: law.search(law.current, Query("a", 1)), "search"),
        (lambda: law.explain(law.current, Query("a"), []), "explanation"),
    ):
        with pytest.raises(ProblemError, match=rf"the {what} took longer than 0\.05 s") as refused:
            asyncio.run(call())
        assert refused.value.status == 504
    held.released.set()
    held_explanations[1].set()
    assert asyncio.run(law.explain(law.current, Query("b"), [])) == ["b"]
    law.close()


@pytest.fixture
def held_explanations(loaded_run, monkeypatch):
    """Hold every explanation until `released` is set."""
    begun, released = threading.Event(), threading.Event()

    def explain(query, hits):
        begun.set()
        assert released.wait(30)
        return [query.text]

    monkeypatch.setattr(loaded_run.retriever, "explain", explain)
    yield begun, released
    released.set()


def test_beyond_the_bound_explanations_are_turned_away(loaded_run, held_explanations):
    begun, released = held_explanations
    law = opened(loaded_run, most_waiting=2)

    async def run():
        under_way = [asyncio.create_task(law.explain(law.current, Query(question), [])) for question in "ab"]
        await until(begun.is_set)
        with pytest.raises(ProblemError, match="too many explanations are in progress") as refused:
            await law.explain(law.current, Query("c"), [])
        released.set()
        assert await asyncio.gather(*under_way) == [["a"], ["b"]]
        assert await law.explain(law.current, Query("d"), []) == ["d"]
        return refused.value

    assert asyncio.run(run()).status == 503
    law.close()


def test_a_warm_up_that_fails_is_logged(loaded_run, monkeypatch, caplog):
    monkeypatch.setattr(loaded_run, "warm_up", lambda stopped: [][0])
    held = OpenRun(loaded_run, most_waiting=1, on_batch=lambda size: None)
    for thread in [thread for thread in threading.enumerate() if thread.name == "warm-up"]:
        thread.join(30)
    held.close()
    assert "nothing was prepared for the first readers: IndexError" in caplog.text


def test_an_open_service_warms_up_unless_it_closes(loaded_run, monkeypatch):
    warmed, asked = threading.Event(), []

    def warm_up(stopped):
        asked.append(stopped)
        warmed.set()

    monkeypatch.setattr(loaded_run, "warm_up", warm_up)
    law = opened(loaded_run)
    assert warmed.wait(30)
    assert not asked[0]()
    law.close()
    assert asked[0]()


def test_closing_answers_what_is_under_way(loaded_run, held):
    law = opened(loaded_run)

    async def run():
        task = asyncio.create_task(law.search(law.current, Query("a", 1)))
        await until(held.begun.is_set)
        closing = asyncio.get_running_loop().run_in_executor(None, law.close)
        held.released.set()
        await closing
        return await task

    assert asyncio.run(run())[0][0] == "a"
    with pytest.raises(ProblemError) as refused:
        asyncio.run(law.search(law.current, Query("b", 1)))
    assert refused.value.status == 503


def test_who_asks_while_another_run_is_opened_is_answered_from_the_former(loaded_run, village_run, held):
    law, after = opened(loaded_run), LoadedRun(village_run, device="cpu")
    former = law.current

    async def run():
        with former.in_use():
            task = asyncio.create_task(law.search(former, Query("a", 1)))
            await until(held.begun.is_set)
            law.open(after)
            assert law.current.loaded_run is after
            assert (await law.search(law.current, Query("deposit", 1)))[0].article_id == "H1"
            held.released.set()
            assert (await task)[0][0] == "a"
            assert (await law.search(former, Query("b", 1)))[0][0] == "b"
        await until(lambda: not former.questions._thread.is_alive())
        with pytest.raises(ProblemError, match="shutting down"):
            await law.search(former, Query("c", 1))

    asyncio.run(run())
    law.close()


UNKNOWN = "unknown law 'moon'; choose from village, town"


@pytest.fixture(scope="module")
def town_run(train_town):
    """Return the town's run of BM25."""
    return LoadedRun(train_town("bm25"), device="cpu")


@pytest.fixture
def make(loaded_run, town_run):
    """Return a function that makes a client of a service of the village's law and the town's, with one file of marks
    or none; the last run may still be loading."""

    def client(feedback=None, *, loaded=2) -> TestClient:
        metrics = Metrics()
        laws = [ServedLaw(name, ServiceConfig(), metrics, feedback) for name in ("village", "town")]
        for law, run in list(zip(laws, (loaded_run, town_run), strict=True))[:loaded]:
            law.open(run)
        return TestClient(create_app(laws))

    return client


@pytest.mark.parametrize(
    ("law", "corpus"), [(None, "village"), ("", "village"), ("village", "village"), ("town", "town")]
)
def test_about_tells_the_laws_and_of_the_one_asked_for(make, law, corpus):
    about = make().get("/api/about", params={} if law is None else {"law": law}).json()
    assert (about["laws"], about["corpus"]) == (["village", "town"], corpus)


def test_each_address_answers_from_the_law_that_is_named(make):
    client = make()
    for law, searched, ids in (({}, 5, []), ({"law": "village"}, 5, []), ({"law": "town"}, 16, ["dogs2"])):
        answer = client.post("/api/search", json={"question": "Who taxes dogs?", "k": 1, **law}).json()
        assert (answer["searched"], [hit["article_id"] for hit in answer["hits"]]) == (searched, ids)
    town, village = {"law": "town"}, {"law": "village"}
    for address, key in (("/api/articles/dogs1", "title"), ("/api/graph/dogs1", "nodes")):
        assert client.get(address, params=town).json()[key]
        assert client.get(address).status_code == client.get(address, params=village).status_code == 404
    (code,) = client.get("/api/headings", params=town).json()["headings"]
    assert code["title"] == "Town Code"
    heading = f"/api/headings/{code['heading_id']}"
    assert (client.get(heading, params=town).status_code, client.get(heading).status_code) == (200, 404)


@pytest.mark.parametrize("address", ["about", "articles/H1", "headings", "headings/0", "graph/H1"])
def test_an_unknown_law_is_refused_with_the_known_ones(make, address):
    answer = make().get(f"/api/{address}", params={"law": "moon"})
    assert (answer.status_code, answer.json()["detail"]) == (422, UNKNOWN)


@pytest.mark.parametrize(("address", "more"), [("search", {}), ("feedback", {"article_id": "H1", "right": True})])
def test_an_unknown_law_in_a_body_is_refused_too(make, address, more):
    answer = make().post(f"/api/{address}", json={"question": "q", "law": "moon", **more})
    assert (answer.status_code, answer.json()["detail"]) == (422, UNKNOWN)


def test_marks_in_one_file_say_their_law(make, tmp_path):
    client = make(tmp_path / "marks.jsonl")
    mark = {"question": "q", "article_id": "dogs1", "right": True}
    assert client.post("/api/feedback", json=mark | {"law": "town"}).status_code == 201
    assert client.post("/api/feedback", json=mark).status_code == 404  # an article of the town
    (line,) = map(json.loads, (tmp_path / "marks.jsonl").read_text().splitlines())
    assert (line.pop("time")[-6:], line) == ("+00:00", mark | {"law": "town"})


def test_it_is_ready_once_every_law_is_and_serves_those_that_are(make):
    client = make(loaded=1)
    assert client.get("/readyz").status_code == client.get("/api/about", params={"law": "town"}).status_code == 503
    assert client.get("/api/about").status_code == 200
    figures = client.get("/metrics").text.splitlines()
    assert {'statgraph_ready{law="village"} 1.0', 'statgraph_ready{law="town"} 0.0'} <= set(figures)


def test_figures_and_log_are_by_law(make, log):
    client = make()
    client.post("/api/search", json={"question": "dogs", "law": "town"})
    client.get("/api/headings")
    client.get("/healthz")
    assert [line.get("law") for line in log] == ["town", "village", None]
    figures = set(client.get("/metrics").text.splitlines())
    for route, law in (("/api/search", "town"), ("/api/headings", "village"), ("/healthz", "")):
        assert f'statgraph_request_seconds_count{{law="{law}",route="{route}"}} 1.0' in figures
    assert 'statgraph_batch_questions_count{law="town"} 1.0' in figures


def test_a_change_is_of_one_law(village_run, town_run, tmp_path):
    run = shutil.copytree(village_run, tmp_path / "run")
    config, metrics = ServiceConfig(token="secret", editable=True), Metrics()
    town, village = (ServedLaw(name, config, metrics) for name in ("town", "village"))

    async def reopen():
        village.open(LoadedRun(run))

    town.open(town_run)
    village.reopen = reopen
    asyncio.run(reopen())
    client = TestClient(create_app([town, village]), headers={"Authorization": "Bearer secret"})
    bells = {"id": "H4", "text": "Bells ring at noon.", "path": ["Housing Code"]}
    assert client.post("/api/articles", json=bells, params={"law": "village"}).json() == {"articles": 6}
    assert client.get("/api/articles/H4").status_code == 404
    assert client.delete("/api/articles/H4", params={"law": "village"}).json() == {"articles": 5}
