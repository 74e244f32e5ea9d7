"""Shared links and the browser's history: the address alone says what is shown."""

import pytest

QUESTION = "deposit"


def test_a_shared_link_shows_all_of_it(open_page, service, expect):
    heading = service.get("/api/articles/H26")["headings"][1]
    question = "minor scratches on the floor"
    page = open_page(f"/?q={question}&heading={heading['heading_id']}&article=H26&lang=fr")
    expect(page.locator("#article h2")).to_have_text("Art. 26, Housing Code")
    expect(page.locator(".chip")).to_have_text(f"{heading['title']}×")
    hits = service.search(question, heading=heading["heading_id"])
    expect(page.locator(".hit-link")).to_have_text([hit["title"] for hit in hits])
    assert page.input_value("#question") == question
    assert page.get_attribute("html", "lang") == "fr"
    # The passage is marked although the article can be there before the hits are.
    (passage,) = (hit["passage"] for hit in hits if hit["article_id"] == "H26")
    assert passage["end"] - passage["start"] < len(service.get("/api/articles/H26")["text"])
    expect(page.locator(".law mark")).to_have_count(1)
    # Nobody clicked: the focus is where the browser starts.
    assert page.evaluate("document.activeElement === document.body")


def test_back_and_forward(open_page, expect):
    asked = []
    page = open_page(before=lambda page: page.on("request", lambda request: asked.append(request.url)))
    page.fill("#question", QUESTION)
    page.keyboard.press("Enter")
    expect(page.locator(".hit")).to_have_count(10)
    first = page.locator(".hit-link").first
    title = first.inner_text()
    first.click()
    expect(page.locator("#article h2")).to_have_text(title)
    page.locator("#article .step-next").click()
    expect(page.locator("#article h2")).not_to_have_text(title)
    page.go_back()
    expect(page.locator("#article h2")).to_have_text(title)
    page.go_back()
    expect(page.locator("#article")).to_be_hidden()
    expect(page.locator(".hit")).to_have_count(10)
    page.go_back()
    expect(page.locator(".examples li")).to_have_count(6)
    assert page.input_value("#question") == ""
    page.go_forward()
    expect(page.locator(".hit")).to_have_count(10)
    assert page.input_value("#question") == QUESTION
    # What was answered once is not asked again.
    assert len([url for url in asked if url.endswith("/api/search")]) == 1


def test_a_letter_is_too_long_for_an_address_and_stays_in_the_history(open_page, expect):
    letter = f"{'Many thanks in advance for any advice. ' * 60}Who keeps the deposit?"
    page = open_page()
    page.fill("#question", letter)
    page.click("#question-form button[type=submit]")
    expect(page.locator(".hit")).to_have_count(10)
    assert "q=" not in page.url
    page.locator(".hit-link").first.click()
    expect(page.locator("#article h2")).to_be_visible()
    page.reload()
    expect(page.locator(".hit")).to_have_count(10)
    assert page.input_value("#question") == letter
    page.go_back()
    page.go_back()
    expect(page.locator(".examples li")).to_have_count(6)
    assert page.input_value("#question") == ""


def test_reading_and_writing_an_address(evaluate):
    told = {"law": "town", "q": "a b", "codes": ["Code A, B", "C&D"], "heading": "12"}
    told |= {"asOf": "2021-03-01", "limits": {}, "article": "é/1", "lang": "fr", "unknown": []}
    written = evaluate("async told => (await import('/static/js/address.js')).writeAddress(told)", told)
    assert (
        written == "?law=town&q=a+b&code=Code+A%2C+B&code=C%26D&heading=12&as_of=2021-03-01&article=%C3%A9%2F1&lang=fr"
    )
    assert evaluate("async query => (await import('/static/js/address.js')).readAddress(query)", written) == told
    nothing = {"law": None, "q": "", "codes": [], "heading": None, "asOf": None, "limits": {}, "article": None}
    nothing |= {"lang": None, "unknown": []}
    assert evaluate("async query => (await import('/static/js/address.js')).readAddress(query)", "") == nothing
    assert evaluate("async told => (await import('/static/js/address.js')).writeAddress(told)", nothing) == "./"


@pytest.mark.parametrize(
    ("asked", "what"),
    [
        ("as_of=always", "as_of=always"),
        ("as_of=2021-02-30", "as_of=2021-02-30"),
        ("code=Rent Code&code=Housing Code&page=2", "page=2, code=Rent Code"),
        ("heading=000000000000", "heading=000000000000"),
    ],
)
def test_an_old_link_is_shown_without_what_is_not_there_and_says_so_in_one_language(open_page, expect, asked, what):
    page = open_page(f"/?q={QUESTION}&{asked}&lang=nl")
    expect(page.locator(".hit")).to_have_count(10)
    expect(page.locator("#link-notice")).to_have_text(
        f"Deze link vraagt iets wat hier niet is ({what}). De rest wordt getoond."
    )
    left = "&code=Housing+Code" if "Housing" in asked else ""
    assert page.url.endswith(f"/?q=deposit{left}&lang=nl")
    page.fill("#question", "wages")
    page.keyboard.press("Enter")
    expect(page.locator("#link-notice")).to_be_hidden()
