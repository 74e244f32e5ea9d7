import io
import zipfile

import pytest

from statgraph.errors import CorpusError
from statgraph.formats.recognising import check_named, recognised


def zipped(**contents):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in contents.items():
            archive.writestr(name.replace("__", "/").replace("_xml", ".xml"), content)
    return file.getvalue()


AKN = b'<?xml version="1.0"?><akomaNtoso xmlns="http://docs.oasis-open.org/legaldocml/ns/akn/3.0"><act/></akomaNtoso>'
DOCX, XLSX = zipped(word__document_xml=""), zipped(xl__workbook_xml="")


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("law.csv", b"id,text\n", "csv"),
        ("law.TSV", b"id\ttext\n", "csv"),
        ("law.jsonl", b'{"id": 1}', "jsonl"),
        ("law", b' {"id": 1}\n', "jsonl"),
        ("law.parquet", b"PAR1", "parquet"),
        ("law", b"PAR1", "parquet"),
        ("law.docx", DOCX, "docx"),
        ("law.bin", DOCX, "docx"),
        ("law.xlsx", XLSX, "xlsx"),
        ("law.md", b"# Law", "md"),
        ("law.txt", b"Law", "txt"),
        ("law", b"Law", "txt"),
        ("law.html", b"<p>Law", "html"),
        ("law.txt", b"\xef\xbb\xbf <!DOCTYPE html><p>Law", "html"),
        ("law.html", AKN, "xml"),
        ("law.xml", b"<law/>", "xml"),
        ("law.xml.gz", b"\x1f\x8b\x08", "xml"),
        ("law.zip", zipped(a_xml="<a/>"), "xml"),
        ("LEGITEXT000001.json", b"{}", "legi"),
    ],
)
def test_files_are_recognised(tmp_path, name, content, expected):
    (tmp_path / name).write_bytes(content)
    assert recognised(tmp_path / name).format == expected


@pytest.mark.parametrize(
    ("names", "expected", "why"),
    [
        (["articles.csv", "questions.csv"], "csv", "it holds articles.csv"),
        (["articles.jsonl"], "jsonl", "it holds articles.jsonl"),
        (["articles.xlsx"], "xlsx", "it holds articles.xlsx"),
        (["corpus.jsonl", "articles.csv"], "beir", "it holds corpus.jsonl"),
        (["articles.csv", "questions_train.csv"], "bsard", "it holds questions_train.csv"),
        (["LEGITEXT1.json"], "legi", "it holds LEGITEXT1.json"),
        (["a/law.docx", "b/law.docx", "notes.txt"], "docx", "files that end in .docx: 2"),
        (["law.xml", "readme.pdf", "more.pdf"], "xml", "files that end in .xml: 1"),
    ],
)
def test_folders_are_recognised_by_their_files(tmp_path, names, expected, why):
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")
    assert recognised(tmp_path) == (expected, why)


@pytest.mark.parametrize(
    ("named", "content", "is_in"),
    [
        ("csv", AKN, "xml"),
        ("legi", AKN, "xml"),
        ("jsonl", b"<html><p>Law", "html"),
        ("csv", DOCX, "docx"),
        ("xml", XLSX, "xlsx"),
    ],
)
def test_a_file_that_is_named_as_something_else_is_refused_with_its_command(tmp_path, named, content, is_in):
    path = tmp_path / "law"
    path.write_bytes(content)
    with pytest.raises(CorpusError, match=rf"not {named} but {is_in} .*'statgraph import {is_in} {path}'"):
        check_named(named, path)


def test_what_is_no_text_is_refused_before_it_is_read_as_one(tmp_path):
    (tmp_path / "law").write_bytes(b"%PDF-1.7")
    with pytest.raises(CorpusError, match=r"law: files that end in .pdf are not read; import the text"):
        check_named("csv", tmp_path / "law")


@pytest.mark.parametrize(
    ("named", "content"),
    [
        ("csv", b"id,text\n"),
        ("md", b"<!-- draft -->\n# Law"),
        ("html", AKN),
        ("xml", b"<html/>"),
        ("xml", b"PK\x03\x04"),
    ],
)
def test_what_a_format_may_read_is_left_to_it(tmp_path, named, content):
    (tmp_path / "law").write_bytes(content)
    check_named(named, tmp_path / "law")
    check_named(named, tmp_path)


def test_an_address_is_of_official_xml():
    assert recognised("https://example.org/law").format == "xml"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("law.pdf", b"%PDF-1.7", ".pdf: import the text that 'pdftotext -layout law.pdf'"),
        ("law", b"%PDF-1.7", ".pdf: import the text that 'pdftotext -layout law'"),
        ("law.doc", b"\xd0\xcf\x11\xe0", ".doc: convert it with 'soffice --convert-to docx law.doc'"),
        ("law.xls", b"\xd0\xcf\x11\xe0", ".xls: convert it with 'soffice --convert-to xlsx law.xls'"),
        ("law.odt", zipped(mimetype="application/vnd.oasis.opendocument.text"), ".odt: convert it with "),
        ("law.rtf", b"{\\rtf1", ".rtf: convert it with 'soffice"),
        ("law.json", b"[]", ".json: write an object for each article"),
        ("law.zip", zipped(notes="x"), "an archive, of which only xml is read; unpack it"),
        ("law.zip", b"PK\x03\x04x", "damaged archive"),
        ("law.csv.gz", b"\x1f\x8b\x08", "a compressed file; unpack it with 'gunzip law.csv.gz'"),
        ("law.bin", b"\0\1", "of no known format; name its format: jsonl, csv, "),
        ("law", b" \n", "is empty; name its format"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_refused_with_a_recipe(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(CorpusError) as refused:
        recognised(tmp_path / name)
    said = str(refused.value).replace("files that end in ", "").replace(" are not read;", ":")
    assert said.startswith(f"{tmp_path / name}: {message}")


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["law.pdf"], "holds files that end in .pdf, which are not read; import the text"),
        (["law.bin"], "holds files of no known format; name its format"),
        ([], "an empty folder of no known format"),
    ],
)
def test_folders_that_cannot_be_read_are_refused(tmp_path, names, message):
    for name in names:
        (tmp_path / name).write_bytes(b"\0")
    with pytest.raises(CorpusError, match=f"^{tmp_path}: {message}"):
        recognised(tmp_path)


def test_a_missing_source_is_refused(tmp_path):
    with pytest.raises(CorpusError, match="gone: no such file or folder"):
        recognised(tmp_path / "gone")
