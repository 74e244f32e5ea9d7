"""What the page says when the service does not answer as hoped: one line, and a way on."""

import pytest


def test_problem_details_are_one_line_and_can_be_tried_again(open_page, answers, expect):
    failing = answers(504, title="Gateway Timeout", detail="the search took longer than 30 s")
    page = open_page("/?q=deposit", before=lambda page: page.route("**/api/search", failing))
    problem = page.locator("#hits [role=alert]")
    expect(problem).to_contain_text("That did not work: Gateway Timeout: the search took longer than 30 s")
    page.unroute("**/api/search")
    page.get_by_role("button", name="Try again").click()
    expect(page.locator(".hit")).to_have_count(10)


def test_a_busy_service_is_tried_again_by_itself_but_not_for_ever(open_page, answers, expect):
    tries = []

    def busy(route) -> None:
        tries.append(route)
        after = {"Retry-After": str(len(tries))}
        answers(503, title="Service Unavailable", detail="too many questions", headers=after)(route)

    def route(page) -> None:
        page.clock.install(time="2026-01-01T00:00:00Z")
        page.clock.pause_at("2026-01-01T00:01:00Z")
        page.route("**/api/search", busy)

    page = open_page("/?q=deposit", before=route)
    expect(page.locator("#hits")).to_contain_text("The service is busy; next try in 1 second.")
    page.clock.run_for(1100)
    expect(page.locator("#hits")).to_contain_text("The service is busy; next try in 2 seconds.")
    page.clock.run_for(1100)
    expect(page.locator("#hits")).to_contain_text("The service is busy; next try in 1 second.")
    page.clock.run_for(1100)
    expect(page.locator("#hits")).to_contain_text("The service is busy; next try in 3 seconds.")
    page.clock.run_for(3100)
    expect(page.locator("#hits [role=alert]")).to_contain_text("Service Unavailable: too many questions")
    page.clock.run_for(60_000)
    assert len(tries) == 4
    page.unroute("**/api/search")
    page.get_by_role("button", name="Try again").click()
    expect(page.locator(".hit")).to_have_count(10)


def test_a_service_that_is_not_there(open_page, expect):
    page = open_page("/?q=deposit", before=lambda page: page.route("**/api/search", lambda route: route.abort()))
    expect(page.locator("#hits [role=alert]")).to_contain_text("The service does not answer. Is it still running?")


@pytest.fixture
def guarded(open_page, guarded_service):
    """Return the page of a service that asks for a token."""
    return open_page("/?q=deposit", url=guarded_service.url)


def test_the_token_is_asked_for_and_kept_for_the_tab(guarded, token, expect):
    page = guarded
    dialog = page.get_by_role("dialog", name="This service asks for a token")
    expect(dialog).to_be_visible()
    page.get_by_label("Token", exact=True).fill("wrong")
    page.keyboard.press("Enter")
    expect(page.locator("#token-refused")).to_have_text("That token was not accepted.")
    page.get_by_label("Token", exact=True).fill(token)
    page.get_by_role("button", name="Use it").click()
    expect(page.locator(".hit")).to_have_count(10)
    expect(dialog).to_be_hidden()
    assert page.evaluate("[sessionStorage['statgraph.token'], localStorage.length]") == [token, 0]
    page.reload()
    expect(page.locator(".hit")).to_have_count(10)
