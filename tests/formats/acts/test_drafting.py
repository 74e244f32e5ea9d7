"""Acts and their versions as articles of a corpus."""

from __future__ import annotations

from dataclasses import replace

import pytest

from statgraph.formats.acts.drafting import ReadAct, draft_acts
from statgraph.formats.acts.profile import profile_named
from statgraph.formats.acts.reader import Act, ActArticle
from statgraph.law.draft import Draft

ONE = ActArticle("Art. 1", "Leads", "Dogs are led.", ("Part 1",), "art_1")
TWO = ActArticle("Art. 2", "", "See article 1.", ("Part 1",), "art_2", targets=("#art_1__para_2", "/cats#art_1"))


def version(day: str, *articles: ActArticle, place: str = "", **about: str) -> ReadAct:
    act = Act(**{"act_id": "/dogs", "title": "Dog Act", "language": "en", "licence": "", "date": day} | about)
    return ReadAct(act, articles, profile_named("akn"), place or f"{day}.xml")


@pytest.fixture
def drafted():
    """Return a function that drafts acts; the draft's `references` are the counts."""

    def draft_of(*read: ReadAct):
        draft = Draft(name="dogs", language="en")
        draft.references = draft_acts(draft, read)
        return draft

    return draft_of


def dates(draft: Draft) -> dict[str, tuple[object, object]]:
    return {
        one.article_id: (one.metadata.get("valid_from", ""), one.metadata.get("valid_to", ""))
        for one in draft.corpus().articles
    }


def test_an_act_becomes_a_code(drafted):
    draft = drafted(version("2020-01-01", ONE, TWO))
    first, second = draft.corpus().articles
    assert (first.article_id, first.title, first.path) == ("/dogs#art_1", "Art. 1, Dog Act", ("Dog Act", "Part 1"))
    assert (first.number, first.rubric, dict(first.metadata)) == ("Art. 1", "Leads", {"valid_from": "2020-01-01"})
    assert second.metadata == {
        "valid_from": "2020-01-01",
        "references": ["/dogs#art_1"],
        "references_elsewhere": ["/cats#art_1"],
    }
    assert draft.references == {True: 1, False: 1}


def test_references_lead_to_other_acts_of_the_corpus(drafted):
    cats = version("2020-01-01", replace(ONE, text="Cats roam."), act_id="/cats", title="Cat Act")
    articles = drafted(version("2020-01-01", ONE, TWO), cats).corpus().articles
    assert articles[1].metadata == {"valid_from": "2020-01-01", "references": ["/dogs#art_1", "/cats#art_1"]}
    assert articles[2].path[0] == "Cat Act"


def test_acts_of_one_title_are_told_apart_by_their_ids(drafted):
    other = version("2020-01-01", ONE, act_id="/puppies")
    assert [one.path[0] for one in drafted(version("", ONE), other).corpus().articles] == [
        "Dog Act",
        "Dog Act (/puppies)",
    ]


AMENDED, THREE = replace(TWO, text="See article 1, always."), replace(ONE, number="Art. 3", local_id="art_3")


@pytest.mark.parametrize(
    ("states", "expected"),
    [
        (  # only what changes has versions
            {"2024-01-01": (ONE, AMENDED), "2020-01-01": (ONE, TWO)},
            {"1": ("2020", ""), "2@2020-01-01": ("2020", "2024"), "2": ("2024", "")},
        ),
        (  # what is repealed and new stays in its place
            {"2020-01-01": (ONE, TWO), "2022-01-01": (ONE, THREE)},
            {"1": ("2020", ""), "2": ("2020", "2022"), "3": ("2022", "")},
        ),
        (  # an article can come back
            {"2020-01-01": (ONE, TWO), "2021-01-01": (ONE,), "2022-01-01": (ONE, TWO)},
            {"1": ("2020", ""), "2@2020-01-01": ("2020", "2021"), "2": ("2022", "")},
        ),
    ],
)
def test_versions_have_the_days_on_which_something_changes(drafted, states, expected):
    found = dates(drafted(*(version(day, *articles) for day, articles in states.items())))
    years = {of.removeprefix("/dogs#art_"): (first[:4], last[:4]) for of, (first, last) in found.items()}
    assert list(years.items()) == list(expected.items())
    assert {day[4:] for days in found.values() for day in days if day} == {"-01-01"}


def test_an_articles_own_dates_count(drafted):
    old = replace(ONE, valid_from="2001-05-01")
    new = replace(ONE, text="Dogs are led well.", valid_from="2023-05-01")
    assert dates(drafted(version("2020-01-01", old), version("2024-01-01", new))) == {
        "/dogs#art_1@2001-05-01": ("2001-05-01", "2023-05-01"),
        "/dogs#art_1": ("2023-05-01", ""),
    }
    assert dates(drafted(version("2020-01-01", old, TWO)))["/dogs#art_1"] == ("2001-05-01", "")


def test_ids_are_those_of_the_newest_version_alone(drafted):
    """So that an update from one version to the next keeps them."""
    amended = replace(ONE, text="Dogs are led well.")
    both = drafted(version("2020-01-01", ONE), version("2024-01-01", amended))
    alone = drafted(version("2024-01-01", amended))
    assert {one.article_id for one in alone.corpus().articles} <= {one.article_id for one in both.corpus().articles}
    assert alone.corpus().articles[0].article_id == "/dogs#art_1"


def test_parts_of_a_version_are_joined(drafted):
    annex = replace(ONE, number="Annex", local_id="annex", text="Fees.")
    parts = [version("2020-01-01", ONE, place="act.xml"), version("2020-01-01", annex, place="annex.xml")]
    assert list(dates(drafted(*parts))) == ["/dogs#art_1", "/dogs#annex"]
    amended = version("2024-01-01", replace(ONE, text="Dogs run."), place="new.xml")
    assert dates(drafted(*parts, amended))["/dogs#annex"] == ("2020-01-01", "")  # whose new file was not given


def test_two_files_of_one_version_are_refused(drafted):
    draft = drafted(version("", ONE, place="a.xml"), version("", ONE, place="b.xml"))
    with pytest.raises(Exception, match=r"b\.xml: holds the act '/dogs' as another file does"):
        draft.corpus()


def test_ids_and_titles_are_made_of_what_an_article_says(drafted):
    annexed = replace(ONE, annex="annex I", local_id="Art. 1")
    whole = replace(ONE, local_id="/dogs/s1", annex="/dogs/schedule", number="", path=("DOG – ACT", "Part 1"))
    articles = drafted(version("", ONE, annexed, annexed, whole)).corpus().articles
    assert [one.article_id for one in articles] == [
        "/dogs#art_1", "/dogs#annex_I/Art._1", "/dogs#annex_I/Art._1~2", "/dogs/s1",
    ]  # fmt: skip
    assert (articles[3].title, articles[3].path) == ("Leads, Dog Act", ("Dog Act", "Part 1"))


def test_versions_side_by_side_end_where_the_next_begins(drafted):
    days = {"Old.": "2000-01-01", "New.": "2020-01-01"}
    old, new = (replace(ONE, text=text, valid_from=day) for text, day in days.items())
    act = replace(version("2024-01-01", new, old, TWO), profile=profile_named("boe"))
    articles = drafted(act).drafted_articles()
    assert [(one.article_id, one.metadata["valid_from"], one.metadata.get("valid_to")) for one in articles[:2]] == [
        ("/dogs#art_1@2000-01-01", "2000-01-01", "2020-01-01"),
        ("/dogs#art_1", "2020-01-01", None),
    ]
