"""Asking a question: what is shown of the answer is what the service says."""

import re

QUESTION = "My landlord keeps my deposit because of a scratch on the floor"


def titles(page) -> list[str]:
    return page.locator(".hit-link").all_inner_texts()


def test_a_question_finds_articles(open_page, service, expect):
    page = open_page()
    page.fill("#question", QUESTION)
    page.keyboard.press("Enter")
    expect(page.locator(".hit")).to_have_count(10)
    hits = service.search(QUESTION)
    assert titles(page) == [hit["title"] for hit in hits]
    assert page.locator(".score b").all_inner_texts() == [f"{hit['score']:.3f}" for hit in hits]
    assert page.locator(".rank").all_inner_texts() == [str(rank) for rank in range(1, 11)]
    assert page.locator(".crumbs").first.locator(".crumb").all_inner_texts() == [
        heading["title"] for heading in hits[0]["headings"]
    ]
    expect(page.locator("#status")).to_have_text("The first 10 of 321 articles searched")
    assert page.url.endswith("/?q=My+landlord+keeps+my+deposit+because+of+a+scratch+on+the+floor")
    assert page.title() == f"{QUESTION} · statgraph"


def test_a_hit_shows_how_likely_it_answers_where_that_is_known(open_page, answers, expect):
    def likely(answer: dict) -> dict:
        return {**answer, "hits": [{**hit, "score": 1.255, "probability": 0.46} for hit in answer["hits"][:1]]}

    page = open_page(f"/?q={QUESTION}", before=lambda page: page.route("**/api/search", answers(change=likely)))
    expect(page.locator(".score")).to_have_text("Probability 46%")
    assert page.locator(".score").get_attribute("title") == (
        "How likely the article is to answer the question. "
        "Score 1.255: Scores compare the hits of one question with each other, nothing else"
    )


def test_every_hit_has_its_passage_marked_and_the_words_in_it(open_page, service, expect):
    page = open_page(f"/?q={QUESTION}")
    expect(page.locator(".hit")).to_have_count(10)
    for hit, shown in zip(service.search(QUESTION), page.locator(".hit").all(), strict=True):
        passage = hit["text"][hit["passage"]["start"] : hit["passage"]["end"]]
        marked = shown.locator("mark").inner_text()
        assert marked in passage
        assert len(marked) == len(passage) or len(marked) > 120
        words = {word.lower() for word in shown.locator("mark .shared").all_inner_texts()}
        assert words == set(hit["words"]) & set(re.findall(r"\w+", marked.lower()))


def test_every_heading_of_a_narrow_hit_keeps_some_of_its_words(open_page, answers, expect):
    """The one before the last, which gives way first, too."""

    def lengthen(answer: dict) -> dict:
        for hit in answer["hits"]:
            hit["headings"] = [{"heading_id": str(n), "title": "Of the duties of tenants " * 4} for n in range(3)]
        return answer

    page = open_page(
        f"/?q={QUESTION}",
        viewport={"width": 420, "height": 740},
        before=lambda page: page.route("**/api/search", answers(change=lengthen)),
    )
    crumbs = page.locator(".hit").first.locator(".crumb")
    expect(crumbs).to_have_count(3)
    assert min(crumbs.evaluate_all("all => all.map(one => one.clientWidth)")) > 40


def test_more_hits_come_below_and_get_the_focus(open_page, service, expect):
    page = open_page(f"/?q={QUESTION}")
    page.get_by_role("button", name="Show more").click()
    expect(page.locator(".hit")).to_have_count(25)
    assert titles(page) == [hit["title"] for hit in service.search(QUESTION, k=25)]
    expect(page.locator(".hit-link").nth(10)).to_be_focused()


def test_an_example_is_asked_when_clicked(open_page, service, expect):
    page = open_page()
    examples = page.locator(".examples a")
    expect(examples).to_have_count(6)
    assert examples.all_inner_texts() == service.get("/api/about")["examples"]
    question = examples.nth(1).inner_text()
    examples.nth(1).click()
    expect(page.locator(".hit")).to_have_count(10)
    assert page.input_value("#question") == question


