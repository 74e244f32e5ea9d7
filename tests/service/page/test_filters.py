"""Searching in part of the law: breadcrumbs, codes and the chips that take a filter off again."""

QUESTION = "Who pays for repairs?"


def places(page) -> set[str]:
    """Return the first crumb of every hit: the code that it stands in."""
    return {crumbs.locator(".crumb").first.inner_text() for crumbs in page.locator(".hit .crumbs").all()}


def test_a_breadcrumb_filters_and_its_chip_takes_the_filter_off(open_page, service, expect):
    page = open_page(f"/?q={QUESTION}")
    expect(page.locator(".hit")).to_have_count(10)
    everywhere = page.locator(".hit-link").all_inner_texts()
    book = service.search(QUESTION)[0]["headings"][1]
    page.locator(".hit").first.locator(".crumb").nth(1).click()
    chip = page.get_by_role("button", name=f"Search outside “{book['title']}” too")
    expect(chip).to_be_visible()
    assert page.url.endswith(f"&heading={book['heading_id']}")
    expected = [hit["title"] for hit in service.search(QUESTION, heading=book["heading_id"])]
    expect(page.locator(".hit-link")).to_have_text(expected)
    assert {crumbs.locator(".crumb").nth(1).inner_text() for crumbs in page.locator(".hit .crumbs").all()} == {
        book["title"]
    }
    chip.click()
    expect(page.locator(".hit-link")).to_have_text(everywhere)
    expect(page.locator(".chip")).to_have_count(0)
    expect(page.locator("#question")).to_be_focused()


def test_the_first_breadcrumb_filters_by_its_code(open_page, expect):
    page = open_page(f"/?q={QUESTION}")
    page.locator(".hit .crumb", has_text="Housing Code").first.click()
    expect(page.locator(".chip")).to_have_text("Housing Code×")
    assert page.url.endswith("&code=Housing+Code")
    expect(page.locator(".hit .crumbs", has_text="Work Code")).to_have_count(0)
    expect(page.locator(".hit")).to_have_count(10)
    assert places(page) == {"Housing Code"}


def test_codes_are_ticked(open_page, service, expect):
    page = open_page(f"/?q={QUESTION}")
    page.get_by_text("Search in some codes").click()
    work, family = (page.get_by_role("checkbox", name=f"{name} Code") for name in ("Work", "Family"))
    work.check()
    expect(page.locator(".chip")).to_have_count(1)
    expect(work).to_be_focused()
    family.check()
    expect(page.locator(".chip")).to_have_count(2)
    assert page.url.endswith("&code=Work+Code&code=Family+Code")
    expected = [hit["title"] for hit in service.search(QUESTION, codes=["Work Code", "Family Code"])]
    expect(page.locator(".hit-link")).to_have_text(expected)
    assert places(page) <= {"Work Code", "Family Code"}
    page.locator(".chip").first.click()
    expect(page.locator(".chip")).to_have_text("Family Code×")


def test_a_limit_without_a_place_of_its_own_is_a_field(open_page, service, answers, expect):
    add = answers(change=lambda about: about | {"limits": {"codes": {"en": "In the code", "fr": "Dans le code"}}})
    page = open_page(f"/?q={QUESTION}&codes=Work+Code", before=lambda page: page.route("**/api/about", add))
    expect(page.get_by_label("In the code")).to_have_value("Work Code")
    expected = [hit["title"] for hit in service.search(QUESTION, codes=["Work Code"])]
    expect(page.locator(".hit-link")).to_have_text(expected)
    expect(page.locator("#link-notice")).to_be_hidden()
    page.get_by_label("In the code").fill("Family Code")
    page.get_by_label("In the code").press("Enter")
    expected = [hit["title"] for hit in service.search(QUESTION, codes=["Family Code"])]
    expect(page.locator(".hit-link")).to_have_text(expected)
    assert page.url.endswith("&codes=Family+Code")


def test_a_code_of_two_lines_stays_under_its_title(open_page, answers, expect):
    def lengthen(about: dict) -> dict:
        about["codes"][0]["title"] = "Code of the duties of tenants " * 4
        return about

    page = open_page(before=lambda page: page.route("**/api/about*", answers(change=lengthen)))
    label = page.locator(".codes label").first
    expect(label).to_be_visible()
    first, *others = label.evaluate("""label => {
        const range = document.createRange();
        range.selectNodeContents([...label.childNodes].find((node) => node.textContent.trim()));
        return [...range.getClientRects()].map((line) => line.left);
    }""")
    box = label.locator("input").evaluate("box => box.getBoundingClientRect().right")
    assert others
    assert min(others) >= box
    assert abs(first - min(others)) < 8


def test_codes_are_open_at_the_start_and_say_how_many_articles_are_in_force(open_page, service, expect):
    page = open_page()
    labels = page.locator(".codes label")
    expect(labels.first).to_be_visible()
    codes = service.get("/api/about")["codes"]
    expect(labels).to_have_text([f"{code['title']} {code['articles']}" for code in codes])
    expect(page.locator("#hits .law-size")).to_have_text("valmere: 321 articles in force")
    page = open_page("/?q=deposit")
    expect(page.locator(".codes label").first).to_be_hidden()
