import sys
from types import ModuleType

import pytest

from statgraph.corpus.catalogue import corpus_named
from statgraph.errors import CorpusError, FetchError

QUESTIONS = "id,category,subcategory,question,extra_description,article_ids\n"


def write_corpus_files(folder, articles, questions, text):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / articles).write_text(
        f"id,reference,article,law_type,code,book,part,act,chapter,section,subsection,description\n"
        f'7,"Art. 1, Code",{text},regional,Code,Livre 1,,,,,,\n'
    )
    (folder / questions.format("train")).write_text(QUESTIONS + "1,,,Pourquoi ?,,7\n")
    (folder / questions.format("test")).write_text(QUESTIONS + "2,,,Quand ?,,7\n")
    return folder


@pytest.fixture
def hub(monkeypatch, tmp_path):
    """A stand-in for the hub's client: serves bBSARD from a folder named like a commit and notes what it is asked."""
    commit = tmp_path / "snapshots" / "0123abc"
    write_corpus_files(commit / "fr", "corpus.csv", "{}.csv", "Lampes.")
    write_corpus_files(commit / "nl", "corpus.csv", "{}.csv", "Lampen.")
    client = ModuleType("huggingface_hub")
    client.asked = []

    def snapshot_download(repository, **options):
        client.asked.append((repository, options))
        return str(commit)

    client.snapshot_download = snapshot_download
    monkeypatch.setitem(sys.modules, "huggingface_hub", client)
    return client


def test_local_folder_replaces_the_hub(tmp_path):
    folder = write_corpus_files(tmp_path, "articles_fr.csv", "questions_fr_{}.csv", "Lampes.")
    corpus = corpus_named("bsard").build(folder)
    assert (corpus.name, corpus.language, corpus.licence) == ("bsard", "fr", "CC BY-NC-SA 4.0")
    assert corpus.source == "https://huggingface.co/datasets/maastrichtlawtech/bsard, from local files"
    assert [article.path for article in corpus.articles] == [("Code", "Livre 1")]
    assert [question.split for question in corpus.questions] == ["train", "test"]


def test_each_language_of_bbsard_is_a_corpus(hub):
    for name, text in (("bbsard-fr", "Lampes."), ("bbsard-nl", "Lampen.")):
        corpus = corpus_named(name).build(None)
        assert (corpus.language, corpus.articles[0].text) == (name[-2:], text)
        assert corpus.source == "https://huggingface.co/datasets/clips/bBSARD at 0123abc"
    assert hub.asked[1] == ("clips/bBSARD", {"repo_type": "dataset", "allow_patterns": ["nl/*.csv"]})


def test_hub_out_of_reach_is_one_error_with_a_way_out(hub):
    def fail(repository, **options):
        raise OSError("Got: ConnectError: name not known\nPlease check your connection.")

    hub.snapshot_download = fail
    with pytest.raises(
        FetchError, match=r"^bbsard-nl: clips/bBSARD .* name not known\); .* import bsard FOLDER .* nl "
    ):
        corpus_named("bbsard-nl").build(None)


def test_missing_client_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(FetchError, match=r"^bsard: .*pip install huggingface_hub"):
        corpus_named("bsard").build(None)


def test_missing_folder_and_bad_files_are_refused(tmp_path):
    with pytest.raises(CorpusError, match=r"gone: no such folder; .*https://"):
        corpus_named("bsard").build(tmp_path / "gone")
    with pytest.raises(CorpusError, match=r"holds none of articles_fr_detailed.csv"):
        corpus_named("bsard").build(tmp_path)
