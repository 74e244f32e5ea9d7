import re

import pytest

from statgraph.formats.acts.references import ReferenceIndex, number_key

PATTERNS = (re.compile(r"^(?P<act>[^#&]*)#(?P<article>.+)$"), re.compile(r"^(?P<act>\w+)&artikel=(?P<number>[^&]+)"))
WHOLE = (re.compile(r"^(?P<article>.+)$"),)


@pytest.fixture
def index():
    index = ReferenceIndex()
    index.add("https://www.law.example/dogs/", "chp_1__art_7", "Art. 7", [("D7", "")])
    index.add("https://www.law.example/dogs/", "chp_2__art_70", "Art. 70 bis", [("D70", "")])
    index.add("https://www.law.example/dogs/", "chp_2__att_1", "", [("att", "")])
    index.add("https://www.law.example/dogs/", "chp_3__att_1", "", [("other att", "")])
    index.add("cats", "/law/cats/s1", "Section 1", [("C1@2001", "2010-01-01"), ("C1", "")])
    return index


@pytest.mark.parametrize(
    ("target", "act", "expected"),
    [
        ("#chp_1__art_7", "https://www.law.example/dogs/", "D7"),
        ("#chp_1__art_7__para_2__point_a", "http://law.example/dogs", "D7"),
        ("#art_70", "law.example/dogs", "D70"),
        ("#art_7", "law.example/dogs", "D7"),
        ("#art_71", "law.example/dogs", None),
        ("#att_1", "law.example/dogs", None),  # there are two
        ("http://law.example/dogs#art_7", "cats", "D7"),
        ("foxes#art_7", "cats", None),
        ("cats&artikel=1&lid=2", "foxes", "C1"),
        ("cats&artikel=2", "foxes", None),
        ("", "cats", None),
    ],
)
def test_targets_lead_to_articles(index, target, act, expected):
    assert index.find(target, act, PATTERNS) == expected


def test_an_id_can_hold_its_act(index):
    assert index.find("/law/cats/s1/a/2", "law.example/dogs", WHOLE, "2020-01-01") == "C1"
    assert index.find("/law/cats/s12", "law.example/dogs", WHOLE) is None


def test_the_version_is_that_of_the_day(index):
    assert index.find("/law/cats/s1", "cats", WHOLE, "2005-01-01") == "C1@2001"
    assert index.find("/law/cats/s1", "cats", WHOLE, "2010-01-01") == "C1"


@pytest.mark.parametrize(("number", "expected"), [("Art. 12 bis", "12BIS"), ("§ 7.2", "7.2"), ("Preamble", "")])
def test_numbers_are_compared_without_words(number, expected):
    assert number_key(number) == expected
