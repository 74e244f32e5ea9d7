"""English and French: the same messages in both, and every text of the page changes with a click."""

import re

LOAD = "async name => (await import(`/static/words/${name}.js`)).default"
VALUES = re.compile(r"\{\w+\}")


def shapes(words: dict) -> dict[str, set[str]]:
    """Return the {values} of each message, whatever its plurals."""
    forms = {key: list(said.values()) if isinstance(said, dict) else [said] for key, said in words.items()}
    return {key: {value for form in said for value in VALUES.findall(form)} for key, said in forms.items()}


def test_both_languages_say_the_same_things(evaluate):
    english, french = evaluate(LOAD, "en"), evaluate(LOAD, "fr")
    assert shapes(english) == shapes(french)
    plurals = [key for key, said in english.items() if isinstance(said, dict)]
    assert plurals == [key for key, said in french.items() if isinstance(said, dict)]
    # What Intl.PluralRules can ask for; a plural that is missing would throw.
    assert {frozenset(english[key]) for key in plurals} == {frozenset({"one", "other"})}
    assert {frozenset(french[key]) for key in plurals} == {frozenset({"one", "many", "other"})}


def test_why_a_hit_was_found_is_not_told_in_builders_words(evaluate):
    for language in ("en", "fr"):
        why = {key: said.lower() for key, said in evaluate(LOAD, language).items() if key.startswith("why_")}
        assert {"why_all", "why_base"} <= set(why)
        told = {key for key, said in why.items() if re.search(r"signa|candidat|feature|ensemble|tree|arbre", said)}
        assert told == set()


def test_every_word_that_the_page_asks_for_is_there(open_page, service):
    page = open_page()
    english = page.evaluate(LOAD, "en")
    asked = set(re.findall(r'data-words(?:-label)?="(\w+)"', page.request.get(service.url).text()))
    modules = page.evaluate("performance.getEntriesByType('resource').map(({ name }) => name)")
    for url in (url for url in modules if "/static/js/" in url):
        asked.update(re.findall(r'say\("(\w+)"', page.request.get(url).text()))
    assert len(asked) > 50
    assert asked <= set(english)


def test_french_by_a_click_and_ever_after(open_page, expect):
    page = open_page("/?q=deposit&article=H26")
    expect(page.locator(".hit")).to_have_count(10)
    expect(page.locator(".node").first).to_be_attached()
    page.get_by_role("button", name="Français").click()
    expect(page.locator(".found")).to_contain_text("Les 10 premiers sur 321 articles parcourus")
    expect(page.locator("#article .step-next")).to_have_text("Suivant →")
    assert page.get_attribute("html", "lang") == "fr"
    assert page.get_by_role("button", name="Chercher", exact=True).is_visible()
    assert page.locator(".score").first.inner_text().startswith("Score 0,")
    assert page.locator(".feedback").first.get_by_role("button").all_inner_texts() == ["✓ Y répond", "✗ N’y répond pas"]
    expect(page.locator(".legend li").first).to_have_text("Article")
    expect(page.locator(".part h3")).to_have_text(["Texte", "Renvois", "Voisinage", "Sommaire"])
    assert page.url.endswith("&lang=fr")
    # The law keeps its own language, also for whoever has it read out.
    assert page.get_attribute(".law", "lang") == "en"
    assert page.get_attribute(".snippet >> nth=0", "lang") == "en"
    page.goto(page.url.split("?")[0])
    expect(page.locator("h1")).to_have_text("Posez une question à la loi")
    expect(page.locator("#corpus")).to_have_text("valmere\u202f: 321 articles")


def test_the_browsers_language_comes_first(open_page, expect):
    page = open_page(locale="fr-BE")
    expect(page.locator("h1")).to_have_text("Posez une question à la loi")
    page = open_page("/?lang=en", locale="fr-BE")
    expect(page.locator("h1")).to_have_text("Ask the law a question")
    page = open_page("/?lang=xx", locale="nl-BE")
    expect(page.locator("h1")).to_have_text("Ask the law a question")


def test_plurals(open_page):
    page = open_page()
    say = """async ([language, count]) => {
      const { say, speak } = await import("/static/js/words.js");
      speak(language);
      return say("hits_found", { count });
    }"""
    assert [page.evaluate(say, ["en", count]) for count in (0, 1, 2, 1200)] == [
        *("0 articles", "1 article", "2 articles", "1,200 articles"),
    ]
    assert [page.evaluate(say, ["fr", count]) for count in (0, 1, 2, 1200)] == [
        *("0 article", "1 article", "2 articles", "1\u202f200 articles"),
    ]
