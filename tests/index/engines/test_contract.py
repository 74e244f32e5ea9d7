"""What every engine must do, over each of them whose package is installed (`make engines` installs all)."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from statgraph.config import Bm25Config, IndexConfig
from statgraph.corpus.where import ANYWHERE, Where
from statgraph.errors import DependencyError, EngineError, RunError, UsageError
from statgraph.index.engines.contract import State
from statgraph.lexical.analysis import TERMS
from statgraph.lexical.bm25 import BM25
from tests.index.engines.conftest import BOOKS, FIRST, LAST, N_ARTICLES, REPEALED, WIDTH

REPO = Path(__file__).parents[3]
CONDITIONS = {
    "all": ANYWHERE,
    "a code": Where(codes=("Code 1",)),
    "two codes": Where(codes=("Code 0", "Code 2")),
    **{f"under {book}": Where(heading=("Code 1", book)) for book in BOOKS},
    "in force": Where(day=REPEALED),
    "ids": Where(ids=("art '3'", "art '7'", "nowhere")),
    "all at once": Where(("Code 0",), ("Code 0", "Book 10"), REPEALED, tuple(f"art '{row}'" for row in range(150))),
    "a code that is not there": Where(codes=("Code",)),
    "no ids": Where(ids=()),
}


def found(engine, query: np.ndarray, k: int = 5, where: Where = ANYWHERE) -> list[str]:
    return list(engine.search(query[None], k, where)[0].ids)


def test_a_search_finds_what_a_comparison_with_every_article_finds(place, law, queries):
    reader = place.committed(law) and place.engine.open(place.uri, FIRST)
    for name, where in CONDITIONS.items():
        rankings = reader.search(queries, 10, where)
        assert [list(ranking.ids) for ranking in rankings] == [law.best(query, 10, where) for query in queries], name
        assert reader.count(where) == len(law.met(where)), name
    ranking = reader.search(queries[:1], N_ARTICLES + 1)[0]
    assert (len(ranking.ids), reader.width) == (N_ARTICLES, WIDTH)
    assert ranking.scores == pytest.approx(np.sort(law.vectors @ queries[0])[::-1], abs=1e-6)
    assert reader.score(ranking.ids[2:0:-1], queries[:1]).tolist() == [ranking.scores[2:0:-1].tolist()]
    with pytest.raises(UsageError, match="nowhere"):
        reader.score(["art '1'", "nowhere"], queries)
    with pytest.raises(UsageError, match="k must"):
        reader.search(queries, 0)
    with pytest.raises(UsageError, match="read"):
        reader.add(*law.arguments())


def test_the_next_search_sees_what_was_added_changed_and_deleted(place, law, queries):
    query = queries[0]
    writer = place.engine.create(place.uri, FIRST)
    assert (writer.count(), found(writer, query)) == (0, [])
    writer.add(*law.of(range(100)).arguments())
    assert found(writer, query) == law.of(range(100)).best(query, 5, ANYWHERE)
    writer.add(*law.of(range(100, N_ARTICLES)).arguments())
    best = law.best(query, 5, ANYWHERE)
    assert found(writer, query) == best

    moved = law.of([law.ids.index(best[0])])
    writer.add(moved.ids, -moved.vectors, moved.columns)  # now the worst
    assert (found(writer, query, 4), writer.count()) == (best[1:], N_ARTICLES)
    writer.delete([best[1], "nowhere"])
    assert (found(writer, query, 3), writer.count()) == (best[2:], N_ARTICLES - 1)
    writer.commit()
    assert found(place.engine.open(place.uri, FIRST), query, 3) == best[2:]


def test_repealed_law_is_left_out_from_the_day_of_its_repeal(place, law, queries):
    reader = place.committed(law) and place.engine.open(place.uri, FIRST)
    repealed = {law.ids[row] for row in range(0, N_ARTICLES, 7)}
    assert set(found(reader, queries[0], N_ARTICLES, Where(day=REPEALED - 1))) == set(law.ids)
    assert set(found(reader, queries[0], N_ARTICLES, Where(day=REPEALED))) == set(law.ids) - repealed


def test_a_reader_keeps_its_version_while_another_is_written(place, law, queries):
    writer = place.committed(law)
    reader = place.engine.open(place.uri, FIRST)
    before = found(reader, queries[0])
    second = place.engine.create(place.uri, LAST)
    second.add(law.ids[:50], -law.vectors[:50], law.columns.of(range(50)))
    assert (found(reader, queries[0]), reader.count()) == (before, N_ARTICLES)
    second.commit()
    assert (found(reader, queries[0]), reader.count()) == (before, N_ARTICLES)
    assert place.engine.open(place.uri, FIRST).count() == N_ARTICLES  # one that starts now, of the former run
    assert place.engine.open(place.uri, LAST).count() == 50
    if not place.engine.keeps_version:
        return
    writer = place.committed(law.of(range(20)))
    assert (found(reader, queries[0]), reader.count()) == (before, N_ARTICLES)
    reader.refresh()
    assert reader.count() == 20
    assert found(reader, queries[0]) == found(writer, queries[0])


def test_only_the_two_newest_states_stay(place, law):
    states = [State(digit * 64, digit * 64) for digit in "123"]
    for state in states:
        place.committed(law.of(range(3)), state)
    assert [place.engine.open(place.uri, state).count() for state in states[1:]] == [3, 3]
    with pytest.raises(EngineError, match="1" * 12):
        place.engine.open(place.uri, states[0])


def test_writing_again_leaves_what_a_comparison_finds(place, law, queries):
    written = place.engine.create(place.uri, FIRST).write(law.ids, [(0, law.vectors)], law.columns)
    assert (written.articles, written.changed, written.removed) == (N_ARTICLES, N_ARTICLES, 0)
    later = law.of(range(10, N_ARTICLES))
    later.vectors[:5] *= -1
    tiles = [(0, later.vectors[:100]), (100, later.vectors[100:])]
    written = place.engine.create(place.uri, LAST).write(later.ids, tiles, later.columns)
    assert written.articles == N_ARTICLES - 10
    if place.name == "lance":
        assert (written.changed, written.removed) == (5, 10)
    reader = place.engine.open(place.uri, LAST)
    for where in CONDITIONS.values():
        assert found(reader, queries[1], 20, where) == later.best(queries[1], 20, where)


def test_words_find_what_shares_one_and_meets_the_condition_best_first(place, worded):
    """The order is that of our own BM25 as far as engines agree on the weights: its best are among the first."""
    reader = place.committed(worded) and place.engine.open(place.uri, FIRST)
    bm25 = BM25(worded.columns.words, language=TERMS, k1=Bm25Config.k1, b=Bm25Config.b)
    for name, where in CONDITIONS.items():
        for words in ("法律 w8", "été n17 nowhere"):
            (ranking,) = reader.search_text([words], N_ARTICLES, where)
            assert set(ranking.ids) == worded.sharing(words, where), (name, words)
            assert len(set(ranking.ids)) == len(ranking.ids)
            assert (np.diff(ranking.scores) <= 0).all()
            assert (ranking.scores > 0).all()
            (first,) = reader.search_text([words], 3, where)
            assert first.scores.tolist() == ranking.scores[:3].tolist()
            ours = bm25.scores(words)[worded.met(where)]
            best = {worded.ids[row] for row in np.array(worded.met(where))[np.argsort(-ours, kind="stable")[:3]]}
            if len(ranking.ids) > 20:
                assert len(best & set(ranking.ids[:20])) >= 2, (name, words)
    assert [ranking.ids for ranking in reader.search_text(["n17", "", "nowhere"], 5)] == [("art '17'",), (), ()]
    with pytest.raises(UsageError, match="k must"):
        reader.search_text(["w1"], 0)


def test_the_next_search_of_words_sees_what_was_added_changed_and_deleted(place, worded):
    def found(engine, words: str) -> list[str]:
        return sorted(engine.search_text([words], 5)[0].ids)

    writer = place.engine.create(place.uri, FIRST, bm25=Bm25Config())
    assert found(writer, "n1") == []
    writer.add(*worded.of(range(10)).arguments())
    changed = replace(worded.columns.of([2]), words=["harbour"])
    writer.add(worded.ids[2:3], worded.vectors[2:3], changed)
    writer.delete([worded.ids[3]])
    after = {"n1": ["art '1'"], "n2": [], "n3": [], "harbour": ["art '2'"]}
    assert {words: found(writer, words) for words in after} == after
    writer.commit()
    assert {words: found(place.engine.open(place.uri, FIRST), words) for words in after} == after
    first = place.engine.open(place.uri, FIRST)
    second = worded.of(range(1, 10))
    written = place.engine.create(place.uri, LAST, bm25=Bm25Config()).write(
        second.ids, [(0, second.vectors)], second.columns
    )
    if place.name == "lance":
        assert (written.changed, written.removed) == (2, 1)  # the words of 2, and 3 again; 0 is gone
    reader = place.engine.open(place.uri, LAST)
    after = {"n0": [], "n2": ["art '2'"], "n3": ["art '3'"], "harbour": []}
    assert {words: found(reader, words) for words in after} == after
    assert (found(first, "n0"), found(first, "harbour")) == (["art '0'"], ["art '2'"])


def test_a_state_without_words_says_how_to_write_them(place, law, worded):
    writer = place.committed(law)
    with pytest.raises(UsageError, match="bm25"):
        writer.add(*worded.of([0]).arguments())
    with pytest.raises(EngineError, match="--words") as told:
        place.engine.open(place.uri, FIRST).search_text(["w1"], 3)
    assert str(told.value).startswith(f"{place.uri}: ")
    place.engine.create(place.uri, FIRST, bm25=Bm25Config()).write(worded.ids, [(0, worded.vectors)], worded.columns)
    assert place.engine.open(place.uri, FIRST).search_text(["n4"], 3)[0].ids == ("art '4'",)
    place.committed(law.of(range(3)), LAST)  # and back
    assert not place.engine.open(place.uri, LAST).has_words


WRITE_UNTIL_KILLED = """
import sys
import numpy as np
from statgraph.index.engines.contract import Columns, State
from statgraph.registry import ENGINES

