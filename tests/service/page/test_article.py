"""The article beside the hits: its text, its neighbours in order, its references, its place in the contents."""

QUESTION = "My landlord keeps my deposit because of a scratch on the floor"


def law(page) -> str:
    return "\n".join(page.locator(".law p").all_inner_texts())


def test_a_hit_opens_in_full_with_its_passage(open_page, service, expect):
    page = open_page(f"/?q={QUESTION}")
    hits = service.search(QUESTION)
    place = next(place for place, hit in enumerate(hits) if hit["passage"] and hit["passage"]["start"] > 0)
    hit, link = hits[place], page.locator(".hit-link").nth(place)
    link.click()
    expect(page.locator("#article h2")).to_be_focused()
    article = service.get(f"/api/articles/{hit['article_id']}")
    assert page.locator("#article h2").inner_text() == article["title"]
    assert law(page) == article["text"]
    assert page.locator(".law mark").inner_text() == page.locator(".hit").nth(place).locator("mark").inner_text()
    assert link.get_attribute("aria-current") == "true"
    assert page.url.endswith(f"&article={hit['article_id']}")
    page.get_by_role("button", name="Passage", exact=True).click()
    expect(page.locator(".law mark").first).to_be_in_viewport()
    expect(page.locator(".law mark").first).to_be_focused()
    page.get_by_role("button", name="Close").click()
    expect(page.locator("#article")).to_be_hidden()
    expect(link).to_be_focused()
    assert link.get_attribute("aria-current") is None


def test_on_paper_there_is_nothing_to_click(open_page, expect):
    page = open_page(f"/?q={QUESTION}&article=H26")
    expect(page.locator(".law")).to_be_visible()
    page.emulate_media(media="print")
    expect(page.locator(".law")).to_be_visible()
    expect(page.locator(".hit-link").first).to_be_visible()
    assert page.locator("button:visible, #languages:visible, .graph:visible").count() == 0
    page.emulate_media(media="screen")


def test_references_lead_both_ways(open_page, expect):
    # Article 26 says "the two inventories drawn up under Article 19".
    page = open_page("/?article=H26")
    page.locator(".references").get_by_role("link", name="Art. 19, Housing Code").click()
    expect(page.locator("#article h2")).to_have_text("Art. 19, Housing Code")
    back = page.locator(".part-references").get_by_role("link", name="Art. 26, Housing Code")
    expect(back).to_be_visible()
    expect(page.locator(".part-references h4").last).to_have_text("Referred to by")


def test_addresses_in_other_laws_are_links(open_page, answers, expect):
    elsewhere = ["https://www.law.example/eli/2018/1"]
    changed = answers(change=lambda answer: answer | {"elsewhere": elsewhere})
    page = open_page("/?article=H26", before=lambda page: page.route("**/api/articles/*", changed))
    away = page.locator(".part-references").get_by_role("link", name="law.example/eli/2018/1")
    expect(away).to_have_attribute("href", elsewhere[0])
    expect(page.locator(".part-references h4").last).to_have_text("In other laws")


def test_its_place_in_the_contents_is_open(open_page, service, expect):
    page = open_page("/?article=H26")
    current = page.locator(".contents [aria-current]")
    expect(current).to_have_text("Art. 26")
    path = [heading["title"] for heading in service.get("/api/articles/H26")["headings"]]
    assert page.locator(".branch[aria-expanded=true]").all_inner_texts() == path
    assert page.locator(".contents .leaf").all_inner_texts() == ["Art. 24", "Art. 25", "Art. 26", "Art. 27", "Art. 28"]
    page.locator(".contents .leaf a").first.click()
    expect(page.locator("#article h2")).to_have_text("Art. 24, Housing Code")


def test_the_contents_are_fetched_as_they_are_opened(open_page, expect):
    asked = []
    page = open_page(before=lambda page: page.on("request", lambda request: asked.append(request.url)))
    code = page.locator(".contents").get_by_role("button", name="Work Code")
    expect(code).to_have_attribute("aria-expanded", "false")
    before = [url for url in asked if "/api/headings/" in url]
    code.click()
    expect(page.locator(".contents ul ul > li").first).to_be_visible()
    assert before == []
    assert len([url for url in asked if "/api/headings/" in url]) == 1
    code.click()
    expect(page.locator(".contents ul ul > li").first).to_be_hidden()


