"""The drawing of a neighbourhood: the nodes are those of the service, all of them links, and it can be moved about."""

import re

import pytest

ADDRESS = "/?article=H26"


@pytest.fixture
def drawn(open_page, expect):
    """Return the page with the neighbourhood of article 26 drawn."""
    page = open_page(ADDRESS)
    expect(page.locator(".node.centre")).to_be_attached()
    page.locator(".graph-frame").scroll_into_view_if_needed()
    return page


def view(page) -> list[float]:
    """Return [x, y, zoom] of the drawing."""
    transform = page.locator(".graph-frame svg > g").get_attribute("transform")
    return [float(part) for part in re.findall(r"-?[\d.]+(?:e-?\d+)?", transform)]


def test_nodes_and_edges_are_those_of_the_service(drawn, service, expect):
    graph = service.get("/api/graph/H26?hops=2")
    shown = drawn.locator(".node").evaluate_all("nodes => nodes.map(node => node.dataset.node)")
    assert sorted(shown) == sorted(node["id"] for node in graph["nodes"])
    expect(drawn.locator(".edge")).to_have_count(len(graph["edges"]))
    cites = [edge for edge in graph["edges"] if edge["relation"] == "cites"]
    assert drawn.locator(".edge.relation-cites").count() == len(cites) > 0
    assert drawn.locator(".node.centre").get_attribute("data-node") == "article:H26"
    assert drawn.locator(".legend li").all_inner_texts() == [
        *("Article", "Heading", "Question that cites it"),
        *("answered by", "contains", "refers to"),
    ]


def test_the_list_has_the_same_nodes(drawn, service):
    nodes = service.get("/api/graph/H26?hops=2")["nodes"]
    drawn.locator(".node-list summary").click()
    listed = drawn.locator(".node-list a").all_inner_texts()
    assert sorted(listed) == sorted(node["title"] for node in nodes[1:])
    assert drawn.locator(".node-list summary").inner_text() == f"The same as a list ({len(nodes) - 1} nodes)"
    link = drawn.get_by_role("link", name="Art. 19, Housing Code", exact=True)
    reference = drawn.locator(".node-list li").filter(has=link)
    assert reference.locator(".node-edge").inner_text() == "← Art. 26, Housing Code refers to"
    reference.locator("a").focus()
    assert "pointed" in drawn.locator("[data-node='article:H19']").get_attribute("class")


def test_each_kind_of_node_leads_somewhere(drawn, service, expect):
    node = "[data-node='{}'] a"
    (heading,) = (node for node in service.get("/api/graph/H26?hops=1")["nodes"] if node["kind"] == "heading")
    assert drawn.get_attribute(node.format(heading["id"]), "href") == (
        f"?heading={heading['id'].removeprefix('heading:')}&article=H26"
    )
    question = drawn.locator(".node.of-kind-question a").first
    assert question.get_attribute("href").startswith("?q=")
    drawn.locator("[data-node='article:H19'] .shape").click()
    expect(drawn.locator("#article h2")).to_have_text("Art. 19, Housing Code")
    expect(drawn.locator(".node.centre")).to_have_attribute("data-node", "article:H19")


def test_fewer_steps_fewer_nodes(drawn, service, expect):
    expect(drawn.get_by_role("button", name="Within 2 steps")).to_have_attribute("aria-pressed", "true")
    drawn.get_by_role("button", name="Within 1 step").click()
    expect(drawn.locator(".node")).to_have_count(len(service.get("/api/graph/H26?hops=1")["nodes"]))
    expect(drawn.get_by_role("button", name="Within 1 step")).to_be_focused()


def test_keys_move_and_zoom(drawn):
    drawn.locator(".graph-frame").focus()
    drawn.keyboard.press("ArrowRight")
    drawn.keyboard.press("ArrowDown")
    assert view(drawn) == [-48, -48, 1]
    drawn.keyboard.press("+")
    x, y, zoom = view(drawn)
    assert zoom == pytest.approx(1.4)
    drawn.keyboard.press("ArrowLeft")
    assert view(drawn) == pytest.approx([x + 48, y, zoom])  # as far on the screen at any zoom
    drawn.keyboard.press("0")
    assert view(drawn) == [0, 0, 1]


def test_dragging_moves_and_does_not_click(drawn):
    node = drawn.locator("[data-node='article:H19'] .shape")
    place = node.bounding_box()
    x, y = place["x"] + 5, place["y"] + 5
    drawn.mouse.move(x, y)
    drawn.mouse.down()
    drawn.mouse.move(x + 10, y)
    drawn.mouse.move(x + 40, y + 20)
    drawn.mouse.up()
    moved = node.bounding_box()
    assert (moved["x"] - place["x"], moved["y"] - place["y"]) == (pytest.approx(40, abs=1), pytest.approx(20, abs=1))
    assert drawn.url.endswith(ADDRESS)
    assert drawn.locator("#article h2").inner_text() == "Art. 26, Housing Code"


LAYOUT = """async ([count, edges, size]) => {
  const { layout } = await import("/static/js/force.js");
  return layout(count, edges, size).map(({ x, y }) => [x, y]);
}"""
SIZE = {"width": 600, "height": 400, "margin": {"x": 50, "y": 30}}


def distance(one, other) -> float:
    return ((one[0] - other[0]) ** 2 + (one[1] - other[1]) ** 2) ** 0.5


def test_edges_bring_together_what_they_join(evaluate):
    # Two triangles and one edge between them.
    edges = [[0, 1], [1, 2], [2, 0], [3, 4], [4, 5], [5, 3], [2, 3]]
    points = evaluate(LAYOUT, [6, edges, {**SIZE, "width": 400}])
    within = [distance(points[one], points[other]) for one, other in edges[:6]]
    across = [distance(points[one], points[other]) for one in (0, 1) for other in (4, 5)]
    assert max(within) < min(across)


# The labels: 6.1 pixels a character, 15 high, 10 away from their node.
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
