"""Official XML as a whole corpus: from files, archives and a server on this machine."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from statgraph.errors import CorpusError, UsageError
from statgraph.formats.acts.text import TextReader
from statgraph.formats.importing import draft_source, explained, import_corpus
from statgraph.law.draft import Reading

MADE_UP = Path(__file__).parent / "acts" / "made_up"


@pytest.fixture
def dutch(tmp_path):
    (tmp_path / "law").mkdir()
    preamble = b"<considerans>Omdat het nacht is.</considerans>"
    act = (MADE_UP / "nl.xml").read_bytes().replace(b"<wet-besluit>", b"<wet-besluit>" + preamble)
    (tmp_path / "law" / "new.xml").write_bytes(act)
    old = act.replace(b'"2025-01-01"', b'"2010-01-01"').replace(b"'s nachts", b"overdag").replace(b"2001-", b"2000-")
    (tmp_path / "law" / "old.xml").write_bytes(old)
    (tmp_path / "law" / "README.txt").write_text("about")
    (tmp_path / "law" / "other.xml").write_text("<lamps/>")
    return tmp_path / "law"


def test_two_versions_become_one_corpus(dutch):
    corpus = import_corpus(dutch, "xml")
    assert (corpus.name, corpus.language, corpus.licence) == ("law", "nl", "no copyright (art. 11 Auteurswet)")
    assert [(one.article_id, one.metadata.get("valid_to")) for one in corpus.articles] == [
        ("BWBR9999999#71@2000-01-01", "2001-01-01"),
        ("BWBR9999999#71", None),
        ("BWBR9999999#72", None),
        ("BWBR9999999#74", None),
    ]
    first = corpus.articles[1]
    assert (first.number, first.rubric, first.path) == ("Artikel 1.1", "Branden", ("Lampenwet", "Hoofdstuk 1 Licht"))
    assert first.metadata["references"] == ["BWBR9999999#72"]
    assert corpus.articles[2].metadata["references_elsewhere"] == ["jci1.3:c:BWBR0000001&artikel=5"]


def test_what_the_user_says_counts_more(dutch):
    corpus = import_corpus(dutch / "new.xml", "xml", name="lampen", licence="CC0", reading=Reading(profile="nl"))
    assert (corpus.name, corpus.licence) == ("lampen", "CC0")


def test_the_command_says_what_it_left_out(run_here, dutch, tmp_path):
    done = run_here("import", "xml", dutch, "--out", "out")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == (
        "out: corpus 'out' (nl)\n"
        "  articles   4\n"
        "  headings   2\n"
        "  rubrics    2\n"
        "  questions  train 0, dev 0, test 0\n"
        "  labels     0\n"
        "  left out   1 of 3 references with a target, which lead elsewhere\n"
        "  left out   1 file with other suffixes than XML: README.txt\n"
        "  left out   1 file of no known format: other.xml\n"
        "  words      71.8 % of 71 words are in articles and headings\n"
        "  words      11.3 % left out: preamble (first: new.xml:1)\n"
        "  words      8.5 % left out: metadata (first: new.xml:4)\n"
        "  words      5.6 % left out: repealed (first: new.xml:8)\n"
        "  words      2.8 % left out: notes (first: new.xml:8)\n"
        "Next: statgraph train --corpus out\n"
    )


def test_a_file_in_another_language_is_left_out(tmp_path, run_here):
    for name in ("canada", "canada-fr"):
        (tmp_path / f"{name}.xml").write_bytes((MADE_UP / f"{name}.xml").read_bytes())
    done = run_here("import", "xml", tmp_path, "--out", tmp_path / "out", "--language", "fr")
    assert "left out   1 file in another language than fr: canada.xml" in done.stdout
    (article,) = map(json.loads, (tmp_path / "out" / "corpus.jsonl").read_text(encoding="utf-8").splitlines())
    assert article["title"] == "Article 1, Loi sur les lampes"


def test_an_archive_is_imported_from_its_address(dutch, serve_folder):
    with zipfile.ZipFile(dutch.parent / "law.zip", "w") as archive:
        archive.write(dutch / "new.xml", "new.xml")
    address = f"{serve_folder(dutch.parent)}law.zip"
    corpus = import_corpus(address, "xml")
    assert len(corpus.articles) == 3
    assert corpus.source.startswith(f"{address} (SHA-256 ")
    with pytest.raises(UsageError, match="only xml is downloaded, not jsonl"):
        import_corpus(address, "jsonl", language="nl")
    assert next(iter(explained("xml", address))).startswith("new.xml: profile nl, ")


def test_explain_prints_what_became_of_every_word(run_here, dutch, tmp_path):
    done = run_here("import", "xml", dutch / "new.xml", "--explain")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == (
        "new.xml: profile nl, Basiswettenbestand (wetten.overheid.nl), the Netherlands\n"
        "  act_id    BWBR9999999\n"
        "  title     Lampenwet\n"
        "  language  nl\n"
        "  licence   no copyright (art. 11 Auteurswet)\n"
        "  date      2025-01-01\n"
        "  read as running text, for no key names them: tbody, tgroup\n"
        "references with a target: 2, of which to an article here 1\n"
        "new.xml:1  left out  preamble: Omdat het nacht is.\n"
        "new.xml:2  heading   Hoofdstuk 1 Licht\n"
        "new.xml:3  article   Artikel 1.1, Branden (Lampenwet > Hoofdstuk 1 Licht), 56 characters\n"
        "new.xml:4  left out  metadata: dubbel\n"
        "new.xml:6  left out  metadata: Stb. 2000\n"
        "new.xml:7  article   Artikel 1:2 (Lampenwet > Hoofdstuk 1 Licht), 11 characters\n"
        "new.xml:8  left out  notes: Vervallen\n"
        "new.xml:8  left out  repealed: Artikel\n"
        "new.xml:8  left out  repealed: 1.3\n"
        "new.xml:9  heading   Bijlage 1\n"
        "new.xml:9  article   Bijlage 1 (Lampenwet), 8 characters\n"
        "72.2 % of 36 words are in articles and headings\n"
        "11.1 % left out: preamble (first: new.xml:1)\n"
        "8.3 % left out: metadata (first: new.xml:4)\n"
        "5.6 % left out: repealed (first: new.xml:8)\n"
        "2.8 % left out: notes (first: new.xml:8)\n"
    )
    assert not (tmp_path / "out").exists()


def test_a_reader_that_drops_a_paragraph_cannot_hide_it(monkeypatch, tmp_path):
    """The walk that counts the words is not the one that reads them."""
    whole = TextReader.lines

    def without_the_second(self, element, without=()):
        text, targets = whole(self, element, without)
        return "\n".join(line for number, line in enumerate(text.split("\n")) if number != 1), targets

    assert len(import_corpus(MADE_UP / "clml.xml", "xml").articles) > 1
    monkeypatch.setattr(TextReader, "lines", without_the_second)
    with pytest.raises(CorpusError, match=r"clml.xml:\d+: \d+ of \d+ words would be lost, such as these"):
        import_corpus(MADE_UP / "clml.xml", "xml")
    assert import_corpus(MADE_UP / "clml.xml", "xml", reading=Reading(allow_lost=True)).articles


@pytest.mark.parametrize("encoding", ["utf-16", "cp1252", "shift_jis"])
def test_words_are_counted_in_any_encoding(tmp_path, encoding):
    text = (MADE_UP / "akn.xml").read_text(encoding="utf-8").rpartition("?>")[2]
    kept = "".join(sign for sign in text if sign.encode(encoding, "ignore"))
    (tmp_path / "act.xml").write_bytes(f'<?xml version="1.0" encoding="{encoding}"?>{kept}'.encode(encoding))
    draft = draft_source("xml", tmp_path / "act.xml")
    assert draft.report.balance.words > 40
    assert not draft.report.balance.lost


def test_a_page_is_read_in_the_charset_that_it_declares(tmp_path):
    page = (
        '<html lang="fr"><head><meta http-equiv="Content-Type" content="text/html; charset=iso-8859-1"></head><body>'
        '<p class="doc-ti">RÈGLEMENT</p><p class="ti-art">Article premier</p><p>L’été, 5 €.</p></body></html>'
    )
    path = tmp_path / "page.html"
    path.write_bytes(page.encode("cp1252"))
    (article,) = import_corpus(path, "xml").articles
    assert (article.text, article.code) == ("L’été, 5 €.", "RÈGLEMENT")
    path.write_bytes(page.replace("iso-8859-1", "utf-8").encode("cp1252"))
    with pytest.raises(CorpusError, match=r"page.html: holds bytes that are not UTF-8, .* convert it to UTF-8"):
        import_corpus(path, "xml")


def test_a_page_loses_the_characters_that_xml_cannot_hold(tmp_path):
    (tmp_path / "page.html").write_text(
        '<html lang="en"><body><p class="doc-ti">Lamp\x01 Act</p>\x02Of&#3; lamps\x0c<p class="ti-art">Article 1</p>'
        "<p>Lamps\x08 bu&#x1F;rn.</p></body></html>"
    )
    (article,) = import_corpus(tmp_path / "page.html", "xml").articles
    assert (article.text, article.code) == ("Lamps burn.", "Lamp Act")


@pytest.mark.parametrize(
    ("arguments", "code", "problem"),
    [
        (["law"], 2, "--out: is missing; name the corpus folder to write"),
        (["gone.xml", "--explain"], 1, "gone.xml: no such file or folder; name the statutes to import"),
        (
            ["law/other.xml", "--explain"],
            1,
            "other.xml: holds no articles (1 file of no known format: other.xml); name ",
        ),
        (["law", "--out", "out", "--profile", "latin"], 2, "unknown profile 'latin'; choose from akn, "),
        (["law", "--out", "out", "--profile", "uslm"], 1, "law: holds no articles (1 file with other suffixes"),
        (["law/other.xml", "--out", "out"], 1, "other.xml: holds no articles (1 file of no known format: other.xml)"),
        (["http://law.example/a.xml", "--out", "out"], 2, "http://law.example/a.xml: is not https"),
    ],
)
def test_what_cannot_be_imported_is_one_line(run_here, dutch, arguments, code, problem):
    done = run_here("import", "xml", *arguments)
    assert (done.returncode, done.stdout) == (code, "")
    assert done.stderr.startswith(f"Error: {problem}")
    assert done.stderr.count("\n") == 1


def test_profiles_are_for_xml_alone(dutch):
    with pytest.raises(UsageError, match="profile: only for xml, not csv"):
        import_corpus(dutch, "csv", language="nl", reading=Reading(profile="nl"))


def test_broken_files_are_listed_and_nothing_is_written(dutch, run_here, tmp_path):
    (dutch / "broken.xml").write_text('<toestand bwb-id="X"><artikel>')
    (dutch / "torn.xml.gz").write_bytes(b"\x1f\x8b\x08\x00torn")
    with pytest.raises(CorpusError) as caught:
        import_corpus(dutch, "xml")
    assert [problem.partition(":")[0] for problem in caught.value.problems] == ["broken.xml", "torn.xml.gz"]
    assert run_here("import", "xml", dutch, "--out", "out").returncode == 1
    assert not (tmp_path / "out").exists()


def test_an_act_that_says_no_language_needs_one(tmp_path):
    act = (MADE_UP / "akn.xml").read_text(encoding="utf-8").replace('<FRBRlanguage language="eng"/>', "")
    (tmp_path / "act.xml").write_text(act)
    with pytest.raises(UsageError, match="the language of its statutes is unknown; name it, such as 'language fr'"):
        import_corpus(tmp_path / "act.xml", "xml")
    assert import_corpus(tmp_path / "act.xml", "xml", language="en").language == "en"
