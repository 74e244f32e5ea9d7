from statgraph.plotting.depths import depths_drawing


def test_articles_by_the_headings_above_them(two_codes):
    drawing = depths_drawing(two_codes)
    assert drawing.rows == ((1, 1), (2, 1), (3, 2))
    assert "3 is the commonest number, 3 the greatest" in drawing.description
    assert drawing.hovers["bar-0-2"] == ("headings above the article 3: 2",)
