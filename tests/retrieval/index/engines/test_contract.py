"""What every engine must do, here faiss. The engines of packages inherit `TestEveryEngine` with a `place` of theirs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from statgraph.errors import EngineError, RunError, UsageError
from statgraph.law.allowed_rows import ANYWHERE, Where
from statgraph.retrieval.index.engines.contract import State
from tests.engine_fixtures import BOOKS, FIRST, LAST, N_ARTICLES, REPEALED, WIDTH, Place

REPO = Path(__file__).parents[4]
CONDITIONS = {
    "all": ANYWHERE,
    "a code": Where(codes=("Code 1",)),
    "two codes": Where(codes=("Code 0", "Code 2")),
    **{f"under {book}": Where(heading=("Code 1", book)) for book in BOOKS},
    "in force": Where(day=REPEALED),
    "a book alone": Where(heading=BOOKS[:1]),
    "ids": Where(ids=("art '3'", "art '7'", "nowhere")),
    "all at once": Where(("Code 0",), ("Code 0", "Book 10"), REPEALED, tuple(f"art '{row}'" for row in range(150))),
    "a code that is not there": Where(codes=("Code",)),
    "no ids": Where(ids=()),
}


def best_ids(engine, query: np.ndarray, k: int = 5, where: Where = ANYWHERE) -> list[str]:
    return list(engine.search(query[None], k, where)[0].ids)


def n_articles(engine) -> int:
    return len(best_ids(engine, np.ones(WIDTH, dtype=np.float32), 2 * N_ARTICLES))


WRITE_UNTIL_KILLED = """
import sys
import numpy as np
from statgraph.retrieval.index.engines.contract import Columns, State
from statgraph.registry import ENGINES

def tiles():
    for number in range(10_000):
        print(number, flush=True)
        yield 50 * number, np.ones((50, 16), dtype=np.float32)

