import threading
from concurrent.futures import CancelledError, ThreadPoolExecutor

import pytest

from statgraph import Retriever
from statgraph.errors import UsageError
from statgraph.law.query import Query
from statgraph.retrieval.search.batching import BatcherClosedError, QuestionBatcher, QueueFullError

WAIT_S = 30  # for what happens at once unless the batcher is broken


class Recorder:
    """A retriever whose hits are (question, k); it notes each call and waits until `go` is set."""

    def __init__(self, *, held: bool = False):
        self.calls = []
        self.started, self.go = threading.Event(), threading.Event()
        if not held:
            self.go.set()

    def search_many(self, queries):
        self.calls.append([query.text for query in queries])
        self.started.set()
        assert self.go.wait(WAIT_S)
        for query in queries:
            if query.text == "bad":
                raise UsageError(f"the question '{query.text}' of {len(queries)}")
        return [[(query.text, query.k)] for query in queries]


def held_batcher(**options):
    """Return (recorder, batcher) whose thread is busy with the question "first" until the recorder may go."""
    recorder = Recorder(held=True)
    batcher = QuestionBatcher(recorder, max_wait_ms=0, **options)
    first = batcher.submit("first", 1)
    assert recorder.started.wait(WAIT_S)
    return recorder, batcher, first


def test_what_waits_is_searched_together():
    recorder, batcher, first = held_batcher()
    futures = [batcher.submit("a", 3), batcher.submit(Query("b", 5, codes=["Town Code"])), batcher.submit("c", 3)]
    assert batcher.waiting == 3
    recorder.go.set()
    assert [future.result(WAIT_S) for future in futures] == [[("a", 3)], [("b", 5)], [("c", 3)]]
    assert first.result(WAIT_S) == [("first", 1)]
    batcher.close()
    assert recorder.calls == [["first"], ["a", "b", "c"]]


def test_no_batch_is_larger_than_allowed():
    sizes = []
    recorder, batcher, _ = held_batcher(max_batch=2, on_batch=sizes.append)
    for question in "abcde":
        batcher.submit(question, 1)
    recorder.go.set()
    batcher.close()
    assert recorder.calls == [["first"], ["a", "b"], ["c", "d"], ["e"]]
    assert sizes == [1, 2, 2, 1]


def test_an_error_reaches_only_its_caller():
    recorder, batcher, _ = held_batcher()
    futures = {question: batcher.submit(question, 1) for question in ("a", "bad", "c")}
    recorder.go.set()
    with pytest.raises(UsageError, match=r"^the question 'bad' of 1$"):
        futures["bad"].result(WAIT_S)
    assert [futures[question].result(WAIT_S) for question in "ac"] == [[("a", 1)], [("c", 1)]]
    assert batcher.search("d", 1, timeout_s=WAIT_S) == [("d", 1)]  # the thread lives on
    batcher.close()


def test_a_listener_that_fails_and_hits_that_are_missing_end_nothing(caplog):
    recorder = Recorder()
    batcher = QuestionBatcher(recorder, on_batch=lambda questions: 1 / 0)
    assert batcher.search("a", 1, timeout_s=WAIT_S) == [("a", 1)]
    recorder.search_many = lambda queries: []
    with pytest.raises(ValueError, match="shorter"):
        batcher.search("b", 1, timeout_s=WAIT_S)
    batcher.close()
    assert [record.message for record in caplog.records] == ["on_batch failed"] * 2


def test_a_full_queue_is_refused():
    recorder, batcher, _ = held_batcher(max_waiting=2)
    futures = [batcher.submit(question, 1) for question in "ab"]
    with pytest.raises(QueueFullError, match="max_waiting=2"):
        batcher.submit("c", 1)
    recorder.go.set()
    assert [future.result(WAIT_S) for future in futures] == [[("a", 1)], [("b", 1)]]
    batcher.close()


