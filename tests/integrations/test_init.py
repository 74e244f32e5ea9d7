"""The retriever as LangChain, LlamaIndex and Haystack take it: equal but for their names of things."""

import asyncio
import importlib
import sys
from types import SimpleNamespace

import pytest

from statgraph.config import RunConfig
from statgraph.errors import DependencyError, RunError, UsageError
from statgraph.law.records import Article, Corpus


@pytest.fixture
def langchain():
    pytest.importorskip("langchain_core")
    from statgraph.integrations.langchain import StatgraphRetriever

    def about(document):
        return document.id, document.page_content, document.metadata

    return SimpleNamespace(
        make=StatgraphRetriever,
        ask=lambda retriever, question: retriever.invoke(question),
        ask_async=lambda retriever, question: retriever.ainvoke(question),
        record="Document",
        about=about,
    )


@pytest.fixture
def llamaindex():
    pytest.importorskip("llama_index.core")
    from statgraph.integrations.llamaindex import StatgraphRetriever

    def about(node):
        assert node.score == node.metadata["score"]
        return node.node_id, node.text, node.metadata

    return SimpleNamespace(
        make=StatgraphRetriever,
        ask=lambda retriever, question: retriever.retrieve(question),
        ask_async=lambda retriever, question: retriever.aretrieve(question),
        record="NodeWithScore",
        about=about,
    )


@pytest.fixture
def haystack(monkeypatch):
    monkeypatch.setenv("HAYSTACK_TELEMETRY_ENABLED", "False")
    pytest.importorskip("haystack")
    from statgraph.integrations.haystack import StatgraphRetriever

    def make(run, k=10, **options):
        return StatgraphRetriever(run, top_k=k, **options)

    async def ask_async(retriever, question):
        return (await retriever.run_async(question))["documents"]

    def about(document):
        assert document.score == document.meta["score"]
        return document.id, document.content, document.meta

    return SimpleNamespace(
        make=make,
        ask=lambda retriever, question: retriever.run(question)["documents"],
        ask_async=ask_async,
        record="Document",
        about=about,
    )


@pytest.fixture(params=["langchain", "llamaindex", "haystack"])
def framework(request):
    return request.getfixturevalue(request.param)


def test_what_it_finds_are_the_hits_best_first(framework, run):
    retriever = framework.make(run=run, k=2)
    found = framework.ask(retriever, "the deposit")
    assert [type(record).__name__ for record in found] == [framework.record] * 2
    assert asyncio.run(framework.ask_async(retriever, "the deposit")) == found
    (first_id, first_text, first), (second_id, second_text, second) = map(framework.about, found)
    assert (first_id, first_text) == ("D1", "The deposit is returned.")
    assert (second_id, second_text) == ("K1", "Keys and deposit are handed back to whom the lease names.")
    assert first.pop("score") > second["score"] > 0
    assert first == {"article_id": "D1", "title": "Art. 1", "path": ["Rent Code", "The lease"], "rank": 1}


def test_the_day_decides_which_law_is_searched(framework, run):
    def ids(question, **options):
        return [framework.about(found)[0] for found in framework.ask(framework.make(**options), question)]

    assert ids("notice of the deposit", run=run, k=3) == ["D1", "K1"]
    assert ids("notice", run=str(run), as_of="2019-01-01")[0] == "N1"


def test_a_code_and_a_heading_limit_what_is_searched(framework, write_run, tmp_path):
    articles = (
        Article("R1", "Art. 1", "The deposit is returned.", ("Rent Code", "Leases"), 1),
        Article("R2", "Art. 2", "A deposit bears interest.", ("Rent Code", "Money"), 2),
        Article("W1", "Art. 1", "A deposit is never withheld from wages.", ("Work Code", "Money"), 1),
    )
    corpus = Corpus("two codes", "en", "CC0", "written for the tests", articles, questions=())
    run = write_run(tmp_path / "run", corpus, RunConfig(system="bm25", retriever="bm25"))

    def ids(**limits):
        return {framework.about(found)[0] for found in framework.ask(framework.make(run=run, **limits), "deposit")}

    assert (ids(), ids(codes=["Rent Code"])) == ({"R1", "R2", "W1"}, {"R1", "R2"})
    assert ids(heading=["Rent Code", "Money"]) == {"R2"}
    with pytest.raises(UsageError, match="choose from Rent Code, Work Code"):
        ids(codes=["Rent"])


def test_it_is_a_part_of_a_chain(langchain, run):
    chain = langchain.make(run=run, k=1) | (lambda documents: documents[0].metadata["title"])
    assert chain.invoke("keys") == "Art. 3"


