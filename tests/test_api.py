import re
from pathlib import Path

import pytest

import statgraph
from statgraph import (
    Corpus,
    Run,
    StatgraphError,
    build_graph,
    corpus_from_dicts,
    evaluate,
    fetch,
    import_corpus,
    train,
    update,
)
from statgraph.errors import CorpusError, FetchError, RunError, UsageError
from statgraph.formats.catalogue.catalogue import CATALOGUE

PAGE = Path(__file__).parents[1] / "docs" / "python.md"
ARTICLE = {"id": "d1", "text": "Dogs are taxed.", "path": ["Dog Code"]}
DOGS = ({"id": "q1", "text": "Is a dog taxed?", "articles": ("d1",), "split": "test"},)


def test_every_line_of_the_page_runs(tmp_path, monkeypatch, capsys):
    text, names = PAGE.read_text(encoding="utf-8"), {}
    monkeypatch.chdir(tmp_path)
    for name, table in re.findall(r'^```csv title="([^"]+)"\n(.*?)^```', text, re.MULTILINE | re.DOTALL):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(table, encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert len(re.findall(r"^```python", text, re.MULTILINE)) == len(blocks) == 11
    for block in blocks:
        exec(compile(block, str(PAGE), "exec"), names)
    said = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r"R@1: [01]\.\d\d \(95 % interval [01]\.\d\d to [01]\.\d\d\), dev [01]\.\d\d", said[0])
    assert "1 h4 Art. 4, Harbour Code" in said
    assert said[-4:] == [
        "corpus: must be a Corpus, such as import_corpus(...) or read_corpus(...) returns (got str)",
        "settings: 'bm25.k' is not a setting; did you mean 'bm25.k1'? How slowly repeated words saturate.",
        "unknown split 'tset'; choose from train, dev, test",
        f"unknown corpus 'harbor'; choose from {', '.join(('sample', *CATALOGUE))}",
    ]


def test_the_script_of_the_page_is_short():
    script = PAGE.read_text(encoding="utf-8").partition("```python\n")[2].partition("```")[0]
    assert len(script.splitlines()) <= 15


@pytest.mark.parametrize("name", statgraph.__all__)
def test_every_public_name_is_there(name):
    assert getattr(statgraph, name) is not None


def test_a_name_that_is_not_public():
    with pytest.raises(AttributeError, match=r"^module 'statgraph' has no attribute 'tarin'$"):
        statgraph.tarin  # noqa: B018


@pytest.fixture(scope="module")
def dogs() -> Corpus:
    return corpus_from_dicts([ARTICLE], DOGS, language="en", name="dogs", licence="CC0")


def test_rows_become_a_corpus(dogs):
    assert (dogs.name, dogs.language, dogs.licence, dogs.source) == ("dogs", "en", "CC0", "unknown")
    assert dogs.articles[0].path == ("Dog Code",)
    assert dogs.questions[0].article_ids == ("d1",)
    tree = [{"id": "c", "title": "Dog Code"}, {"id": "s", "title": "Taxes", "parent": "c"}]
    citing = [{"id": "g", "title": "Guide", "text": "Pay for dogs.", "cites": ["d1"]}]
    placed = corpus_from_dicts(({"id": 1, "text": "x", "heading": "s"},), language="en", headings=tree)
    assert placed.articles[0].path == ("Dog Code", "Taxes")
    assert corpus_from_dicts([ARTICLE], DOGS, language="en", citing=citing).citing[0].article_ids == ("d1",)