days = np.tile(np.array([0, 1000], dtype=np.int32), (500_000, 1))
ids = [f"x{row}" for row in range(500_000)]
writer = ENGINES.load(sys.argv[1]).create(sys.argv[2], State("b" * 64, "2" * 64))
writer.write(ids, tiles(), Columns([("Code",)] * 500_000, days))
"""


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place("faiss", str(tmp_path / "law"), str(tmp_path / "nowhere"))


class TestEveryEngine:
    def test_a_search_ranks_as_a_comparison_with_every_article(self, place, law, queries):
        reader = place.written(law)
        for name, where in CONDITIONS.items():
            rankings = reader.search(queries, 10, where)
            assert [list(ranking.ids) for ranking in rankings] == [law.best(query, 10, where) for query in queries], (
                name
            )
            assert set(best_ids(reader, queries[0], N_ARTICLES, where)) == {law.ids[row] for row in law.met(where)}, (
                name
            )
        ranking = reader.search(queries[:1], N_ARTICLES + 1)[0]
        assert (len(ranking.ids), reader.width) == (N_ARTICLES, WIDTH)
        assert ranking.scores == pytest.approx(np.sort(law.vectors @ queries[0])[::-1], abs=1e-6)
        with pytest.raises(UsageError, match="k: must"):
            reader.search(queries, 0)
        with pytest.raises(UsageError, match="read"):
            reader.write(*law.arguments())
        with pytest.raises(UsageError, match="open"):
            place.engine.create(place.uri, LAST).search(queries, 1)

    def test_a_reader_keeps_its_version_while_another_is_written(self, place, law, queries):
        reader = place.written(law)
        before = best_ids(reader, queries[0])

        def tiles():
            yield 0, -law.vectors[:25]
            assert (best_ids(reader, queries[0]), n_articles(reader)) == (before, N_ARTICLES)
            yield 25, -law.vectors[25:50]

        place.engine.create(place.uri, LAST).write(law.ids[:50], tiles(), law.columns.of(range(50)))
        assert (best_ids(reader, queries[0]), n_articles(reader)) == (before, N_ARTICLES)
        assert n_articles(place.engine.open(place.uri, FIRST)) == N_ARTICLES  # one that starts now, of the former run
        assert n_articles(place.engine.open(place.uri, LAST)) == 50
        again = place.written(law.of(range(20)))  # the same state
        assert (best_ids(reader, queries[0]), n_articles(reader)) == (before, N_ARTICLES)
        assert best_ids(again, queries[0]) == law.of(range(20)).best(queries[0], 5, ANYWHERE)

    def test_only_the_two_newest_states_stay(self, place, law):
        states = [State(digit * 64, digit * 64) for digit in "123"]
        for state in states:
            place.written(law.of(range(3)), state)
        assert [n_articles(place.engine.open(place.uri, state)) for state in states[1:]] == [3, 3]
        with pytest.raises(EngineError, match="1" * 12):
            place.engine.open(place.uri, states[0])

    def test_writing_again_leaves_what_a_comparison_ranks(self, place, law, queries):
        written = place.engine.create(place.uri, FIRST).write(*law.arguments())
        assert (written.articles, written.changed, written.removed) == (N_ARTICLES, N_ARTICLES, 0)
        later = law.of(range(10, N_ARTICLES))
        later.vectors[:5] *= -1
        written = place.engine.create(place.uri, LAST).write(*later.arguments())
        assert written.articles == N_ARTICLES - 10
        if place.sends_changes:
            assert (written.changed, written.removed) == (5, 10)
        reader = place.engine.open(place.uri, LAST)
        for where in CONDITIONS.values():
            assert best_ids(reader, queries[1], 20, where) == later.best(queries[1], 20, where)

    def test_a_killed_writer_leaves_the_former_version(self, place, law, queries):
        best = best_ids(place.written(law), queries[0])
        place.let_go()
        path = os.pathsep.join([str(REPO), *sys.path])
        command = [sys.executable, "-c", WRITE_UNTIL_KILLED, place.name, place.uri]
        environment = {**os.environ, "PYTHONPATH": path}
        with subprocess.Popen(command, cwd=REPO, stdout=subprocess.PIPE, env=environment) as one:
            assert [one.stdout.readline() for _ in range(3)] == [b"0\n", b"1\n", b"2\n"]
            os.kill(one.pid, signal.SIGKILL)
        reader = place.engine.open(place.uri, FIRST)
        assert (best_ids(reader, queries[0]), n_articles(reader)) == (best, N_ARTICLES)
        with pytest.raises(EngineError, match="holds the vectors of corpus"):
            place.engine.open(place.uri, LAST)
        assert n_articles(place.written(law.of(range(30)), LAST)) == 30

    def test_vectors_that_do_not_fit_are_refused(self, place, law):
        reader = place.written(law)
        writer = place.engine.create(place.uri, LAST)
        for vectors in (np.ones((1, WIDTH + 1), dtype=np.float32), np.full((1, WIDTH), np.nan, dtype=np.float32)):
            with pytest.raises(EngineError, match=r"width 16|not finite"):
                writer.write(law.ids[:2], [(0, law.vectors[:1]), (1, vectors)], law.columns.of([0, 1]))
            with pytest.raises(EngineError, match=r"width 16|not finite"):
                reader.search(vectors, 1)
        with pytest.raises(RunError, match="art '1'"):
            writer.write(["art '1'"] * 2, [(0, law.vectors[:2])], law.columns.of([0, 1]))
        with pytest.raises(RunError, match="1 vectors, but 2 article ids"):
            writer.write(law.ids[:2], [(0, law.vectors[:1])], law.columns.of([0, 1]))
        with pytest.raises(UsageError, match="each"):
            writer.write(law.ids[:2], [(0, law.vectors[:2])], law.columns.of([0]))
        with pytest.raises(EngineError, match="no articles"):
            writer.write([], [], law.columns.of([]))
        with pytest.raises(EngineError, match="not of"):
            place.engine.open(place.uri, LAST)

    def test_another_corpus_or_run_is_refused(self, place, law):
        place.written(law.of(range(3)))
        with pytest.raises(EngineError, match=f"{'a' * 12}, not of {'b' * 12}"):
            place.engine.open(place.uri, LAST)
        with pytest.raises(EngineError, match=f"not run {'2' * 12}"):
            place.engine.open(place.uri, State(FIRST.corpus_hash, LAST.run_id))

    def test_an_engine_that_is_away_is_reported_in_one_line(self, place):
        with pytest.raises(EngineError) as refused:
            place.engine.open(place.away, FIRST)
        assert str(refused.value).startswith(f"{place.away}: ")
        assert "\n" not in str(refused.value)