def test_what_is_wrong_is_told(framework, run, tmp_path):
    with pytest.raises(RunError, match="no such run folder"):
        framework.ask(framework.make(run=tmp_path / "none"), "keys")
    with pytest.raises(UsageError, match="the question is blank"):
        framework.ask(framework.make(run=run), " ")


def test_langchain_takes_limits_with_a_question(langchain, run):
    retriever = langchain.make(run=run, k=1)
    limits = {"k": 3, "as_of": "2019-01-01", "codes": ["Rent Code"]}
    found = retriever.invoke("notice of the deposit", **limits)
    assert [document.id for document in found] == ["N1", "D1", "K1"]
    assert asyncio.run(retriever.ainvoke("notice of the deposit", **limits)) == found
    assert len(retriever.invoke("the deposit")) == 1
    with pytest.raises(UsageError, match="unknown limit of a search 'asof'; choose from k, "):
        retriever.invoke("notice", asof="2019-01-01")


def test_options_out_of_range_are_refused(langchain, llamaindex, haystack, run):
    with pytest.raises(UsageError, match="unknown limit of a search 'asof'"):
        haystack.make(run, asof="2019-01-01")
    with pytest.raises(TypeError, match="asof"):
        llamaindex.make(run, asof="2019-01-01")
    with pytest.raises(ValueError, match="greater than or equal to 1"):
        langchain.make(run=run, k=0)
    with pytest.raises(ValueError, match=r"asof\n  Extra inputs are not permitted"):
        langchain.make(run=run, asof="2019-01-01")
    with pytest.raises(UsageError, match="k: must be at least 1"):
        llamaindex.make(run, k=0).retrieve("keys")


IN_CHECKOUT = "run in statgraph's checkout: pip install '.[integrations]'"


@pytest.mark.parametrize(
    ("name", "module", "remedy"),
    [
        ("langchain", "langchain_core.callbacks", IN_CHECKOUT),
        (
            "llamaindex",
            "llama_index.core.base.base_retriever",
            IN_CHECKOUT,
        ),
        ("haystack", "haystack", IN_CHECKOUT),
        ("mteb", "datasets", "run: pip install 'mteb>=2.26,<3'"),
    ],
)
def test_a_missing_library_is_one_line(monkeypatch, name, module, remedy):
    monkeypatch.delitem(sys.modules, f"statgraph.integrations.{name}", raising=False)
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(DependencyError) as refused:
        importlib.import_module(f"statgraph.integrations.{name}")
    assert str(refused.value).endswith(f": not installed; {remedy}")


def test_haystack_takes_limits_with_a_question_and_saves_pipelines(haystack, run):
    from haystack import Pipeline

    pipeline = Pipeline()
    pipeline.add_component("law", haystack.make(run, k=1))
    saved = Pipeline.loads(pipeline.dumps(), allowed_modules=["statgraph.*"])
    for known in (pipeline, saved):
        answer = known.run({"law": {"query": "notice of the deposit", "top_k": 3, "as_of": "2019-01-01"}})
        assert [document.id for document in answer["law"]["documents"]] == ["N1", "D1", "K1"]
        assert len(known.run({"law": {"query": "the deposit"}})["law"]["documents"]) == 1


@pytest.mark.parametrize("section", ["LangChain", "LlamaIndex", "Haystack"])
def test_the_example_of_the_docs_runs_as_it_stands(request, section, doc_example, run, tmp_path, monkeypatch, capsys):
    request.getfixturevalue(section.lower())  # skips where the library is missing
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "mine").symlink_to(run)
    monkeypatch.chdir(tmp_path)
    doc_example("integrations.md", section)
    assert "Art. 1" in capsys.readouterr().out


def test_the_example_of_the_docs_answers_from_its_sources(langchain, doc_example, run, tmp_path, monkeypatch, capsys):
    from langchain_core.language_models import FakeListChatModel

    read = []

    class ChatOpenAI(FakeListChatModel):
        def _call(self, messages, *args, **kwargs):
            read.append(messages[0].content)
            return super()._call(messages, *args, **kwargs)

    model = SimpleNamespace(ChatOpenAI=lambda **given: ChatOpenAI(responses=["The tenant (Art. 1)."]))
    monkeypatch.setitem(sys.modules, "langchain_openai", model)
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "mine").symlink_to(run)
    monkeypatch.chdir(tmp_path)
    doc_example("integrations.md", "An answer with its sources")
    assert "\n\nArt. 1\nThe deposit is returned." in read[0]
    assert read[0].endswith("Question: Who gets the deposit back?")
    answer, *sources = capsys.readouterr().out.splitlines()
    assert answer == "The tenant (Art. 1)."
    assert "Art. 1 > The lease" in sources
