"""The page by keyboard alone."""

import re


def test_from_question_to_article_and_back(open_page, expect):
    page = open_page("/?q=deposit")
    hits = page.locator(".hit-link")
    expect(hits).to_have_count(10)
    page.keyboard.press("/")
    expect(page.locator("#question")).to_be_focused()
    assert page.input_value("#question") == "deposit"
    page.keyboard.type("who pays for repairs")  # all of the old question was selected
    page.keyboard.press("Enter")
    expect(page).to_have_title(re.compile("^who"))
    expect(page.locator("#hits[aria-busy]")).to_have_count(0)
    page.keyboard.press("ArrowDown")
    expect(hits.first).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(hits.nth(1)).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#article h2")).to_have_text(hits.nth(1).inner_text())
    expect(page.locator("#article h2")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("#article")).to_be_hidden()
    expect(hits.nth(1)).to_be_focused()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    expect(page.locator("#question")).to_be_focused()


def test_a_slash_can_be_typed_and_an_arrow_moves_within_the_question(open_page, expect):
    page = open_page("/?q=deposit")
    expect(page.locator(".hit")).to_have_count(10)
    page.locator("#question").focus()
    page.keyboard.press("Home")
    page.keyboard.type("1/2 ")
    page.keyboard.press("ArrowDown")
    expect(page.locator("#question")).to_be_focused()
    assert page.input_value("#question") == "1/2 deposit"


def test_the_first_tab_offers_to_skip_to_the_hits(open_page, expect):
    page = open_page("/?q=deposit")
    expect(page.locator(".hit")).to_have_count(10)
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the hits")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#hits")).to_be_focused()
    expect(page.locator(".hit")).to_have_count(10)
