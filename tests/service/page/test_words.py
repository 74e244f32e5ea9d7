"""The interface's languages: the same messages in each, and every text of the page changes with the choice."""

import re

import pytest

from statgraph.service.config import LANGUAGES

LOAD = "async name => (await import(`/static/words/${name}.js`)).default"
LOAD_ALL = """async names => Object.fromEntries(await Promise.all(names.map(
  async name => [name, (await import(`/static/words/${name}.js`)).default])))"""
VALUES = re.compile(r"\{\w+\}")
# What Intl.PluralRules asks for; a plural that is missing would throw.
PLURALS = "name => new Intl.PluralRules(name).resolvedOptions().pluralCategories"


def shapes(words: dict) -> dict[str, set[str]]:
    """Return the {values} of each message, whatever its plurals."""
    forms = {key: list(said.values()) if isinstance(said, dict) else [said] for key, said in words.items()}
    return {key: {value for form in said for value in VALUES.findall(form)} for key, said in forms.items()}


@pytest.fixture(scope="module")
def words(evaluate) -> dict[str, dict]:
    """Return the messages of each language."""
    return evaluate(LOAD_ALL, list(LANGUAGES))


def test_the_page_knows_the_languages_that_the_service_does(evaluate):
    offered = "import('/static/js/words.js').then(({ LANGUAGES }) => Object.keys(LANGUAGES))"
    assert sorted(evaluate(offered)) == sorted(LANGUAGES)


def test_every_language_says_the_same_things(words, evaluate):
    english = words["en"]
    plurals = [key for key, said in english.items() if isinstance(said, dict)]
    for name, said in words.items():
        assert shapes(said) == shapes(english), name
        assert [key for key, forms in said.items() if isinstance(forms, dict)] == plurals, name
        assert {frozenset(said[key]) for key in plurals} == {frozenset(evaluate(PLURALS, name))}, name


def test_no_language_repeats_anothers_sentences(words):
    texts = [text for said in words.values() for text in said.values() if isinstance(text, str)]
    sentences = [text for text in texts if text.count(" ") > 3]
    assert len(sentences) > 200
    assert [text for text in sentences if sentences.count(text) > 1] == []


def test_every_word_that_the_page_asks_for_is_there(open_page, service):
    page = open_page()
    english = page.evaluate(LOAD, "en")
    asked = set(re.findall(r'data-words(?:-label|-placeholder)?="(\w+)"', page.request.get(service.url).text()))
    modules = page.evaluate("performance.getEntriesByType('resource').map(({ name }) => name)")
    for url in (url for url in modules if "/static/js/" in url):
        asked.update(re.findall(r'say\("(\w+)"', page.request.get(url).text()))
    assert len(asked) > 50
    assert asked <= set(english)


def test_french_by_choice_and_ever_after(open_page, expect):
    page = open_page("/?q=deposit&article=H26")
    expect(page.locator(".hit")).to_have_count(10)
    expect(page.locator(".node").first).to_be_attached()
    page.get_by_label("Language").select_option(label="Français")
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
    expect(page.locator("#corpus")).to_have_text("valmere\u202f: 321 articles en vigueur")


def test_the_browsers_language_comes_first(open_page, expect):
    page = open_page(locale="fr-BE")
    expect(page.locator("h1")).to_have_text("Posez une question à la loi")
    page = open_page("/?lang=en", locale="fr-BE")
    expect(page.locator("h1")).to_have_text("Ask the law a question")
    page = open_page("/?lang=xx", locale="pl-PL")
    expect(page.locator("h1")).to_have_text("Ask the law a question")


def test_what_the_service_calls_itself(open_page, own_service, expect):
    page = open_page("/?article=H26", url=own_service.url)
    expect(page).to_have_title("Art. 26, Housing Code · Town <law>")
    expect(page.locator("#name")).to_have_text("Town <law>")
    expect(page.get_by_label("Sprache")).to_have_value("de")  # before the browser's English
    expect(page.locator(".contact")).to_have_text("Kontakt law@town.example")
    assert page.get_attribute(".contact a", "href") == "mailto:law@town.example"
    assert page.evaluate("document.querySelector('.brand-logo').naturalWidth") == 8
    page.goto(own_service.url + "/?lang=it")
    expect(page.locator("h1")).to_have_text("Chieda alla legge")