def test_every_problem_of_rows_is_listed_with_its_place():
    with pytest.raises(CorpusError) as refused:
        corpus_from_dicts([ARTICLE | {"text": ""}, "d2", ARTICLE], [{"id": "q", "articles": "d1"}], language="en")
    assert refused.value.problems == (
        "articles[0]: article 'd1' has an empty text; fill it or remove the article",
        "articles[1]: str instead of a dict; give a dict a row",
        "articles[2]: article id 'd1' appears twice (first on articles[0]); ids must be unique",
        'questions[0]: \'articles\' is not a list of ids; write it like ["id 1", "id 2"]',
        "questions[0]: question 'q' has an empty text; fill it or remove the question",
    )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda dogs, run: corpus_from_dicts([ARTICLE], language=3), r"^language: must be text \(got 3\)$"),
        (lambda dogs, run: corpus_from_dicts([ARTICLE], language="en", nane="x"), "^unknown option 'nane'; choose"),
        (lambda dogs, run: corpus_from_dicts([ARTICLE], language="en", splits="x"), "^unknown way to split 'x'; "),
        (lambda dogs, run: import_corpus(3, "csv", language="en"), r"^source: must be the path .*\(got int\)$"),
        (lambda dogs, run: import_corpus("law", "odt"), "^unknown format 'odt'; choose from jsonl, csv"),
        (lambda dogs, run: fetch("nowhere"), "^unknown corpus 'nowhere'; choose from sample, legi-fr"),
        (lambda dogs, run: build_graph("dogs"), r"^corpus: must be a Corpus.*\(got str\)$"),
        (lambda dogs, run: build_graph(dogs, "tree"), r"^relations: must be a list of names.*\(got 'tree'\)$"),
        (lambda dogs, run: train(dogs, 3), r"^system: must be the name of a system \(got int\)$"),
        (lambda dogs, run: train(dogs, "bm25", fast=True), "^fast: leaves transformers out of an ensemble"),
        (lambda dogs, run: train(dogs, "bm25", out=3), r"^out: must be a folder \(got int\)$"),
        (lambda dogs, run: train(dogs, "bm25", settings="bm25.k1=1"), "^settings: must be a mapping"),
        (lambda dogs, run: train(dogs, "bm25", settings={"bm25.b": 2}), r"^bm25\.b: must be in \[0, 1\]"),
        (lambda dogs, run: train(dogs, "bm25", seed="x"), "'seed' must be a whole number"),
        (lambda dogs, run: train(dogs, "bm25", progress=3), "^progress: must be a function of a step"),
        (lambda dogs, run: evaluate(3, dogs), r"^run: must be a run or its folder \(got int\)$"),
        (lambda dogs, run: evaluate(run, "dogs"), r"^corpus: must be a Corpus.*\(got str\)$"),
        (lambda dogs, run: evaluate(run, dogs, "dev"), "^split 'dev' of corpus 'dogs' has no questions"),
        (lambda dogs, run: update(run, "dogs"), r"^corpus: must be a Corpus.*\(got str\)$"),
        (lambda dogs, run: Run(run.folder).evaluate(), "opened without its corpus; call evaluate"),
    ],
)  # fmt: skip
def test_a_wrong_value_is_one_line(dogs, dogs_run, call, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match=message) as refused:
        call(dogs, dogs_run)
    assert "\n" not in str(refused.value)
    assert list(tmp_path.iterdir()) == []


@pytest.fixture(scope="module")
def dogs_run(dogs, tmp_path_factory) -> Run:
    return train(dogs, "bm25", out=tmp_path_factory.mktemp("runs") / "dogs")


def test_a_run_and_its_measure(dogs, dogs_run):
    assert repr(dogs_run) == f"Run('{dogs_run.folder}', system='bm25')"
    measured = dogs_run.evaluate()
    assert measured.metrics["mAP"] == 1.0
    assert measured.intervals["mAP"] == (1.0, 1.0)
    with pytest.raises(RunError, match="trained on corpus 'dogs', not on 'valmere'"):
        Run(dogs_run.folder, fetch("sample"))
    with pytest.raises(UsageError, match="out: the sample is embedded"):
        fetch("sample", "corpora/mine")
    assert issubclass(RunError, StatgraphError)


def test_a_corpus_that_was_fetched_is_not_fetched_again(tmp_path, monkeypatch, dogs):
    monkeypatch.chdir(tmp_path)
    for folder in ("legi-fr", "legi-fr-by-labels"):
        statgraph.write_corpus(dogs, Path("corpora") / folder)
    assert fetch("legi-fr") == fetch("legi-fr", splits="by-labels") == dogs
    for options in ({"again": True}, {"out": "here"}, {"splits": "by-topics"}):
        with pytest.raises(FetchError, match=r"^there/socialgouv-legi-data-[\d.]+tgz: no such file"):
            fetch("legi-fr", from_folder="there", **options)
    with pytest.raises(UsageError, match="gerlayqa: research only"):
        fetch("gerlayqa")
