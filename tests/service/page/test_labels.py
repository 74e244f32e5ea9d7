"""Which labels fit: worked out with 6.1 pixels a character, labels 15 high and 10 away from their node."""

import pytest

PLACE = """async ([points, labels, pulls, width]) => {
  const { placeLabels } = await import("/static/js/labels.js");
  return placeLabels(points.map(([x, y]) => ({ x, y })), labels, pulls, width);
}"""


@pytest.fixture
def place(evaluate):
    return lambda *told: evaluate(PLACE, told)


def test_a_label_looks_away_from_its_edges(place):
    # Ten characters are 61 pixels.
    assert place([[100, 50]], ["0123456789"], [0], 200) == ["right"]
    assert place([[100, 50]], ["0123456789"], [1], 200) == ["left"]


def test_a_label_keeps_within_the_drawing(place):
    # To the right of 150 it would end at 150 + 10 + 61 = 221.
    assert place([[150, 50]], ["0123456789"], [0], 200) == ["left"]
    # Neither side has 71 pixels; above it, half of 61 stands on each side.
    assert place([[50, 50]], ["0123456789"], [0], 100) == ["above"]
    assert place([[20, 20], [20, 50]], ["0123456789", "0123456789"], [0, 0], 60) == ["right", None]


def test_the_first_chooses_first(place):
    # The second node is 40 to the right, where the first's label would lie: that goes to the left.
    assert place([[100, 50], [140, 50]], ["0123456789", "0123456789"], [0, 0], 400) == ["left", "right"]
    # Ten below, the second's label would touch the first's on the right: 10 < 15.
    assert place([[100, 50], [100, 60]], ["0123456789", "0123456789"], [0, 0], 400) == ["right", "left"]


def test_a_title_is_shortened_to_whole_code_points(evaluate):
    shortened = "async ([title, most]) => (await import('/static/js/labels.js')).shortened(title, most)"
    assert evaluate(shortened, ["𝌆𝌆𝌆𝌆", 4]) == "𝌆𝌆𝌆𝌆"
    assert evaluate(shortened, ["𝌆𝌆 𝌆𝌆", 4]) == "𝌆𝌆…"
