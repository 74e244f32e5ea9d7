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
