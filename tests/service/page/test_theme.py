"""Light and dark: the system's, or the one that was chosen."""

LIGHT, DARK = "rgb(251, 251, 248)", "rgb(21, 23, 27)"


def paper(page) -> str:
    return page.evaluate("getComputedStyle(document.body).backgroundColor")


def test_the_systems_theme(open_page):
    assert paper(open_page(color_scheme="light")) == LIGHT
    assert paper(open_page(color_scheme="dark")) == DARK


def test_the_switch_goes_round_and_is_kept(open_page, expect):
    page = open_page(color_scheme="dark")
    page.get_by_role("button", name="Theme: system").click()
    expect(page.get_by_role("button", name="Theme: light")).to_be_focused()
    assert paper(page) == LIGHT
    page.reload()
    assert paper(page) == LIGHT
    page.get_by_role("button", name="Theme: light").click()
    page.emulate_media(color_scheme="light")
    assert paper(page) == DARK
    page.get_by_role("button", name="Theme: dark").click()
    expect(page.get_by_role("button", name="Theme: system")).to_be_visible()
    assert paper(page) == LIGHT
    assert page.evaluate("localStorage.getItem('statgraph.theme')") is None