def test_while_it_searches_it_says_so(open_page, expect):
    held = []
    page = open_page(before=lambda page: page.route("**/api/search", lambda route: held.append(route)))
    page.fill("#question", "deposit")
    page.get_by_role("button", name="Search", exact=True).click()
    expect(page.locator("#hits")).to_have_attribute("aria-busy", "true")
    expect(page.locator("#hits")).to_have_text("Searching\u202f…")
    held[0].continue_()
    expect(page.locator(".hit")).to_have_count(10)
    assert page.get_attribute("#hits", "aria-busy") is None


def test_what_is_typed_while_the_page_loads_stays(open_page, expect):
    held = []
    page = open_page(before=lambda page: page.route("**/api/about", lambda route: held.append(route)))
    page.fill("#question", "deposit")
    held[0].continue_()
    expect(page.locator(".examples a")).to_have_count(6)
    assert page.input_value("#question") == "deposit"


def test_the_answer_to_the_last_question_stays(open_page, answers, expect):
    held = []
    page = open_page(before=lambda page: page.route("**/api/search", lambda route: held.append(route)))
    page.fill("#question", "deposit")
    page.keyboard.press("Enter")
    page.fill("#question", "wages")
    page.keyboard.press("Enter")
    page.wait_for_function("location.search === '?q=wages'")
    while len(held) < 2:
        page.wait_for_timeout(20)
    held[1].fulfill(json={"question": "wages", "hits": [], "unknown_articles": [], "searched": 321, "took_ms": 1})
    expect(page.locator("#hits")).to_have_text("There is no article to search.")


def test_where_no_word_is_shared_it_says_so_and_nothing_of_the_law(open_page, answers, expect):
    def by_words(page) -> None:
        page.route("**/api/about", answers(change=lambda about: {**about, "by_words": True}))
        page.route("**/api/search", answers(question="zzz", hits=[], unknown_articles=[], searched=321, took_ms=1))

    page = open_page("/?q=zzz", before=by_words)
    expect(page.locator("#hits")).to_have_text("No article shares a word with your question. Use other words.")


def test_an_article_that_is_not_there_is_told_before_the_hits(open_page, expect):
    page = open_page("/?q=deposit of article 9999 of the Housing Code")
    expect(page.locator("#hits > p").first).to_have_text("No article is numbered 9999, Housing Code.")
    expect(page.locator("#status")).to_contain_text("No article is numbered 9999, Housing Code. The first 10 of 321")


def test_where_no_hit_is_likely_to_answer_that_comes_first(open_page, answers, expect):
    def unlikely(page) -> None:
        page.route("**/api/search", answers(change=lambda answer: {**answer, "nothing_fits": True}))

    page = open_page("/?q=deposit", before=unlikely)
    expect(page.locator("#hits > p").first).to_have_text("Probably nothing here answers this.")
    expect(page.locator("#status")).to_contain_text("Probably nothing here answers this. The first 10 of 321")


def test_hits_are_told_to_be_the_first_of_those_searched(open_page, expect):
    page = open_page("/?q=deposit")
    expect(page.locator(".found")).to_contain_text("The first 10 of 321 articles searched ·")


def test_nothing_of_an_answer_becomes_markup(open_page, answers, expect):
    bad = '<img src=x onerror="document.title=1"><script>document.title=1</script>'

    def hostile(answer: dict) -> dict:
        for hit in answer["hits"]:
            hit["title"] = hit["text"] = bad
            hit["headings"] = [{"heading_id": bad, "title": bad}]
            hit["passage"] = {"start": 0, "end": 9}
        return answer

    def hostile_article(answer: dict) -> dict:
        return {**answer, "title": bad, "text": bad, "refers_to": [{"article_id": bad, "title": bad}]}

    def hostile_graph(answer: dict) -> dict:
        return {**answer, "nodes": [{**node, "title": bad} for node in answer["nodes"]]}

    def route(page) -> None:
        for path, change in (("search", hostile), ("articles/*", hostile_article), ("graph/**", hostile_graph)):
            page.route(f"**/api/{path}", answers(change=change))

    page = open_page("/?q=deposit&article=H26", before=route)
    expect(page.locator(".hit-link").first).to_have_text(bad)
    expect(page.locator("#article h2")).to_have_text(bad)
    expect(page.locator(".node").first).to_be_attached()
    assert page.title() != "1"
    assert page.locator("main img, main script, #article img, #article script").count() == 0
    assert page.locator("#article .references a").get_attribute("href").startswith("?q=deposit&article=%3Cimg")
