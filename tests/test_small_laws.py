"""The small laws themselves: their size, their questions, their citations, and what the poorer variants lack.

`laws/official_acts` holds six more, as six states would publish them, with eight questions each.
"""

import pytest
import yaml

from statgraph import Retriever, corpus_from_dicts
from statgraph.formats.acts.profile import fitting_profile
from statgraph.formats.acts.reader import root_of
from statgraph.formats.importing import import_corpus
from statgraph.law.citations.references import ReferenceFinder
from statgraph.law.tree import tree_of
from statgraph.retrieval.lexical.analysis import STEMMERS
from statgraph.systems.pipeline import train_run
from statgraph.systems.presets import resolve_config
from tests.law_fixtures import LAWS, NAMES
from tools.official_acts import SHOWN, ranks

SIZES = {"household-services": (84, 21), "vereine": (62, 17)}


def citations(corpus):
    """Return how many articles name another."""
    finder = ReferenceFinder([article.title for article in corpus.articles], [a.code for a in corpus.articles])
    return sum(
        any(row != named for named in finder.find(article.text, article.code))
        for row, article in enumerate(corpus.articles)
    )


@pytest.mark.parametrize("name", NAMES)
def test_a_law_has_20_questions_each_about_an_article_of_its_own(name, small_law):
    law = small_law(name)
    assert (len(law.articles), len(tree_of(law.articles).headings)) == SIZES[name]
    assert len(law.split("test")) == len({question.article_ids for question in law.questions}) == 20
    assert citations(law) >= 10


@pytest.mark.parametrize("name", NAMES)
def test_variants_lack_what_they_are_named_for(name, small_law):
    assert citations(small_law(name, "without citations")) == 0
    assert [heading.depth for heading in tree_of(small_law(name, "without headings").articles).headings] == [1]
    assert [heading.depth for heading in tree_of(small_law(name, "with one heading").articles).headings] == [1, 2]