def test_an_article_that_is_not_there(open_page, expect):
    page = open_page("/?article=H999")
    expect(page.locator("#article [role=alert]")).to_have_text("The service does not know “H999”.")
    page.get_by_role("button", name="Close").click()
    expect(page.locator("#article")).to_be_hidden()


def test_the_link_is_copied(open_page, expect):
    page = open_page(f"/?q={QUESTION}&article=H26", permissions=["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy link").click()
    expect(page.locator("#copied")).to_have_text("Link copied.")
    said, button = (page.locator(place).bounding_box() for place in ("#copied", "button:has-text('Copy link')"))
    assert 0 < button["x"] - (said["x"] + said["width"]) < 40  # beside it
    assert abs(said["y"] + said["height"] / 2 - button["y"] - button["height"] / 2) < 5
    assert page.evaluate("navigator.clipboard.readText()") == page.url


TITLE = """async (article) => {
  const { fullTitle } = await import("/static/js/citation.js");
  const box = document.createElement("p");
  box.append(...fullTitle(article));
  return box.innerHTML;
}"""


def test_a_rubric_stands_once_behind_the_citation(evaluate):
    named = {"title": "Art. 1, Rent Code", "rubric": "Deposit"}
    assert evaluate(TITLE, named) == 'Art. 1, Rent Code – <span class="rubric">Deposit</span>'
    assert evaluate(TITLE, {**named, "title": "§ 1 RntC deposit"}) == "§ 1 RntC deposit"
    assert evaluate(TITLE, {**named, "rubric": ""}) == "Art. 1, Rent Code"


def test_a_reference_in_the_text_is_a_link_with_a_preview(open_page, service, expect):
    page = open_page("/?article=H26")
    named = page.locator(".law .mention")
    expect(named).to_have_text(["Article 19"])
    preview = page.get_by_role("tooltip")
    named.hover()
    expect(preview).to_contain_text("Art. 19, Housing Code")
    assert service.get("/api/articles/H19")["text"][:40] in preview.inner_text()
    page.keyboard.press("Escape")
    expect(preview).to_have_count(0)
    expect(page.locator("#article h2")).to_have_text("Art. 26, Housing Code")  # Escape closed the preview alone
    named.focus()
    expect(preview).to_be_visible()
    assert named.get_attribute("aria-describedby") == "preview"
    page.keyboard.press("Enter")
    expect(page.locator("#article h2")).to_have_text("Art. 19, Housing Code")
    expect(preview).to_have_count(0)


def test_two_versions_side_by_side_with_their_changes(open_page, answers, expect):
    versions = [
        {"article_id": "H24", "valid_from": None, "valid_to": "2021-03-01"},
        {"article_id": "H26", "valid_from": "2021-03-01", "valid_to": None},
    ]
    texts = {"H24": "The deposit is two months' rent.", "H26": "The deposit is one month's rent, at most."}

    def route(page) -> None:
        for version in versions:
            changed = {**version, "versions": versions, "text": texts[version["article_id"]], "mentions": []}
            page.route(
                f"**/api/articles/{version['article_id']}",
                answers(change=lambda article, by=changed: {**article, **by}),
            )

    page = open_page("/?article=H26", before=route)
    until = "In force until the end of 28 February 2021"
    expect(page.locator(".versions li")).to_have_text([f"{until} Compare", "In force from 1 March 2021"])
    page.get_by_role("button", name="Compare").click()
    expect(page.locator(".comparison .law")).to_have_text(list(texts.values()))
    expect(page.locator(".comparison h4")).to_have_text([until, "In force from 1 March 2021"])
    expect(page.locator(".comparison del")).to_have_text("two months' rent.")
    expect(page.locator(".comparison ins")).to_have_text("one month's rent, at most.")
    page.get_by_role("button", name="Compare").click()
    expect(page.locator(".comparison .law")).to_have_count(0)


CHANGES = "async ([old, now]) => (await import('/static/js/changes.js')).changes(old, now)"


def test_changes_are_the_words_that_two_texts_do_not_share(evaluate):
    assert evaluate(CHANGES, ["a b c d", "a x c d e"]) == [
        [["a ", False], ["b", True], [" c d", False]],
        [["a ", False], ["x", True], [" c d", False], [" e", True]],
    ]
    assert evaluate(CHANGES, ["a b c", "a x y c"])[1] == [["a ", False], ["x y", True], [" c", False]]
    assert evaluate(CHANGES, ["", "a"]) == [[], [["a", True]]]
    assert evaluate(CHANGES, ["a b", "a b"]) == [[["a b", False]], [["a b", False]]]
