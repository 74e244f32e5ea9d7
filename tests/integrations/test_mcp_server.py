"""The tools for assistants, asked by the protocol's own client in this process."""

import asyncio
import importlib
import sys
from functools import partial

import pytest

pytest.importorskip("mcp", reason="the tools need the extra 'mcp'")

from mcp import Client

from statgraph.config import RunConfig
from statgraph.errors import DependencyError
from statgraph.integrations import mcp_server
from statgraph.integrations.mcp_server import create_mcp_server
from statgraph.law.records import Article, Corpus
from statgraph.service.loaded_run import LoadedRun

LEASES, PAY = ("Rent Code", "Book I. Leases"), ("Work Code", "Pay")
OLD, NEW = {"valid_to": "2020-01-01"}, {"valid_from": "2020-01-01"}


@pytest.fixture(scope="module")
def ask(write_run, tmp_path_factory):
    """Return a function that calls a tool and returns (structured content, None), or (None, what was wrong)."""
    articles = (
        Article("R1", "Art. 1, Rent Code", "The deposit is returned. See article 2.", LEASES, 1),
        Article("R2-old", "Art. 2, Rent Code", "Notice is given three months ahead.", LEASES, 2, OLD),
        Article("R2-new", "Art. 2, Rent Code", "Notice is given one month ahead. See article 1.", LEASES, 3, NEW),
        Article("W2", "Art. 2, Work Code", "Wages are paid monthly.", PAY, 1),
        Article("W3", "Art. 3, Work Code", "Overtime counts twice. " * 200 + "A deposit is never withheld.", PAY, 2),
    )
    corpus = Corpus("rent", "en", "CC0", "written for the tests", articles, questions=())
    config = RunConfig(system="bm25", retriever="bm25")
    run = LoadedRun(write_run(tmp_path_factory.mktemp("mcp") / "run", corpus, config))
    return partial(answer_of, create_mcp_server({"rent": run}))


def answer_of(server, tool, **arguments):
    """Return (structured content, None) of a call, or (None, what was wrong)."""

    async def answer():
        async with Client(server) as client:
            return await client.call_tool(tool, arguments)

    result = asyncio.run(answer())
    return (None, result.content[0].text) if result.is_error else (result.structured_content, None)


def ids(records):
    return [record["article_id"] for record in records]


def test_a_search_returns_what_is_cited(ask):
    found, _ = ask("search_law", question="deposit", k=1)
    (hit,) = found["articles"]
    assert hit.pop("score") > 0
    assert hit == {
        "article_id": "R1",
        "title": "Art. 1, Rent Code",
        "number": "",
        "rubric": "",
        "path": ["Rent Code", "Book I. Leases"],
        "valid_from": None,
        "valid_to": None,
        "text": "The deposit is returned. See article 2.",
        "whole": True,
        "rank": 1,
        "probability": None,
        "passage": "The deposit is returned.",
    }
    assert found["nothing_fits"] is False
    assert found["searched"] == 4  # the old version is not today's law


def test_a_search_says_which_articles_are_not_there_and_which_words_it_read_as_others(ask):
    found, _ = ask("search_law", question="the depsoit, article 99 of the Rent Code")
    assert (found["unknown_articles"], found["corrected"]) == (["99, Rent Code"], {"depsoit": "deposit"})


def test_a_search_is_limited_to_a_day_a_code_and_a_heading(ask):
    assert ids(ask("search_law", question="notice", as_of="2019-12-31")[0]["articles"]) == ["R2-old"]
    assert ids(ask("search_law", question="notice")[0]["articles"]) == ["R2-new"]
    found, _ = ask("search_law", question="the deposit", codes=["Work Code"])
    assert (ids(found["articles"]), found["searched"]) == (["W3"], 2)
    found, _ = ask("search_law", question="the deposit", heading=list(LEASES))
    assert (ids(found["articles"]), found["searched"]) == (["R1"], 2)


def test_a_long_article_is_shown_around_its_passage_and_read_in_full(ask):
    (hit,) = ask("search_law", question="deposit", codes=["Work Code"])[0]["articles"]
    assert (len(hit["text"]), hit["whole"], hit["passage"]) == (2000, False, "A deposit is never withheld.")
    assert hit["text"].endswith(hit["passage"])
    article, _ = ask("get_article", article_id="W3")
    assert (article["whole"], len(article["text"])) == (True, 23 * 200 + 28)


