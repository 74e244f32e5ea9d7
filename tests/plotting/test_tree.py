from statgraph.plotting.tree import tree_drawing


def test_the_tree_of_the_largest_code(two_codes):
    drawing = tree_drawing(two_codes)
    assert drawing.title == "Code A, as a tree"
    assert drawing.rows == (("Book I", 0, 1), ("Book II", 1, 2))
    assert [said for (said,) in drawing.hovers.values()] == [
        "Code A: 3 articles", "Code A > Book I: 1 articles", "Code A > Book II: 2 articles",
        "Code A > Book II > Title <1>: 2 articles",
    ]  # fmt: skip
    assert [text.get_text() for text in drawing.figure.axes[0].texts] == ["Code A", "Book I", "Book II", "Title <1>"]


def test_a_code_without_headings(two_codes):
    drawing = tree_drawing(two_codes, "Code B")
    assert (drawing.rows, len(drawing.hovers)) == ((), 1)
