from dataclasses import replace

import pytest

from statgraph.encoders.article_text import article_text
from statgraph.errors import UsageError
from statgraph.formats.catalogue.catalogue import CATALOGUE
from statgraph.law.records import Question


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """Return ir_datasets; as it is imported, it makes folders for what it may fetch."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("IR_DATASETS_HOME", str(tmp_path_factory.mktemp("ir_datasets")))
        yield pytest.importorskip("ir_datasets")


@pytest.fixture
def register(library, monkeypatch):
    from statgraph.integrations.ir_datasets import register

    monkeypatch.setattr(library.registry, "_registered", dict(library.registry._registered))
    return register


@pytest.fixture
def asked(corpus):
    questions = (
        Question("q1", "Who gets the deposit?", "dev", ("D1", "K1")),
        Question("q2", "How is notice given?", "test", ("N1",)),
        Question("p1", "Deposit", "dev", ("D1",), {"set": "titles"}),
    )
    return replace(corpus, questions=questions)


def test_a_split_has_the_articles_its_questions_and_their_labels(library, register, asked):
    asked = replace(asked, articles=(replace(asked.articles[0], rubric="Deposit"), *asked.articles[1:]))
    assert register(asked) == ("statgraph/rent", "statgraph/rent/dev", "statgraph/rent/test")
    dev = library.load("statgraph/rent/dev")
    assert [doc.doc_id for doc in dev.docs_iter()] == ["D1", "N1", "K1"]
    first = next(dev.docs_iter())
    assert first == ("D1", "Art. 1", "Rent Code > The lease", "The deposit is returned.", "Deposit")
    assert first.default_text() == article_text(asked.articles[0])
    assert [tuple(query) for query in dev.queries_iter()] == [("q1", "Who gets the deposit?")]
    assert dev.qrels_dict() == {"q1": {"D1": 1, "K1": 1}}
    assert (dev.docs_count(), dev.queries_count(), dev.docs_lang()) == (3, 1, "en")
    assert library.docs_parent_id("statgraph/rent/dev") == "statgraph/rent"
    assert not library.load("statgraph/rent").has_queries()


def test_articles_are_looked_up_and_sliced(library, register, asked):
    register(asked, "lease")
    docs = library.load("statgraph/lease/test").docs
    assert docs.lookup("K1").title == "Art. 3"
    assert list(docs.lookup(["N1", "gone"])) == ["N1"]
    assert (docs[1].doc_id, [doc.doc_id for doc in docs[::2]]) == ("N1", ["D1", "K1"])


def test_ids_with_blanks_are_spelt_as_in_trec_runs(library, register, asked):
    """`search --trec` writes "Art.%201", so that a run is measured by the labels of ir_datasets."""
    articles = (replace(asked.articles[0], article_id="Art. 1"), *asked.articles[1:])
    questions = (Question("q 1", "Who gets the deposit?", "dev", ("Art. 1",)),)
    register(replace(asked, articles=articles, questions=questions))
    dev = library.load("statgraph/rent/dev")
    assert dev.qrels_dict() == {"q%201": {"Art.%201": 1}}
    assert [query.query_id for query in dev.queries_iter()] == ["q%201"]
    assert dev.docs.lookup("Art.%201").title == "Art. 1"


def test_each_corpus_of_the_catalogue_is_loaded_by_name(library, register, asked):
    for name, entry in CATALOGUE.items():
        register(replace(asked, name=name, language=entry.language))
        dataset = library.load(f"statgraph/{name}/dev")
        assert (dataset.docs_lang(), dataset.queries_lang()) == (entry.language, entry.language)
        assert next(dataset.qrels_iter()).doc_id == "D1"


def test_an_id_is_given_once(register, asked):
    register(asked)
    with pytest.raises(UsageError, match="another name"):
        register(asked)