def test_what_stands_around_an_article(ask):
    around, _ = ask("neighbours", article_id="R1")
    assert around["article"]["path"] == ["Rent Code", "Book I. Leases"]
    assert ids(around["siblings"]) == ["R2-old", "R2-new"]
    assert ids(around["cited_by"]) == ["R2-new"]
    assert [cited["title"] for cited in around["cites"]] == ["Art. 2, Rent Code"]
    assert around["left_out"] == 0


def test_long_lists_are_cut_to_the_nearest(ask, monkeypatch):
    monkeypatch.setattr(mcp_server, "MAX_LISTED", 1)
    around, _ = ask("neighbours", article_id="R1")
    assert (ids(around["siblings"]), around["left_out"]) == (["R2-old"], 1)


@pytest.mark.parametrize(
    ("day", "current", "other"), [("2019-12-31", "R2-old", "R2-new"), ("2020-01-01", "R2-new", "R2-old")]
)
def test_the_versions_of_a_number_on_a_day(ask, day, current, other):
    law, _ = ask("law_on_date", date=day, articles="art. 2", codes=["Rent Code"])
    assert (ids(law["in_force"]), ids(law["not_in_force"]), law["date"]) == ([current], [other], day)
    assert law["in_force"][0]["text"].startswith("Notice is given ")


def test_a_number_is_that_of_every_code_unless_one_is_named(ask):
    assert set(ids(ask("law_on_date", date="today", articles="article 2")[0]["in_force"])) == {"R2-new", "W2"}


def test_the_law_under_a_heading_on_a_day(ask, monkeypatch):
    heading = ["Rent Code"]
    law, _ = ask("law_on_date", date="2021-01-01", heading=heading)
    assert (ids(law["in_force"]), ids(law["not_in_force"]), law["left_out"]) == (["R1", "R2-new"], ["R2-old"], 0)
    monkeypatch.setattr(mcp_server, "MAX_TEXTS", 1)
    assert ask("law_on_date", date="2021-01-01", heading=heading)[0]["left_out"] == 1
    assert ids(ask("law_on_date", date="2021-01-01", articles="Art. 2", heading=heading)[0]["in_force"]) == ["R2-new"]


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("search_law", {"question": " "}, "blank"),
        ("search_law", {"question": "deposit", "codes": ["Rent"]}, "choose from Rent Code, Work Code"),
        ("search_law", {"question": "deposit", "as_of": "1.1.2020"}, "write it like"),
        ("search_law", {"question": "deposit", "asof": "2020-01-01"}, "Extra inputs are not permitted"),
        ("search_law", {"question": "deposit", "k": 51}, "less than or equal to 50"),
        ("get_article", {"article_id": "R2"}, "take one from search_law"),
        ("law_on_date", {"date": "2020-01-01"}, "or both"),
        ("law_on_date", {"date": "2020-01-01", "articles": "the deposit"}, "search_law"),
        ("law_on_date", {"date": "2020-01-01", "heading": ["Book I. Leases"]}, "take the path of an article"),
    ],
)
def test_what_is_wrong_is_told_with_its_remedy(ask, tool, arguments, said):
    found, wrong = ask(tool, **arguments)
    assert found is None
    assert said in wrong


def test_of_several_laws_each_call_names_one(train_town, write_run, tmp_path):
    corpus = Corpus("bell", "en", "CC0", "tests", (Article("B1", "Art. 1", "Bells ring.", ("Bell Code",), 1),), ())
    bell = LoadedRun(write_run(tmp_path / "bell", corpus, RunConfig(system="bm25", retriever="bm25")))
    server = create_mcp_server({"town": LoadedRun(train_town("bm25"), device="cpu"), "bell": bell})
    assert server.instructions.startswith("Statutes of town (16 articles, language en); bell (1 articles, language en)")
    found, _ = answer_of(server, "search_law", question="When do bells ring?", law="bell")
    assert ids(found["articles"]) == ["B1"]
    assert answer_of(server, "get_article", article_id="dogs1", law="town")[0]["article_id"] == "dogs1"
    for named, said in (({}, "law\n  Field required"), ({"law": "moon"}, "unknown law 'moon'; choose from town, bell")):
        assert said in answer_of(server, "get_article", article_id="B1", **named)[1]


def test_a_missing_extra_is_one_line(monkeypatch):
    monkeypatch.delitem(sys.modules, "statgraph.integrations.mcp_server")
    monkeypatch.setitem(sys.modules, "mcp.server", None)
    with pytest.raises(DependencyError, match=r"not installed; run in statgraph's checkout: pip install '.\[serve\]'$"):
        importlib.import_module("statgraph.integrations.mcp_server")
