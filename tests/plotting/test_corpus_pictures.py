from dataclasses import replace

from statgraph.corpus.records import Article, Question
from statgraph.plotting.corpus_pictures import (
    codes_drawing,
    corpus_drawings,
    depths_drawing,
    labels_drawing,
    lengths_drawing,
)


def test_the_largest_code_first(two_codes):
    drawing = codes_drawing(two_codes)
    assert drawing.rows == (("Code A", 3), ("Code B", 1))
    assert "4 in 2 codes, 75 % of them in Code A" in drawing.description


def test_past_thirty_codes_the_smallest_share_a_bar(two_codes):
    articles = [Article(f"{code}.{n}", "", "x", (f"Code {code}",), n) for code in range(32) for n in range(40 - code)]
    rows = codes_drawing(replace(two_codes, articles=tuple(articles))).rows
    assert len(rows) == 30
    assert rows[0] == ("Code 0", 40)
    assert rows[-1] == ("3 other codes", 11 + 10 + 9)


def test_articles_by_the_headings_above_them(two_codes):
    drawing = depths_drawing(two_codes)
    assert drawing.rows == ((1, 1), (2, 1), (3, 2))
    assert "3 is the commonest number, 3 the greatest" in drawing.description
    assert drawing.hovers["bar-0-2"] == ("headings above the article 3: 2",)


def test_articles_by_their_words(two_codes):
    drawing = lengths_drawing(two_codes)
    assert drawing.rows == (("1", 1), ("2–3", 2), ("4–7", 0), ("8–15", 1))  # 1, 2, 3 and 8 words
    assert "Half have 2 words or fewer" in drawing.description  # the median 2.5 rounds to the even number
    assert "the longest 8." in drawing.description


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


def test_without_questions_there_are_no_labels(two_codes):
    names = ["codes", "depths", "lengths", "labels"]
    assert [drawing.name for drawing in corpus_drawings(two_codes)] == names
    assert [drawing.name for drawing in corpus_drawings(replace(two_codes, questions=()))] == names[:3]
