"""What odd questions find, by BM25 alone and by the ensemble of words, headings and citations."""

import pytest

from statgraph import Retriever, corpus_from_dicts
from statgraph.errors import UsageError
from statgraph.systems import pipeline
from statgraph.systems.pipeline import train_run, untrained_run
from statgraph.systems.presets import resolve_config

ENGLISH = {
    "Deposit": "The lessor may ask for a deposit of two months of rent.",
    "Notice": "The tenant gives notice in writing three months before leaving.",
    "Animals": "The tenant must not keep dangerous dogs in the dwelling.",
    "Repairs": "The lessor must repair the roof and the heating.",
    "Subletting": "The tenant may sublet a room with the consent of the lessor.",
}
FRENCH = {
    "Dépôt de garantie": "Le bailleur peut demander un dépôt de garantie de deux mois de loyer.",
    "Préavis": "Le locataire donne congé par écrit, avec un préavis de trois mois.",
    "École": "Tout enfant de six ans va à l'école de sa commune.",
    "Réparations": "Le bailleur répare le toit et le chauffage.",
}


def law(language, articles):
    rows = [
        {"id": str(number), "number": str(number), "rubric": rubric, "text": text, "path": ["Code"]}
        for number, (rubric, text) in enumerate(articles.items(), start=1)
    ]
    return corpus_from_dicts(rows, language=language, name=f"odd-{language}")


@pytest.fixture(scope="module", params=["words", pytest.param("transformer", marks=pytest.mark.real)])
def retrievers(request, tmp_path_factory):
    """Return by language what searches a run of BM25 and an untrained ensemble, with its transformer or without."""
    corpora = {"en": law("en", ENGLISH), "fr": law("fr", FRENCH)}
    folder = tmp_path_factory.mktemp("odd")
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "words":
            patch.setattr(pipeline, "EMBEDDED_MOST", 0)
        runs = {
            language: (
                train_run(corpus, resolve_config("bm25", ["device=cpu"]), folder / language).folder,
                untrained_run(corpus),
            )
            for language, corpus in corpora.items()
        }
    return {language: [Retriever.load(run, device="cpu") for run in both] for language, both in runs.items()}


@pytest.mark.parametrize(
    ("language", "question", "best"),
    [
        ("en", "Must I NOT keep dogs?", "3"),  # "not" is a stop word: the same as the next
        ("en", "May I keep dogs?", "3"),
        ("en", "Is it true that the lessor need not repair the heating?", "4"),
        ("en", "Subletting", "5"),  # a bare rubric
        ("en", "notice", "2"),
        ("en", "WHO REPAIRS THE ROOF?", "4"),
        ("en", "Darf ich einen Hund halten, or keep two dogs, s'il vous plaît ?", "3"),  # the law's own words lead
        ("en", "the depsoit", "1"),
        ("fr", "QUEL EST LE PRÉAVIS ?", "2"),
        ("fr", "QUEL EST LE PREAVIS ?", "2"),
        ("fr", "a quel age va-t-on a l'ecole", "3"),
        ("fr", "depot de garantie", "1"),
    ],
)
def test_the_best_article(retrievers, language, question, best):
    for retriever in retrievers[language]:
        assert retriever.search(question, 3)[0].article_id == best


def test_a_bare_number_finds_the_article_that_has_it_where_numbers_are_read(retrievers):
    by_words, ensemble = retrievers["en"]
    assert by_words.search("4", 3) == []  # numbers are no part of what BM25 searches
    assert ensemble.search("4", 3)[0].article_id == "4"
    assert ensemble.search("article 4", 3)[0].article_id == "4"
    assert ensemble.unknown_articles("article 44") == ["44"]


@pytest.mark.parametrize("question", ["", "  ", "\n"])
def test_an_empty_question_is_refused(retrievers, question):
    for retriever in retrievers["en"]:
        with pytest.raises(UsageError, match="the question is blank"):
            retriever.search(question)


def test_nothing_is_found_by_another_language_alone(retrievers):
    by_words, _ = retrievers["en"]
    assert by_words.search("Wer muss das Dach ausbessern?", 3) == []


def test_missing_accents_and_capitals_are_not_shown_as_corrections(retrievers):
    for retriever in retrievers["fr"]:
        assert retriever.corrected_words("QUEL EST LE PREAVIS ?") == {}


@pytest.mark.parametrize(
    ("language", "question", "corrected"),
    [
        ("en", "digs with open mouths and vents, but for the depsoit", {"depsoit": "deposit"}),  # not dogs, months
        ("fr", "les foyers, et le locatiare", {"locatiare": "locataire"}),  # not loyers
    ],
)
def test_words_that_the_law_lacks_and_its_language_has_are_no_typing_errors(retrievers, language, question, corrected):
    for retriever in retrievers[language]:
        assert retriever.corrected_words(question) == corrected
