from dataclasses import replace

from statgraph.plotting.degrees import degrees_drawing


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
