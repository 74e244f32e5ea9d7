from statgraph.plotting.lengths import lengths_drawing


def test_articles_by_their_words(two_codes):
    drawing = lengths_drawing(two_codes)
    assert drawing.rows == (("1", 1), ("2–3", 2), ("4–7", 0), ("8–15", 1))  # 1, 2, 3 and 8 words
    assert "Half have 2 words or fewer" in drawing.description  # the median 2.5 rounds to the even number
    assert "the longest 8." in drawing.description
