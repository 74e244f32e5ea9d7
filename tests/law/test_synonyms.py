"""The user's file of synonyms, from the corpus folder to the hits."""

import json
import shutil

import pytest

from statgraph import Retriever, api, read_corpus
from statgraph.errors import CorpusError, RunError
from statgraph.law.store import write_corpus
from statgraph.law.synonyms import Synonyms, parse_synonyms
from statgraph.systems.pipeline import train_run, untrained_run
from statgraph.systems.presets import resolve_config

TEXT = """# What readers call it.
street lights, lamps  # both ways

hound => dogs, dog tax
"""


@pytest.fixture
def folder(town_corpus, tmp_path):
    """Return the town's folder with a file of synonyms."""
    write_corpus(town_corpus, tmp_path / "town")
    (tmp_path / "town" / "synonyms.txt").write_text(TEXT)
    return tmp_path / "town"


def test_lines_go_both_ways_or_one():
    lines, problems = parse_synonyms(TEXT, "synonyms.txt")
    both = ("street lights", "lamps")
    assert (lines, problems) == ([Synonyms(both, both), Synonyms(("hound",), ("dogs", "dog tax"))], [])


def test_each_bad_line_is_one_problem(folder):
    (folder / "synonyms.txt").write_text("bond\nbond, , deposit\n=> deposit\na => b => c\nbond, §\nrent, rents\n")
    with pytest.raises(CorpusError) as refused:
        read_corpus(folder)
    assert refused.value.problems == (
        "synonyms.txt:1: 'bond' has no other word; write 'word, synonym' or 'word => synonym'",
        "synonyms.txt:2: no word before, between or after a comma or '=>'; remove it",
        "synonyms.txt:3: no word before, between or after a comma or '=>'; remove it",
        "synonyms.txt:4: '=>' occurs twice; write one line for each",
        "synonyms.txt:5: no word before, between or after a comma or '=>'; remove it",
    )


def test_a_run_keeps_them_and_finds_by_them(folder, tmp_path):
    corpus = read_corpus(folder)
    run = train_run(corpus, resolve_config("bm25", ["device=cpu"]), tmp_path / "run").folder
    shutil.rmtree(folder)
    assert (run / "synonyms.txt").read_text() == TEXT
    for question, word in (("street lights", "lamp"), ("hound", "dog")):
        best = Retriever.load(run).search(question, 3)[0]
        assert word in best.text.lower()
    (run / "synonyms.txt").write_text("hound => lamps")  # edited with the run, without training again
    assert {"lamp" in f"{hit.title} {hit.text}".lower() for hit in Retriever.load(run).search("hound", 3)} == {True}
    (run / "synonyms.txt").write_text("hound")
    with pytest.raises(RunError, match=r"synonyms\.txt:1: 'hound' has no other word"):
        Retriever.load(run)


def test_a_search_without_training_has_them(folder, town_corpus, monkeypatch):
    monkeypatch.setattr("statgraph.systems.pipeline.EMBEDDED_MOST", 0)  # words find by them, a transformer does not
    with_synonyms, without = (untrained_run(corpus) for corpus in (read_corpus(folder), town_corpus))
    assert with_synonyms != without
    question = "Who feeds a hound?"
    (best, *_), plain = (Retriever.load(run, device="cpu").search(question, 3) for run in (with_synonyms, without))
    assert "dog" in best.text.lower()
    assert best.article_id not in [hit.article_id for hit in plain[:1]] or best.score > plain[0].score


def test_an_update_takes_new_ones_and_keeps_old_ones(folder, town_corpus, tmp_path):
    run = train_run(read_corpus(folder), resolve_config("bm25", ["device=cpu"]), tmp_path / "run").folder
    assert not api.update(run, town_corpus).summary.written
    (folder / "synonyms.txt").write_text("hound => lamps\n")
    assert api.update(run, read_corpus(folder)).summary.written
    assert (run / "synonyms.txt").read_text() == "hound => lamps\n"


def test_a_corpus_written_over_keeps_the_users_file(folder, town_corpus):
    write_corpus(town_corpus, folder)
    assert (folder / "synonyms.txt").read_text() == TEXT
    assert (
        read_corpus(folder).content_hash
        == town_corpus.content_hash
        == json.loads((folder / "manifest.json").read_text())["content_hash"]
    )
