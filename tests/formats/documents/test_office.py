import zipfile

import pytest

from statgraph.formats.documents import office

PART = "word/document.xml"


def archive(path, **contents):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in contents.items():
            file.writestr(name.replace("__", "/").replace("_xml", ".xml"), content)


def said_of(draft, recorded, path):
    readable = office.is_readable(draft, path, path.name, PART)
    assert readable != bool(recorded())
    return recorded()[0] if recorded() else ""


def test_an_archive_with_its_part_is_readable(draft, recorded, tmp_path):
    archive(tmp_path / "law.docx", word__document_xml="<a/>")
    assert said_of(draft, recorded, tmp_path / "law.docx") == ""


def test_what_unpacks_to_too_much_is_refused_unopened(draft, recorded, tmp_path, monkeypatch):
    monkeypatch.setattr(office, "MAX_UNPACKED_BYTES", 8 << 20)
    archive(tmp_path / "law.docx", word__document_xml=b"x" * (9 << 20))
    assert (tmp_path / "law.docx").stat().st_size < 1 << 17
    assert (
        said_of(draft, recorded, tmp_path / "law.docx")
        == "law.docx: unpacks to 9 MiB, and at most 8 are read; split it"
    )


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"\xd0\xcf\x11\xe0 rest", "is protected by a password or of an old format; open it and save it as .docx"),
        (b"PK\x03\x04 rest", "is damaged (File is not a zip file); save it again"),
        (b"", "is damaged (File is not a zip file); save it again"),
    ],
)
def test_what_is_no_archive_is_refused(draft, recorded, tmp_path, content, problem):
    (tmp_path / "law.docx").write_bytes(content)
    assert said_of(draft, recorded, tmp_path / "law.docx") == f"law.docx: {problem}"


def test_an_archive_of_something_else_is_refused(draft, recorded, tmp_path):
    archive(tmp_path / "law.docx", other_xml="<a/>")
    assert said_of(draft, recorded, tmp_path / "law.docx").startswith("law.docx: holds no word/document.xml")
