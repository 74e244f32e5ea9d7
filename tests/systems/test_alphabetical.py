from statgraph.search.retriever import Retriever


def test_the_first_id_comes_first(train_town, town_corpus):
    hits = Retriever.load(train_town("alphabetical")).search("anything", k=2)
    assert [hit.article_id for hit in hits] == sorted(town_corpus.article_rows)[:2]
