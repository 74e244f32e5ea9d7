"""The law of a day: article 26 was in force from 10 August 2016 on, and article 27 in its place from 1 March 2021."""

import pytest

QUESTION = "minor scratches on the floor"
OLD, NEW = "Art. 26, Housing Code", "Art. 27, Housing Code"


@pytest.fixture
def open_dated(open_page, dated_service):
    """Return a function that opens an address of the page over the law with dates."""
    return lambda address, **settings: open_page(address, url=dated_service.url, **settings)


@pytest.fixture
def address(service) -> str:
    """Return the address of the question among the five articles of their section."""
    heading = service.get("/api/articles/H26")["headings"][-1]
    return f"/?q={QUESTION}&heading={heading['heading_id']}"


def test_a_day_is_chosen_and_its_chip_leads_back_to_today(open_dated, dated_service, address, expect):
    page = open_dated(address)
    expect(page.locator(".hit")).to_have_count(4)
    today = page.locator(".hit-link").all_inner_texts()
    assert NEW in today
    assert OLD not in today
    page.get_by_label("The law in force on").fill("2021-02-28")
    expect(page.locator(".hit-link").filter(has_text=OLD)).to_be_visible()
    assert page.url.endswith("&as_of=2021-02-28")
    heading = dated_service.get("/api/articles/H26")["headings"][-1]["heading_id"]
    hits = dated_service.search(QUESTION, heading=heading, as_of="2021-02-28")
    assert page.locator(".hit-link").all_inner_texts() == [hit["title"] for hit in hits]
    assert NEW not in [hit["title"] for hit in hits]
    expect(page.get_by_label("The law in force on")).to_be_focused()
    chip = page.get_by_role("button", name="Search the law in force today")
    expect(chip).to_have_text("the law of 28 February 2021×")
    chip.click()
    expect(page.locator(".hit-link")).to_have_text(today)
    expect(page.get_by_label("The law in force on")).to_have_value("")
    assert "as_of" not in page.url


def test_a_shared_link_holds_the_day(open_dated, address, expect):
    page = open_dated(f"{address}&as_of=2021-02-28&article=H27&lang=fr")
    expect(page.get_by_label("Le droit en vigueur le")).to_have_value("2021-02-28")
    expect(page.locator(".chip").last).to_have_text("le droit du 28 février 2021×")
    expect(page.locator(".hit-link").filter(has_text=OLD)).to_be_visible()
    # The article of the link is none of that day's, and says so.
    expect(page.locator(".in-force")).to_have_text(
        "Pas en vigueur le 28 février 2021. En vigueur à compter du 1 mars 2021"
    )
    page.locator(".chip").last.click()
    expect(page.locator(".in-force")).to_have_text("En vigueur à compter du 1 mars 2021")


@pytest.mark.parametrize(
    ("as_of", "not_in_force"),
    [
        ("2016-08-09", "Not in force on 9 August 2016. "),
        ("2016-08-10", ""),
        ("2021-02-28", ""),
        ("2021-03-01", "Not in force on 1 March 2021. "),
    ],
)
def test_the_first_day_is_in_force_and_the_day_after_the_last_is_not(open_dated, expect, as_of, not_in_force):
    page = open_dated(f"/?article=H26&as_of={as_of}")
    expect(page.locator(".in-force")).to_have_text(
        f"{not_in_force}In force from 10 August 2016 until the end of 28 February 2021"
    )


def test_a_year_that_is_being_typed_is_not_searched(open_dated, address, expect):
    page = open_dated(address)
    expect(page.locator(".hit")).to_have_count(4)
    asked = []
    page.on("request", lambda request: asked.append(request.post_data_json) if "/api/search" in request.url else None)
    page.get_by_label("The law in force on").focus()
    page.keyboard.type("02022021")  # day and month are typed in the browser's own order
    expect(page.locator(".hit-link").filter(has_text=OLD)).to_be_visible()
    assert [body["as_of"] for body in asked] == ["2021-02-02"]


def test_nothing_found_where_it_was_searched_leads_everywhere_and_to_today(open_dated, answers, expect):
    none = answers(question="deposit", hits=[], unknown_articles=[], searched=0, took_ms=1)
    page = open_dated(
        "/?q=deposit&code=Work+Code&as_of=2021-02-28", before=lambda page: page.route("**/api/search", none)
    )
    expect(page.locator("#hits")).to_contain_text("There is no article where you searched.")
    page.unroute("**/api/search")
    page.get_by_role("link", name="Search everywhere").click()
    expect(page.locator(".hit")).to_have_count(10)
    assert page.url.endswith("/?q=deposit")


def test_the_counts_are_those_of_the_day(open_dated, expect):
    page = open_dated("/")
    expect(page.locator("#corpus")).to_have_text("valmere: 320 articles in force")  # without article 26
    page.get_by_label("The law in force on").fill("2010-01-01")
    expect(page.locator("#corpus")).to_have_text("valmere: 319 articles in force")  # nor with 27 in its place
    expect(page.locator(".codes .count").first).to_have_text("114")
    expect(page.locator("#hits .contents .count").first).to_have_text("114 articles")
