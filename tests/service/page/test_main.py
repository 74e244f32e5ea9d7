"""The whole page: that everyone can use it (axe-core, WCAG), on a telephone too, and what it does when it starts."""

import os
from pathlib import Path

import pytest

REPO = Path(__file__).parents[3]
AXE = Path(os.environ.get("STATGRAPH_AXE") or REPO / "node_modules" / "axe-core" / "axe.min.js")
PHONE = {"width": 360, "height": 740}
DESK = {"width": 1280, "height": 900}


@pytest.mark.skipif(not AXE.is_file(), reason=f"{AXE} is not there; npm install axe-core, or name it in STATGRAPH_AXE")
@pytest.mark.parametrize(
    ("address", "scheme", "viewport", "over"),
    [
        ("/", "light", DESK, "service"),
        ("/?q=deposit&code=Housing+Code&as_of=2021-03-01&article=H26", "light", DESK, "dated_service"),
        ("/?q=deposit&code=Housing+Code&article=H26", "dark", DESK, "service"),
        ("/?q=deposit&code=Housing+Code&as_of=2021-03-01&lang=fr", "dark", PHONE, "dated_service"),
        ("/?q=deposit&code=Housing+Code&article=H26", "light", PHONE, "service"),
    ],
)
def test_no_violation_of_accessibility(open_page, expect, request, address, scheme, viewport, over):
    page = open_page(address, url=request.getfixturevalue(over).url, color_scheme=scheme, viewport=viewport)
    if "article" in address:
        expect(page.locator(".node.centre")).to_be_attached()
        expect(page.locator(".contents [aria-current]")).to_be_attached()
    expect(page.locator(".hit" if "q=" in address else ".examples li").first).to_be_attached()
    page.evaluate("document.querySelectorAll('details').forEach(details => { details.open = true; })")
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate("axe.run()")
    assert len(found["passes"]) > 20
    assert [
        f"{violation['id']}: {node['html']}" for violation in found["violations"] for node in violation["nodes"]
    ] == []


@pytest.mark.parametrize("language", ["en", "de"])
def test_a_telephone_never_scrolls_sideways(open_page, expect, language):
    page = open_page(f"/?lang={language}", viewport=PHONE)
    width = "document.documentElement.scrollWidth"
    expect(page.locator(".examples li").first).to_be_visible()
    assert page.evaluate(width) == 360
    page.locator(".examples a").first.click()
    expect(page.locator(".hit")).to_have_count(10)
    page.locator(".filters summary").click()
    assert page.evaluate(width) == 360
    page.locator(".hit-link").first.click()
    expect(page.locator(".node.centre")).to_be_visible()
    # The article stands in the place of the hits, and closing it brings them back.
    expect(page.locator("#hits")).to_be_hidden()
    assert page.evaluate(width) == 360
    assert page.evaluate("document.querySelector('#article').scrollWidth") == 360
    page.locator("#article .close").click()
    expect(page.locator(".hit-link").first).to_be_focused()


def test_words_that_do_not_end_do_not_widen_the_page(open_page, answers, expect):
    endless = "Wohnungseigentumsverwaltungs" * 20

    def widen(answer: dict) -> dict:
        for hit in answer["hits"]:
            hit.update(title=endless, text=endless, passage=None)
            hit["headings"] = [{"heading_id": "abc", "title": endless}] * 9
        return answer

    page = open_page(
        "/?q=deposit", viewport=PHONE, before=lambda page: page.route("**/api/search", answers(change=widen))
    )
    expect(page.locator(".hit").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    page.get_by_role("button", name="Show the whole path").first.click()
    expect(page.locator(".hit").first.locator(".crumb")).to_have_count(9)
    assert page.evaluate("document.documentElement.scrollWidth") == 360


def test_the_reference_lists_every_address(open_page, expect, service):
    operations = sum(len(methods) for methods in service.get("/openapi.json")["paths"].values())
    expect(open_page("/docs").locator(".opblock")).to_have_count(operations)


def test_one_law_is_no_choice(open_page, expect):
    page = open_page()
    expect(page.locator(".examples li").first).to_be_visible()
    expect(page.locator("#laws")).to_be_hidden()


def test_another_law_is_chosen_kept_in_the_address_and_asked_for_everything(open_page, laws_service, expect):
    asked = []
    watch = lambda page: page.on("request", lambda request: asked.append((request.url, request.post_data or "")))  # noqa: E731
    page = open_page("/?q=dogs&code=Housing+Code", url=laws_service.url, before=watch)
    expect(page.locator("#corpus")).to_have_text("valmere: 321 articles in force")
    asked.clear()
    page.get_by_label("Law", exact=True).select_option("town")
    expect(page.locator("#corpus")).to_have_text("town: 16 articles in force")
    assert page.url == f"{laws_service.url}/?law=town&q=dogs"
    page.locator(".hit-link").first.click()
    expect(page.locator("#article h2")).to_contain_text("on dogs")
    expect(page.locator(".node.centre")).to_be_attached()
    page.locator(".hit").first.get_by_role("button", name="Answers it").click()
    expect(page.locator(".feedback-told").first).to_contain_text("Thank you")
    calls = [(url, body) for url, body in asked if "/api/" in url]
    assert {url.split("/api/")[1].split("/")[0].split("?")[0] for url, _ in calls} == {
        *("about", "search", "articles", "graph", "headings", "feedback"),
    }
    assert [url for url, body in calls if "law=town" not in url and '"law":"town"' not in body] == []
    page.go_back()
    page.go_back()
    expect(page.locator("#corpus")).to_have_text("valmere: 321 articles in force")
    expect(page.get_by_label("Law", exact=True)).to_have_value("valmere")
    expect(page.locator(".chip")).to_have_text("Housing Code×")


def test_a_link_to_a_law_that_is_not_there_shows_the_first_and_says_so(open_page, laws_service, expect):
    page = open_page("/?law=moon&q=deposit", url=laws_service.url)
    expect(page.locator("#link-notice")).to_contain_text("(law=moon)")
    expect(page.locator(".hit")).to_have_count(10)
    assert page.url == f"{laws_service.url}/?q=deposit"
