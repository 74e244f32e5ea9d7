from dataclasses import replace

from statgraph.corpus.records import Question
from statgraph.plotting.labels import labels_drawing


def test_questions_by_their_articles_and_split(two_codes):
    drawing = labels_drawing(two_codes)
    assert drawing.columns == ("articles", "train", "test")  # no dev question
    assert drawing.rows == (("1", 1, 0), ("2", 1, 0), ("3", 0, 0), ("4", 0, 1))
    assert "Half have 2 or fewer, the mean is 2.3, the most 4" in drawing.description


def test_many_articles_share_a_bar(two_codes):
    questions = tuple(
        Question(f"q{count}", "?", "dev", tuple(map(str, range(count)))) for count in (10, 11, 20, 21, 120)
    )
    rows = labels_drawing(replace(two_codes, questions=questions)).rows
    assert rows[9:] == (("10", 1), ("11–20", 2), ("21–50", 1), ("51–100", 0), ("101–120", 1))
