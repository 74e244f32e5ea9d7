"""Typing errors and missing accents, read as words of the law."""

import pytest

from statgraph.retrieval.lexical.spelling import Spelling, in_word_list, without_accents

LAW = {
    "deposit": 5,
    "deposed": 1,
    "loyer": 9,
    "foyer": 20,
    "foyers": 1,
    "école": 3,
    "rente": 2,
    "rentes": 7,
    "notification": 4,
    "28bis": 1,
    "tribunal": 3,
    "œuvre": 2,
    "côté": 1,
    "cote": 8,
    "法律": 4,
    "the": 50,
}


@pytest.fixture
def spelling():
    return Spelling(
        lambda: LAW, lambda word: LAW.get(word, 0), {"hotel", "over"}.__contains__, ignored={"the", "would"}
    )


@pytest.mark.parametrize(
    ("typed", "read", "edits"),
    [
        ("depsoit", "deposit", 1),  # two letters changed places: one edit
        ("loyr", "loyer", 1),  # and not foyer, which is as near and more frequent: its first letter differs
        ("rentxs", "rentes", 1),
        ("rentx", "rente", 1),
        ("notificaton", "notification", 1),
        ("notfcation", "notification", 2),  # of ten letters
        ("ecole", "école", 0),
        ("ecoles", "école", 1),
        ("oeuvre", "œuvre", 0),
        ("côtè", "cote", 0),  # of equally near words the more frequent one
        ("rentez", "rentes", 1),
    ],
)
def test_a_word_is_read_as_the_nearest_of_the_law(spelling, typed, read, edits):
    correction = spelling.correction(typed)
    assert (correction.word, correction.edits) == (read, edits)


@pytest.mark.parametrize(
    "typed",
    [
        "lye",  # too short for an edit
        "depzoyt",  # two edits, of seven letters
        "over",  # of everyday language
        "2bis",
        "法津",
        "woudl",  # nearest to a stop word
        "xylophone",
    ],
)
def test_a_word_is_left_alone(spelling, typed):
    assert spelling.correction(typed) is None


@pytest.mark.parametrize(
    ("language", "law", "words", "errors"),
    [
        ("en", "insured quiet used care cast", "injured quit sued cars cats", "isnured queit csat"),
        ("fr", "salaire baux clause", "salières causes beaux", "slaaire cluase"),
        ("de", "zahlen länger", "wahlen sänger", "zalhen längre"),
        ("es", "fianza casa", "finanzas cosas", "fiansa"),
        ("it", "canone casa", "canzone cose", "canoen"),
        ("nl", "huur woning", "huurt honing", "wonign"),
        ("et", "pean üüri", "peab suri", "paen"),
        ("no", "husleie", "husleien", "husliee"),
        ("sr", "stan", "stani", "satn"),
        ("vi", "town", "", "twon"),  # a language without a list
    ],
)
def test_words_of_the_language_in_any_inflection_are_no_typing_errors(language, law, words, errors):
    spelling = Spelling(law.split, lambda _: 1, lambda word: in_word_list(word, language))
    assert [word for word in words.split() if spelling.correction(word)] == []
    assert [word for word in errors.split() if spelling.correction(word) is None] == []


def test_the_words_are_read_at_the_first_correction_alone():
    calls = []
    spelling = Spelling(lambda: calls.append(1) or ["rent"], lambda _: 1, lambda _: False)
    assert calls == []
    assert [spelling.correction(word).word for word in ("retn", "rennt")] == ["rent", "rent"]
    assert calls == [1]


def test_accents_and_ligatures_are_taken_off():
    assert [without_accents(word) for word in ("préavis", "œuvre", "straße", "ёж")] == [
        "preavis",
        "oeuvre",
        "strasse",
        "еж",
    ]