writer = ENGINES.load(sys.argv[1]).create(sys.argv[2], State("b" * 64, "2" * 64))
for number in range(10_000):
    ids = [f"x{number}-{row}" for row in range(50)]
    days = np.tile(np.array([0, 1000], dtype=np.int32), (50, 1))
    writer.add(ids, np.ones((50, 16), dtype=np.float32), Columns([("Code",)] * 50, days))
    print(number, flush=True)
"""


def test_a_killed_writer_leaves_the_former_version(place, law, queries):
    best = found(place.committed(law), queries[0])
    place.let_go()
    command = [sys.executable, "-c", WRITE_UNTIL_KILLED, place.name, place.uri]
    with subprocess.Popen(
        command, cwd=REPO, stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": str(REPO)}
    ) as one:
        assert [one.stdout.readline() for _ in range(3)] == [b"0\n", b"1\n", b"2\n"]
        os.kill(one.pid, signal.SIGKILL)
    reader = place.engine.open(place.uri, FIRST)
    assert (found(reader, queries[0]), reader.count()) == (best, N_ARTICLES)
    with pytest.raises(EngineError, match="holds the vectors of corpus"):
        place.engine.open(place.uri, LAST)
    place.committed(law.of(range(30)), LAST)
    assert place.engine.open(place.uri, LAST).count() == 30


def test_vectors_that_do_not_fit_are_refused(place, law, queries):
    writer = place.committed(law)
    for vectors in (np.ones((1, WIDTH + 1), dtype=np.float32), np.full((1, WIDTH), np.nan, dtype=np.float32)):
        with pytest.raises(EngineError, match=r"width 16|not finite"):
            writer.add(law.ids[:1], vectors, law.columns.of([0]))
        with pytest.raises(EngineError, match=r"width 16|not finite"):
            place.engine.open(place.uri, FIRST).search(vectors, 1)
    with pytest.raises(RunError, match="art '1'"):
        writer.add(["art '1'"] * 2, law.vectors[:2], law.columns.of([0, 1]))
    with pytest.raises(UsageError, match="each"):
        writer.add(law.ids[:2], law.vectors[:2], law.columns.of([0]))
    assert writer.count() == N_ARTICLES


def test_another_corpus_or_run_is_refused(place, law):
    with pytest.raises(EngineError, match="no articles"):
        place.engine.create(place.uri, FIRST).commit()
    place.committed(law.of(range(3)))
    with pytest.raises(EngineError, match=f"{'a' * 12}, not of {'b' * 12}"):
        place.engine.open(place.uri, LAST)
    with pytest.raises(EngineError, match=f"not run {'2' * 12}"):
        place.engine.open(place.uri, State(FIRST.corpus_hash, LAST.run_id))


def test_an_engine_that_is_away_is_told_in_one_line(place):
    with pytest.raises(EngineError) as told:
        place.engine.open(place.away, FIRST)
    assert str(told.value).startswith(f"{place.away}: ")
    assert "\n" not in str(told.value)


@pytest.mark.parametrize(("name", "package"), [("lance", "lancedb"), ("milvus", "pymilvus")])
def test_a_package_that_is_missing_is_named_with_its_extra(name, package, tmp_path, monkeypatch):
    from statgraph.registry import ENGINES

    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(DependencyError, match=rf"{package}.*statgraph\[{name}\]"):
        ENGINES.load(name).create(str(tmp_path / "law"), FIRST, IndexConfig())
