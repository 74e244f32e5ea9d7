"""The layout by forces."""

LAYOUT = """async ([count, edges, size]) => {
  const { layout } = await import("/static/js/force.js");
  return layout(count, edges, size).map(({ x, y }) => [x, y]);
}"""
SIZE = {"width": 600, "height": 400, "margin": {"x": 50, "y": 30}}


def distance(one, other) -> float:
    return ((one[0] - other[0]) ** 2 + (one[1] - other[1]) ** 2) ** 0.5


def test_one_node_is_in_the_middle(evaluate):
    assert evaluate(LAYOUT, [1, [], SIZE]) == [[300, 200]]


def test_the_same_graph_is_drawn_the_same_within_its_margins(evaluate):
    edges = [[0, other] for other in range(1, 30)] + [[1, 2], [2, 3]]
    points = evaluate(LAYOUT, [30, edges, SIZE])
    assert points == evaluate(LAYOUT, [30, edges, SIZE])
    assert all(50 - 1e-6 <= x <= 550 + 1e-6 and 30 - 1e-6 <= y <= 370 + 1e-6 for x, y in points)
    assert min(distance(one, other) for row, one in enumerate(points) for other in points[:row]) > 5


def test_edges_bring_together_what_they_join(evaluate):
    # Two triangles and one edge between them.
    edges = [[0, 1], [1, 2], [2, 0], [3, 4], [4, 5], [5, 3], [2, 3]]
    points = evaluate(LAYOUT, [6, edges, {**SIZE, "width": 400}])
    within = [distance(points[one], points[other]) for one, other in edges[:6]]
    across = [distance(points[one], points[other]) for one in (0, 1) for other in (4, 5)]
    assert max(within) < min(across)
