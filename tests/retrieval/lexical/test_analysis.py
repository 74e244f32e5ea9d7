import pytest

from statgraph.retrieval.lexical.analysis import STOP_WORDS, analyser, question_analyser, words_of_terms


@pytest.mark.parametrize(
    ("language", "text", "terms"),
    [
        ("en", "The Lessors' dwellings, Article 12(3)", ["the", "lessor", "dwell", "articl", "12", "3"]),
        ("fr", "L'employeur, les employeurs", ["l", "employeur", "le", "employeur"]),
        # A ligature, full-width digits, an accent as a character of its own, and soft hyphens.
        ("xx", "ﬁn １２ e\u0301te\u0301 tri\u00adbu\u00adnal", ["fin", "12", "été", "tribunal"]),
        ("xx", "bo\u200bat wo\u2060rd ٢٧ ๒๗ १२", ["boat", "word", "27", "27", "12"]),
        ("fr", "l´eau, l'eau, l’eau", ["l", "eau"] * 3),
        ("uk", "обʼєкт, об'єкт, об’єкт", ["об", "єкт"] * 3),
        ("fa", "می\u200cخرد", ["می", "خرد"]),  # in Persian the joiner is a blank within a word
        ("de", "Auf\u200cla\u00adge", ["auflag"]),
        # Scripts without spaces are cut into overlapping pairs; punctuation ends a run.
        ("zh", "劳动合同", ["劳动", "动合", "合同"]),
        ("zh", "第12条 ABC合同", ["第", "12", "条", "abc", "合同"]),
        ("ja", "人々の家", ["人々", "々の", "の家"]),
        ("ja", "データ・契約", ["デー", "ータ", "契約"]),
        ("th", "เช่า", ["เช", "ช่", "่า"]),
        # Korean writes particles onto words, of which those of one syllable are terms too.
        ("ko", "보증금을 제2조의", ["보증", "증금", "금을", "제", "2", "조의", "조"]),
        ("ko", "집에서는 국가", ["집에", "에서", "서는", "집", "국가", "국"]),
        ("ko", "ABC가 \u1100\u1161", ["abc", "가", "가"]),
        ("tr", "KİRA ISI", ["kira", "ıs"]),
        ("az", "İCARƏ QIZ", ["icarə", "qız"]),
    ],
)
def test_terms_of_a_text(language, text, terms):
    assert analyser(language)(text) == terms


@pytest.mark.parametrize(
    ("language", "word"),
    [("xx", "अधिकार"), ("xx", "ஒப்பந்தம்"), ("he", "שָׁלוֹם"), ("xx", "عَقْد"), ("ko", "계약")],
)
def test_marks_stay_inside_their_word(language, word):
    assert len(analyser(language)(f"{word} {word}")) == 2


@pytest.mark.parametrize("text", ["L'employeur, e\u0301te\u0301, § 12a", "किरायेदार 12", "a_b-c\u00add"])
def test_words_are_the_same_beside_a_script_without_spaces(text):
    assert analyser("fr")(f"{text} 法") == [*analyser("fr")(text), "法"]


def test_stemmers_see_the_vowel_signs():
    assert analyser("hi")("किरायेदार किरायेदारों") == [analyser("hi")("किरायेदार")[0]] * 2


@pytest.mark.parametrize(
    ("language", "question", "terms"),
    [
        ("es", "¿Qué fianza me puede pedir el casero?", ["fianz", "pued", "ped", "caser"]),
        ("fr", "Qu'est-ce que l'employeur doit ?", ["employeur", "doit"]),
        ("en", "Will the State pay?", ["state", "pay"]),
        ("es", "el Estado", ["estad"]),
        ("en", "To be or not to be", ["to", "be", "or", "not", "to", "be"]),
        ("zh", "什么合同", ["什么", "么合", "合同"]),
        ("xx", "the lamp", ["the", "lamp"]),
    ],
)
def test_stop_words_of_a_question_are_left_out_unless_it_has_no_others(language, question, terms):
    assert question_analyser(language, stop_words=False)(question) == terms
    assert question_analyser(language, stop_words=True)(question) == analyser(language)(question)


@pytest.mark.parametrize("language", STOP_WORDS)
def test_every_list_of_stop_words_is_there(language):
    assert len(question_analyser(language, stop_words=False)("lamp")) == 1


@pytest.mark.parametrize(
    ("text", "language", "words"),
    [
        ("Bridges, a bridge", "en", {"bridg": "bridges", "a": "a"}),
        ("Die Häuser", "de", {"die": "die", "haus": "häuser"}),
        ("\u6cd5\u5f8b\u4eba", "zh", {"\u6cd5\u5f8b": "\u6cd5\u5f8b", "\u5f8b\u4eba": "\u5f8b\u4eba"}),
    ],
)
def test_terms_stand_for_the_words_of_the_text(text, language, words):
    assert words_of_terms(text, language) == words
