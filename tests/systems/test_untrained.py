from dataclasses import replace

import pytest

from statgraph import Retriever
from statgraph.corpus.records import CitingText
from statgraph.runs.run import Run
from statgraph.systems.untrained import untrained_run


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("STATGRAPH_CACHE", str(tmp_path))


def test_another_state_of_the_corpus_is_another_run(town_corpus):
    run = untrained_run(town_corpus)
    assert untrained_run(town_corpus) == run
    amended = replace(town_corpus.articles[0], text="Unicorns are free.")
    other = untrained_run(replace(town_corpus, articles=(amended, *town_corpus.articles[1:])))
    assert other != run
    assert Retriever.load(other).search("unicorns")[0].article_id == amended.article_id


def test_a_citing_text_of_a_test_question_is_not_indexed(town_corpus):
    """One of a training question is."""
    splits = {split: town_corpus.split(split)[0] for split in ("train", "test")}
    citing = tuple(
        CitingText(f"c-{split}", "Guide", f"A word for {split}: {split}ish.", ("lamps1",), question.question_id)
        for split, question in splits.items()
    )
    run = Run.read(untrained_run(replace(town_corpus, citing=citing)))
    assert (run.signals / "citing").is_dir()
    retriever = Retriever.of(run)
    assert [hit.article_id for hit in retriever.search("trainish")][:1] == ["lamps1"]
    assert retriever.search("testish") == []
