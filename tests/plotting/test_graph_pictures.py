from dataclasses import replace

from statgraph.plotting.graph_pictures import degrees_drawing, edges_drawing


def test_each_relation_once(two_codes):
    assert edges_drawing(two_codes).rows == (
        ("heading-contains_article-article", "tree", "yes", 4),
        ("heading-contains_heading-heading", "tree", "yes", 3),  # A-Book I, A-Book II, Book II-Title
        ("question-cites-article", "bipartite", "yes", 3),  # the test question is not in the graph
        ("article-precedes-article", "order", "no", 1),  # b before c
        ("article-refers_to-article", "citations", "no", 0),
        ("citing-cites-article", "citing", "no", 0),
    )


def test_three_distributions(two_codes):
    drawing = degrees_drawing(two_codes)
    children, citing, cited = (
        [row[1:] for row in drawing.rows if row[0].startswith(what)] for what in ("children", "training", "articles")
    )
    assert children == [("1", 3), ("2–3", 2)]  # Book I, Book II and Code B have one, Code A and the title two
    assert citing == [("0", 2), ("1", 1), ("2–3", 1)]  # a twice, b once
    assert cited == [("1", 1), ("2–3", 1)]
    assert "50 % of the articles are cited by no training question" in drawing.description
    assert len(drawing.figure.axes) == 3


def test_without_training_questions(two_codes):
    drawing = degrees_drawing(replace(two_codes, questions=()))
    assert len(drawing.figure.axes) == 2
    assert ("training questions that cite an article", "0", 4) in drawing.rows
