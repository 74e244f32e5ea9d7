"""Questions under way: too many, too slow, one after another; the service goes on after each."""

import asyncio
import threading

import pytest

from statgraph.errors import UsageError
from statgraph.law.query import Query
from statgraph.service.config import ServiceConfig
from statgraph.service.loaded_run import LoadedRun
from statgraph.service.problems import ProblemError
from statgraph.service.state import OpenRun, ServiceState


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


def opened(loaded_run, **settings) -> ServiceState:
    state = ServiceState(ServiceConfig(**settings))
    state.open(loaded_run)
    return state


async def until(condition) -> None:
    while not condition():
        await asyncio.sleep(0.001)


def test_beyond_the_bound_questions_are_turned_away_and_later_taken(loaded_run, held):
    state = opened(loaded_run, most_waiting=2, retry_after_s=3)

    async def run():
        under_way = [asyncio.create_task(state.search(state.current, Query("a", 1)))]
        await until(held.begun.is_set)
        while True:
            task = asyncio.create_task(state.search(state.current, Query("b", 2)))
            done, _ = await asyncio.wait([task], timeout=0.05)
            if done:
                break
            under_way.append(task)
        with pytest.raises(ProblemError) as refused:
            await task
        assert len(under_way) == 3
        assert state.metrics.registry.get_sample_value("statgraph_questions_waiting") == 2
        held.released.set()
        answers = await asyncio.gather(*under_way)
        assert [answer[0][:2] for answer in answers] == [("a", 1)] + [("b", 2)] * (len(under_way) - 1)
        assert (await state.search(state.current, Query("c", 1)))[0][0] == "c"
        return refused.value

    problem = asyncio.run(run())
    assert (problem.status, problem.headers) == (503, {"Retry-After": "3"})
    assert problem.detail == "too many questions are in progress; retry in a moment"
    state.close()


def test_a_search_or_an_explanation_that_takes_too_long_is_given_up(loaded_run, held, held_explanations):
    state = opened(loaded_run, timeout_s=0.05)
    for call, what in (
        (lambda: state.search(state.current, Query("a", 1)), "search"),
        (lambda: state.explain(state.current, Query("a"), []), "explanation"),
    ):
        with pytest.raises(ProblemError, match=rf"the {what} took longer than 0\.05 s") as refused:
            asyncio.run(call())
        assert refused.value.status == 504
    held.released.set()
    held_explanations[1].set()
    assert asyncio.run(state.explain(state.current, Query("b"), [])) == ["b"]
    state.close()


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
    state = opened(loaded_run, most_waiting=2)

    async def run():
        under_way = [asyncio.create_task(state.explain(state.current, Query(question), [])) for question in "ab"]
        await until(begun.is_set)
        with pytest.raises(ProblemError, match="too many explanations are in progress") as refused:
            await state.explain(state.current, Query("c"), [])
        released.set()
        assert await asyncio.gather(*under_way) == [["a"], ["b"]]
        assert await state.explain(state.current, Query("d"), []) == ["d"]
        return refused.value

    assert asyncio.run(run()).status == 503
    state.close()


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
    state = opened(loaded_run)
    assert warmed.wait(30)
    assert not asked[0]()
    state.close()
    assert asked[0]()


def test_closing_answers_what_is_under_way(loaded_run, held):
    state = opened(loaded_run)

    async def run():
        task = asyncio.create_task(state.search(state.current, Query("a", 1)))
        await until(held.begun.is_set)
        closing = asyncio.get_running_loop().run_in_executor(None, state.close)
        held.released.set()
        await closing
        return await task

    assert asyncio.run(run())[0][0] == "a"
    with pytest.raises(ProblemError) as refused:
        asyncio.run(state.search(state.current, Query("b", 1)))
    assert refused.value.status == 503


def test_who_asks_while_another_run_is_opened_is_answered_from_the_former(loaded_run, village_run, held):
    state, after = opened(loaded_run), LoadedRun(village_run, device="cpu")
    former = state.current

    async def run():
        with former.in_use():
            task = asyncio.create_task(state.search(former, Query("a", 1)))
            await until(held.begun.is_set)
            state.open(after)
            assert state.current.loaded_run is after
            assert (await state.search(state.current, Query("deposit", 1)))[0].article_id == "H1"
            held.released.set()
            assert (await task)[0][0] == "a"
            assert (await state.search(former, Query("b", 1)))[0][0] == "b"
        await until(lambda: not former.questions._thread.is_alive())
        with pytest.raises(ProblemError, match="shutting down"):
            await state.search(former, Query("c", 1))

    asyncio.run(run())
    state.close()
