import pytest

from benchmarks.measures.query import overlap, plain_search, rows_of, seconds_of
from statgraph.search.retriever import Retriever


def test_the_rows_say_what_holds():
    time, rival = rows_of("one", [0.004, 0.006, 0.02], [0.012, 0.03, 0.02], 0.99, 50.0, 50.4)
    assert (time.reached, time.holds) == ("6 ms [4 to 20]", True)
    assert (rival.reached, rival.holds) == ("3.0 times [1.0 to 5.0]", True)
    assert "same to 99.0%" in time.note
    assert "Quality on dev 50.0, 0.4 points from float32's" in time.note


@pytest.mark.parametrize(("seconds", "quality"), [([0.011] * 3, 50.0), ([0.001] * 3, 49.4)])
def test_neither_slow_nor_other_hits_hold(seconds, quality):
    time, _ = rows_of("one", seconds, [0.01] * 3, 1.0, quality, 50.0)
    assert time.holds is False


def test_the_overlap_is_the_rival_s_share():
    ours, theirs = {"a": ["1", "2"], "b": ["3"]}, {"a": ["2", "9"], "b": ["3", "4", "5", "6"]}
    assert overlap(ours.__getitem__, theirs.__getitem__, ["a", "b"]) == pytest.approx((1 / 2 + 1 / 4) / 2)


def test_all_search_for_a_question_before_the_next():
    heard = []
    searches = {name: lambda text, name=name: heard.append(name + text) for name in "xy"}
    seconds = seconds_of(searches, ["1", "2"])
    assert heard == ["x1", "y1", "x2", "y2"]
    assert {name: len(values) for name, values in seconds.items()} == {"x": 2, "y": 2}


def test_the_rival_finds_what_we_find(sample_run):
    question = "Who gets the deposit back?"
    hits = Retriever.load(sample_run.folder, device="cpu").search(question)
    assert plain_search(sample_run.folder)(question) == [hit.article_id for hit in hits]
