"""Files, folders, archives and addresses."""

from __future__ import annotations

import gzip
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


@pytest.mark.parametrize("name", ["law.zip", "law.tar.gz", "act.xml.gz"])
def test_damaged_archives_are_one_line(folder, tmp_path, name):
    whole = tmp_path / "whole"
    if name == "law.zip":
        with zipfile.ZipFile(whole, "w") as file:
            file.writestr("a.xml", ACT)
    elif name == "law.tar.gz":
        with tarfile.open(whole, "w:gz") as file:
            file.add(folder, "law")
    else:
        whole.write_bytes(gzip.compress(ACT))
    damaged = tmp_path / name
    damaged.write_bytes(whole.read_bytes()[: whole.stat().st_size * 2 // 3])
    with pytest.raises(CorpusError, match=r"damaged|download it again") as caught:
        read(damaged)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["law.zip", "act.xml.gz", "cut.xml.gz"])
def test_damage_far_into_a_document_is_one_line(tmp_path, name):
    long = b"".join(b"<p>%d</p>" % (number * 7919 % 100_003) for number in range(60_000))
    damaged = tmp_path / name
    if name == "law.zip":
        with zipfile.ZipFile(damaged, "w") as file:
            file.writestr("a.xml", long)
        flipped = damaged.read_bytes().replace(b"<p>7919</p>", b"<p>7918</p>")  # its checksum is another's
    else:
        packed = gzip.compress(long)
        flipped = packed[:-9] if name.startswith("cut") else packed[:-8] + bytes(8)
    damaged.write_bytes(flipped)
    with pytest.raises(CorpusError, match=r"^(a|act|cut)\.xml(\.gz)?: damaged \([^)N]+") as caught:
        read(damaged)
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
