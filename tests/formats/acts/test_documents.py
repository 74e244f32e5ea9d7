"""Files, folders, archives and addresses."""

from __future__ import annotations

import gzip
import io
import tarfile
import zipfile
from pathlib import Path

import pytest

from statgraph.errors import CorpusError
from statgraph.formats.acts import documents as acts_documents
from statgraph.formats.acts.documents import documents, fetched

ACT = b"<act>Lamps burn.</act>"


def read(source: Path) -> tuple[dict[str, bytes], list[str]]:
    passed_over: list[str] = []
    found = {}
    for document in documents(source, passed_over):
        found[document.name] = document.read()
        assert found[document.name].startswith(document.head)
    return found, passed_over


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "law"
    (folder / "b").mkdir(parents=True)
    (folder / "a.xml").write_bytes(ACT)
    (folder / "b" / "c.xml.gz").write_bytes(gzip.compress(ACT))
    (folder / "README.txt").write_text("about")
    return folder


def test_folders_are_read_with_all_below_them(folder):
    assert read(folder) == ({"a.xml": ACT, "b/c.xml.gz": ACT}, ["README.txt"])


def test_a_file_is_read_whatever_its_name(folder, tmp_path):
    assert read(folder / "b" / "c.xml.gz") == ({"c.xml.gz": ACT}, [])
    (tmp_path / "act").write_bytes(ACT)
    assert read(tmp_path / "act") == ({"act": ACT}, [])


@pytest.mark.parametrize("kind", ["zip", "tar", "tar.gz", "tar.xz"])
def test_archives_are_read_without_being_unpacked(folder, tmp_path, kind):
    archive = tmp_path / f"law.{kind}"
    if kind == "zip":
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
            for path in sorted(folder.rglob("*.*")):
                file.write(path, f"../{path.relative_to(folder)}")
    else:
        with tarfile.open(archive, f"w:{kind[4:]}") as file:
            file.add(folder, "..")
    found, passed_over = read(archive)
    assert found == {"../a.xml": ACT, "../b/c.xml.gz": ACT}
    assert passed_over == ["../README.txt"]
    assert sorted(tmp_path.iterdir()) == [folder, archive]


def damaged(name: str, text: bytes) -> bytes:
    """Return an archive or a compressed file with one document, cut at its end or with the checksum of another one."""
    packed = io.BytesIO()
    if "zip" in name:
        with zipfile.ZipFile(packed, "w") as file:
            file.writestr("act.xml", text)
    elif "tar" in name:
        with tarfile.open(fileobj=packed, mode="w:gz") as file:
            file.addfile(tarfile.TarInfo("act.xml"), io.BytesIO(text))
    else:
        packed.write(gzip.compress(text))
    data = packed.getvalue()
    if name.startswith("cut"):
        return data[: len(data) * 2 // 3]
    return data.replace(b"<p>7919</p>", b"<p>7918</p>") if "zip" in name else data[:-8] + bytes(8)


LONG = b"".join(b"<p>%d</p>" % (number * 7919 % 100_003) for number in range(60_000))


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("cut.zip", ACT, "cut.zip: damaged"),
        ("cut.tar.gz", ACT, "cut.tar.gz: damaged"),
        ("cut.xml.gz", ACT, "cut.xml.gz: damaged"),
        ("cut.xml.gz", LONG, "cut.xml.gz: damaged"),
        ("act.zip", LONG, "act.xml: damaged"),
        ("act.xml.gz", LONG, "act.xml.gz: damaged"),
    ],
)
def test_damage_is_one_line_wherever_it_is(tmp_path, name, text, problem):
    (tmp_path / name).write_bytes(damaged(name, text))
    with pytest.raises(CorpusError, match=rf"{problem} .*; download it again$") as caught:
        read(tmp_path / name)
    assert "\n" not in str(caught.value)


def test_a_bomb_is_refused_before_it_fills_the_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(acts_documents, "MAX_DOCUMENT_BYTES", 1 << 20)
    (tmp_path / "bomb.xml.gz").write_bytes(gzip.compress(b" " * (3 << 20)))
    with pytest.raises(CorpusError, match=r"bomb\.xml\.gz: holds more than"):
        read(tmp_path / "bomb.xml.gz")


def test_an_address_is_downloaded_to_a_file_that_goes(monkeypatch):
    def download(url: str, target: Path, *, max_bytes: int) -> str:
        target.write_bytes(ACT)
        return f"{url} {max_bytes}"

    monkeypatch.setattr(acts_documents, "download", download)
    with fetched("https://law.example/a%20b/act.xml?day=1") as (path, sha256):
        assert (path.name, path.read_bytes()) == ("act.xml", ACT)
        assert sha256 == f"https://law.example/a%20b/act.xml?day=1 {acts_documents.MAX_DOWNLOAD_BYTES}"
    assert not path.exists()