OFFICIAL = LAWS / "official_acts"
# What a reader must recognise, and find: profile, language, articles, and how many with marked references.
OFFICIAL_ACTS = {
    "biblioteche": ("akn-it", "it", 15, 2),
    "creches": ("akn-lu", "fr", 17, 2),
    "fahrradverleih": ("gii", "de", 16, 0),
    "kampeerterreinen": ("nl", "nl", 18, 1),
    "mercadillos": ("boe", "es", 17, 0),
    "taxi": ("clml", "en", 18, 0),
}
LAY_QUESTIONS = yaml.safe_load((OFFICIAL / "questions.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", OFFICIAL_ACTS)
def test_an_official_act_is_recognised_and_read(name):
    head = (OFFICIAL / f"{name}.xml").read_bytes()
    law = import_corpus(OFFICIAL / f"{name}.xml")
    cited = sum(bool(article.metadata.get("references")) for article in law.articles)
    read = fitting_profile(head, root_of(head)).name, law.language, len(law.articles), cited
    assert read == OFFICIAL_ACTS[name]
    assert {len(article.path) for article in law.articles} == {2}
    assert [a.number for a in law.articles if not a.rubric] == ["paragraph 1"] * (name == "taxi")  # of its schedule


def found(system, folder):
    """Return how many questions have their answer among the first hits, and how many there are."""
    ranked = [
        rank
        for name, questions in LAY_QUESTIONS.items()
        for rank in ranks(import_corpus(OFFICIAL / f"{name}.xml"), system, questions, folder / name)
    ]
    return sum(1 <= rank <= SHOWN for rank in ranked), len(ranked)


def test_words_alone_find_a_third_of_what_laypeople_ask(tmp_path):
    assert found("bm25", tmp_path) == (15, 48)


@pytest.mark.real
def test_an_ensemble_without_training_questions_finds_three_quarters(tmp_path):
    answered, asked = found("ensemble", tmp_path)
    assert answered >= 0.75 * asked


# In each language with a stemmer: two articles, of which a reader types a word of the second, as the law has it.
DOGS_AND_BOATS = {
    "ar": ("يدفع مالك الكلب رسما ـ كل سنة", "يسجل مالك القارب قاربه", "القارب"),
    "ca": ("Qui té un gos paga una taxa", "Qui té una barca la inscriu", "barca"),
    "cs": ("Kdo má psa, platí poplatek", "Kdo má člun, zapíše jej", "člun"),
    "da": ("Den, der har en hund, betaler en afgift", "Den, der har en båd, anmelder den", "båd"),
    "de": ("Wer einen Hund hält, zahlt eine Steuer", "Wer ein Boot hat, meldet es an", "Boot"),
    "el": ("Όποιος έχει σκύλο πληρώνει τέλος έως τον Μάιο", "Όποιος έχει βάρκα τη δηλώνει", "βάρκα"),
    "en": ("Whoever keeps a dog pays a tax", "Whoever has a boat registers it", "boat"),
    "eo": ("Kiu havas hundon pagas imposton", "Kiu havas boaton registras ĝin", "boaton"),
    "es": ("Quien tiene un perro paga una tasa", "Quien tiene una barca la inscribe", "barca"),
    "et": ("Koera omanik maksab maksu", "Paadi omanik registreerib selle", "paadi"),
    "eu": ("Txakurra duenak zerga ordaintzen du", "Itsasontzia duenak erregistratzen du", "itsasontzia"),
    "fa": ("صاحب سگ مالیات می‌پردازد", "صاحب قایق آن را ثبت می‌کند", "قایق"),
    "fi": ("Koiran omistaja maksaa veron", "Veneen omistaja rekisteröi sen", "veneen"),
    "fr": ("Quiconque a un chien paie une taxe", "Quiconque a un bateau le déclare", "bateau"),
    "ga": ("Íocann úinéir madra cáin", "Cláraíonn úinéir báid é", "báid"),
    "hi": ("कुत्ते का मालिक कर देता है", "नाव का मालिक उसे दर्ज करता है", "नाव"),
    "hu": ("Akinek kutyája van, adót fizet", "Akinek csónakja van, bejelenti", "csónakja"),
    "hy": ("Շան տերը վճարում է հարկ", "Նավակի տերը գրանցում է այն", "նավակի"),
    "id": ("Pemilik anjing membayar pajak", "Pemilik perahu mendaftarkannya", "perahu"),
    "it": ("Chi ha un cane paga una tassa", "Chi ha una barca la registra", "barca"),
    "lt": ("Šuns savininkas moka mokestį", "Valties savininkas ją registruoja", "valties"),
    "nb": ("Den som har en hund, betaler en avgift", "Den som har en båt, melder den", "båt"),
    "ne": ("कुकुर को मालिकले कर तिर्छ, यो वर्षमा एकपटक", "डुङ्गाको मालिकले दर्ता गर्छ", "डुङ्गाको"),
    "nl": ("Wie een hond houdt, betaalt belasting", "Wie een boot heeft, meldt die aan", "boot"),
    "nn": ("Den som har ein hund, betaler ei avgift", "Den som har ein båt, melder han", "båt"),
    "no": ("Den som har en hund, betaler en avgift", "Den som har en båt, melder den", "båt"),
    "pl": ("Kto ma psa, płaci podatek", "Kto ma łódź, zgłasza ją", "łódź"),
    "pt": ("Quem tem um cão paga uma taxa", "Quem tem um barco regista-o", "barco"),
    "ro": ("Cine are un câine plătește o taxă", "Cine are o barcă o înscrie", "barcă"),
    "ru": ("Владелец собаки платит налог", "Владелец лодки её регистрирует", "лодки"),
    "sr": ("Власник пса плаћа порез", "Власник чамца га пријављује", "чамца"),
    "st": ("Monga ntja o lefa lekgetho", "Monga sekepe o a se ngodisa", "sekepe"),
    "sv": ("Den som har en hund betalar skatt", "Den som har en båt anmäler den", "båt"),
    "ta": ("நாய் வைத்திருப்பவர் வரி செலுத்துகிறார்", "படகு வைத்திருப்பவர் பதிவு செய்கிறார்", "படகு"),
    "tr": ("Köpek sahibi vergi öder", "Tekne sahibi onu kaydeder", "tekne"),
    "yi": ("דער וואָס האָט אַ הונט צאָלט אַ שטײַער", "דער וואָס האָט אַ שיפֿל פֿאַרשרײַבט עס", "שיפֿל"),
}


@pytest.mark.parametrize("language", STEMMERS)
def test_a_law_in_every_language_with_a_stemmer_is_searched(language, tmp_path):
    dogs, boats, word = DOGS_AND_BOATS[language]
    rows = [{"id": name, "text": text, "path": ["1"]} for name, text in (("dogs", dogs), ("boats", boats))]
    law = corpus_from_dicts(rows, language=language, name="dogs-and-boats")
    run = train_run(law, resolve_config("bm25", ["device=cpu"]), tmp_path / "run")
    retriever = Retriever.load(run.folder, device="cpu")
    assert [hit.article_id for hit in retriever.search(word, 1)] == ["boats"]
    assert [hit.article_id for hit in retriever.search(dogs, 1)] == ["dogs"]
