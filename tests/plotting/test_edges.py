from statgraph.plotting.edges import edges_drawing


def test_each_relation_once(two_codes):
    assert edges_drawing(two_codes).rows == (
        ("heading-contains_article-article", "tree", "yes", 4),
        ("heading-contains_heading-heading", "tree", "yes", 3),  # A-Book I, A-Book II, Book II-Title
        ("question-cites-article", "bipartite", "yes", 3),  # the test question is not in the graph
        ("article-precedes-article", "order", "no", 1),  # b before c
    )
