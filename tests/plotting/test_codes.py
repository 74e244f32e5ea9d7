from dataclasses import replace

from statgraph.corpus.records import Article
from statgraph.plotting.codes import codes_drawing


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
