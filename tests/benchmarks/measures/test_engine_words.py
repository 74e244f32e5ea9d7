from benchmarks.measures import engine_words
from benchmarks.measures.engine_words import measure
from benchmarks.settings import Settings
from statgraph.corpus.catalogue import sample_folder


def test_the_embedded_engine_ranks_words_as_we_do(monkeypatch):
    monkeypatch.setattr(engine_words, "PACKAGES", {"faiss": "faiss", "lance": "no_such_package"})
    rows = measure(Settings(sample_folder(), quick=True))
    assert rows[0].what.endswith(", all")
    assert all(row.reached.startswith("@10 1.000 (1.000), @100 1.000 (1.000); p50 ") for row in rows[:2])
    assert (rows[2].reached, rows[2].note) == ("not measured", "no_such_package was not installed.")