def test_a_caller_waits_no_longer_than_told_and_its_question_is_dropped():
    recorder, batcher, _ = held_batcher()
    with pytest.raises(TimeoutError):
        batcher.search("late", 1, timeout_s=0.01)
    cancelled = batcher.submit("cancelled", 1)
    assert cancelled.cancel()
    kept = batcher.submit("kept", 1)
    recorder.go.set()
    assert kept.result(WAIT_S) == [("kept", 1)]
    with pytest.raises(CancelledError):
        cancelled.result(WAIT_S)
    batcher.close()
    assert recorder.calls == [["first"], ["kept"]]


def test_closing_answers_what_waits_and_takes_no_more():
    recorder, batcher, first = held_batcher(max_batch=2)
    futures = [first, *(batcher.submit(str(n), 1) for n in range(5))]
    closing = threading.Thread(target=batcher.close)
    closing.start()
    refusal = ""
    while not refusal:  # until close has had its say
        try:
            futures.append(batcher.submit("more", 1))
        except BatcherClosedError as error:
            refusal = str(error)
    assert refusal == "the questions' batcher is closed; make another one"
    assert not any(future.done() for future in futures)
    recorder.go.set()
    closing.join(WAIT_S)
    assert all(len(future.result(0)) == 1 for future in futures)
    batcher.close()


def test_closing_from_a_callback_does_not_wait_for_itself():
    batcher = QuestionBatcher(Recorder())
    done = threading.Event()
    batcher.submit("a", 1).add_done_callback(lambda _: (batcher.close(), done.set()))
    assert done.wait(WAIT_S)


def test_after_company_a_batch_waits_for_as_many_and_after_none_for_nobody():
    """A wait of an hour would be the end of this test wherever it is not due."""
    recorder = Recorder(held=True)
    batcher = QuestionBatcher(recorder, max_wait_ms=3_600_000)
    alone = batcher.submit("alone", 1)  # nobody before it: at once
    assert recorder.started.wait(WAIT_S)
    pair = [batcher.submit(question, 1) for question in "ab"]
    recorder.go.set()
    assert alone.result(WAIT_S) == [("alone", 1)]
    assert [future.result(WAIT_S) for future in pair] == [[("a", 1)], [("b", 1)]]  # after one: at once
    recorder.started.clear()
    third = batcher.submit("c", 1)
    assert not recorder.started.wait(0.05)  # after two: once there are two again
    assert batcher.search("d", 1, timeout_s=WAIT_S) == [("d", 1)]
    assert third.result(WAIT_S) == [("c", 1)]
    last = batcher.submit("e", 1)
    batcher.close()
    assert last.done()
    assert [len(questions) for questions in recorder.calls] == [1, 2, 2, 1]


@pytest.mark.parametrize(
    "options", [{"max_batch": 0}, {"max_wait_ms": -1}, {"max_wait_ms": float("nan")}, {"max_waiting": 0}]
)
def test_numbers_that_make_no_sense_are_refused(options):
    with pytest.raises(UsageError, match=next(iter(options))):
        QuestionBatcher(Recorder(), **options)


def test_many_callers_get_what_they_would_get_alone(sample_run):
    retriever = Retriever.load(sample_run.folder, device="cpu")
    asked = [(f"Who keeps the deposit of flat {n}?", 1 + n % 3) for n in range(48)] + [(" ", 2), ("deposit", 0)]

    def outcome(search, question, k):
        try:
            return [(hit.rank, hit.article_id, hit.text, round(hit.score, 5)) for hit in search(question, k)]
        except UsageError as error:
            return str(error)

    alone = [outcome(retriever.search, *question) for question in asked]
    with QuestionBatcher(retriever, max_batch=8) as batcher, ThreadPoolExecutor(16) as callers:
        together = list(callers.map(lambda question: outcome(batcher.search, *question), asked))
    assert together == alone
    assert alone[-2:] == ["the question is blank; ask something", "k: must be at least 1 (got 0)"]
