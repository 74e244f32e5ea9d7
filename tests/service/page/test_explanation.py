"""Why a hit was found, as the service explains it: numbers, bars and links; of the trained sample and made up."""

import pytest

from statgraph.retrieval.signals.dense import KINDS
from statgraph.retrieval.signals.signal import TRAINED

EXPLANATION = {
    "score": 0.75,
    "own_text_score": 0.5,
    "without_graph_score": 0.8,
    "neighbours": [
        {"kind": "heading", "id": "abc", "title": "Section 2", "relation": "contains_article", "weight": 0.6},
        {"kind": "question", "id": "q1", "title": "Who pays?", "relation": "cites", "weight": 0.3},
        {"kind": "article", "id": "H19", "title": "Art. 19, Housing Code", "relation": "refers_to", "weight": -0.15},
    ],
    "terms": [{"term": "deposit", "weight": 2.5}],
}


@pytest.fixture
def explained(open_page, answers):
    """Return the page of a service that explains, and the bodies of the searches that it was asked."""
    asked = []

    def explain(route) -> None:
        fetched, body = route.fetch(), route.request.post_data_json
        asked.append(body)
        answer = fetched.json()
        if body.get("explain"):
            for hit in answer["hits"]:
                hit["explanation"] = None
            answer["hits"][0]["explanation"] = EXPLANATION
        route.fulfill(response=fetched, json=answer)

    def route(page) -> None:
        page.route("**/api/about", answers(change=lambda about: {**about, "explains": True}))
        page.route("**/api/search", explain)

    return open_page("/?q=deposit", before=route), asked


def test_it_is_fetched_when_it_is_asked_for(explained, expect):
    page, asked = explained
    why = page.get_by_role("button", name="Why this one?")
    expect(why).to_have_count(10)
    assert [body.get("explain", False) for body in asked] == [False]
    why.first.click()
    box = page.locator(".explanation")
    expect(box).to_be_visible()
    expect(box.locator("dt").first).to_be_hidden()
    # 0.8 of the score is without the graph, which takes 0.05 away: no reason.
    assert box.locator(".bars").first.locator("li").all_inner_texts() == ["Its meaning\n100%"]
    expect(box.locator("p")).to_have_text("Words it shares with the question: deposit")
    box.get_by_text("Technical detail").click()
    assert asked[1] == {**asked[0], "explain": True}
    assert box.locator("dt").all_inner_texts() == ["Score", "From its own text alone", "Changed by the graph"]
    assert box.locator("dd").all_inner_texts() == ["0.750", "0.500", "-0.050"]
    box = box.locator(".why-detail")
    assert box.locator(".bar-name").all_inner_texts() == ["Section 2", "Who pays?", "Art. 19, Housing Code", "deposit"]
    assert box.locator(".bars .number").all_inner_texts() == ["0.600", "0.300", "-0.150", "2.500"]
    shares = box.locator(".bar").evaluate_all("bars => bars.map(bar => bar.style.getPropertyValue('--share'))")
    assert shares == ["1", "0.5", "0.25", "1"]
    assert [link.get_attribute("href") for link in box.locator("a").all()] == [
        *("?q=deposit&heading=abc", "?q=Who+pays%3F", "?q=deposit&article=H19"),
    ]
    # The buttons below which it opened are where they were.
    marks = page.locator(".hit .feedback").first
    place = marks.bounding_box()
    why.first.click()
    expect(box).to_be_hidden()
    assert marks.bounding_box() == place


def test_hits_that_are_not_explained_say_so_and_one_call_explains_all(explained, expect):
    page, asked = explained
    page.get_by_role("button", name="Why this one?").nth(0).click()
    expect(page.locator(".explanation")).to_be_visible()
    page.get_by_role("button", name="Why this one?").nth(1).click()
    expect(page.locator(".why").nth(1)).to_have_text("The service has no explanation for this hit.")
    assert len(asked) == 2


def test_the_signals_of_an_ensemble_speak_the_readers_language(open_page, answers, expect):
    parts = [
        {"source": "dsr@e5", "amount": 0.5, "rank": 1, "article_id": None, "title": ""},
        {"source": "zero-shot@e5", "amount": 0.25, "rank": 2, "article_id": None, "title": ""},
        {"source": "section", "amount": 0.0625, "rank": 1, "article_id": "H19", "title": "Art. 19"},
        {"source": "titles", "amount": 0.1875, "rank": None, "article_id": None, "title": ""},
    ]
    why = {**EXPLANATION, "neighbours": [], "terms": [], "contributions": parts}
    explain = answers(change=lambda answer: {**answer, "hits": [{**hit, "explanation": why} for hit in answer["hits"]]})
    meaning = KINDS[TRAINED].words
    signals = {"dsr@e5": meaning, "zero-shot@e5": meaning, "titles": {}}

    def route(page) -> None:
        page.route("**/api/about", answers(change=lambda about: {**about, "explains": True, "signals": signals}))
        page.route("**/api/search", explain)

    page = open_page("/?q=deposit&lang=nl", before=route)
    page.locator(".hit button[aria-expanded]").first.click()
    # 0.75, 0.1875 and 0.0625 of 1: both encoders are one reason.
    reasons = page.locator(".explanation > .bars li")
    expect(reasons.locator(".bar-name")).to_have_text(
        ["De betekenis", "titles", "Artikelen onder dezelfde opschriften"]
    )
    expect(reasons.locator(".number")).to_have_text(["75%", "19%", "6%"])
    detail = page.locator(".why-detail")
    detail.locator("summary").click()
    expect(detail.locator(".bar-name")).to_have_text(
        [
            *("De betekenis: dsr@e5 (nr. 1)", "De betekenis: zero-shot@e5 (nr. 2)"),
            *("Beste onder hetzelfde opschrift: Art. 19, op plaats 1", "titles"),
        ]
    )
