from dataclasses import replace

from statgraph.contrib.plots.corpus import codes_figure, corpus_figures, labels_figure
from statgraph.law.records import Article


def bars(figure):
    """Return by label the length of the bar of each series."""
    (axes,) = figure.axes
    labels = [label.get_text() for label in axes.get_yticklabels()]
    lengths = [[bar.get_width() for bar in series] for series in axes.containers]
    return dict(zip(labels, zip(*lengths, strict=True), strict=True))


def key(figure):
    return [text.get_text() for legend in figure.legends for text in legend.get_texts()]


def test_the_largest_code_first(two_codes):
    figure = codes_figure(two_codes)
    assert bars(figure) == {"Code A": (3,), "Code B": (1,)}
    assert figure.axes[0].yaxis_inverted()
    assert key(figure) == []


def test_past_thirty_codes_the_smallest_share_a_bar(two_codes):
    articles = [Article(f"{code}.{n}", "", "x", (f"Code {code}",), n) for code in range(32) for n in range(40 - code)]
    first, *_, last = by_code = list(bars(codes_figure(replace(two_codes, articles=tuple(articles)))).items())
    assert len(by_code) == 30
    assert first == ("Code 0", (40,))
    assert last == ("3 other codes", (11 + 10 + 9,))


def test_questions_by_their_articles_and_split(two_codes):
    figure = labels_figure(two_codes)
    assert key(figure) == ["train", "test"]  # no dev question
    assert bars(figure) == {"1": (1, 0), "2": (1, 0), "3": (0, 0), "4": (0, 1)}
    (axes,) = figure.axes
    assert [text.get_text() for text in axes.texts] == ["1", "1", "0", "1"]
    assert [bar.get_x() for bar in axes.containers[1]] == [1, 1, 0, 0]  # behind those of train


def test_questions_of_many_articles_share_bars(two_codes):
    first, second, third = two_codes.questions
    many = replace(third, article_ids=tuple(map(str, range(23))))
    eleven = replace(second, article_ids=tuple(map(str, range(11))))
    by_count = bars(labels_figure(replace(two_codes, questions=(first, eleven, many))))
    assert list(by_count) == [*map(str, range(1, 11)), "11–20", "21–23"]
    assert (by_count["10"], by_count["11–20"], by_count["21–23"]) == ((0, 0), (1, 0), (0, 1))


def test_a_corpus_without_questions_has_no_labels(two_codes):
    assert list(corpus_figures(two_codes)) == ["codes", "labels"]
    assert list(corpus_figures(replace(two_codes, questions=()))) == ["codes"]
