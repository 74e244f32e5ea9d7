from benchmarks.measures.importing import write_act
from statgraph.formats.importing import import_corpus


def test_an_act_is_as_large_as_asked_and_every_section_is_read(tmp_path):
    n_sections = write_act(tmp_path / "act.xml", 800_000)
    corpus = import_corpus(tmp_path / "act.xml")
    assert 800_000 <= (tmp_path / "act.xml").stat().st_size < 830_000
    assert len(corpus.articles) == n_sections > 50
    assert corpus.articles[1].metadata["references"]
