"""Files, folders, archives and addresses; the server is on this machine."""

from __future__ import annotations

import gzip
import hashlib
import tarfile
import threading
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from statgraph.corpus.acts import sources
from statgraph.corpus.acts.sources import documents, fetched, is_address
from statgraph.errors import CorpusError, FetchError, UsageError

ACT = b"<act>Lamps burn.</act>"


def read(source: Path) -> tuple[dict[str, bytes], list[str]]:
    passed_over: list[str] = []
    found = {}
    for document in documents(source, passed_over):
        head, chunks = document.head, []
        while chunk := document.read(1 << 12):
            chunks.append(chunk)
        found[document.name] = b"".join(chunks)
        assert found[document.name].startswith(head)
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


def test_a_bomb_is_refused_before_it_fills_the_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "MAX_DOCUMENT_BYTES", 1 << 20)
    (tmp_path / "bomb.xml.gz").write_bytes(gzip.compress(b" " * (3 << 20)))
    with pytest.raises(CorpusError, match=r"bomb\.xml\.gz: holds more than"):
        read(tmp_path / "bomb.xml.gz")


@pytest.fixture
def server():
    """Yield the address of a server that has /act.xml, /large, /moved (there), /away (to a plain http address)."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            moved = {"/moved": "/act.xml", "/away": "http://law.example/act.xml", "/round": "/round"}.get(self.path)
            found = {"/act.xml": ACT, "/large": b" " * 5000}.get(self.path)
            self.send_response(302 if moved else 200 if found else 404)
            if moved:
                self.send_header("Location", moved)
            self.end_headers()
            self.wfile.write(found or b"")

        def log_message(self, *args):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{running.server_port}"
        running.shutdown()


@pytest.mark.parametrize("path", ["/act.xml", "/moved"])
def test_an_address_is_downloaded_with_its_checksum(server, path):
    with fetched(server + path) as download:
        assert download.path.read_bytes() == ACT
        assert download.sha256 == hashlib.sha256(ACT).hexdigest()
    assert not download.path.exists()


@pytest.mark.parametrize(
    ("path", "error", "problem"),
    [
        ("/gone", FetchError, "the server answers 404"),
        ("/away", UsageError, "http://law.example/act.xml: not an https address"),
        ("/round", FetchError, "the server answers 302"),
        ("/large", FetchError, "larger than"),
    ],
)
def test_what_cannot_be_downloaded_is_one_line(server, monkeypatch, path, error, problem):
    monkeypatch.setattr(sources, "MAX_DOWNLOAD_BYTES", 1000)
    with pytest.raises(error, match=problem), fetched(server + path):
        pass


def test_nobody_there_is_one_line(server):
    with pytest.raises(FetchError, match="cannot be downloaded"), fetched("http://127.0.0.1:9/act.xml"):
        pass


@pytest.mark.parametrize(
    ("address", "problem"),
    [
        ("http://law.example/act.xml", "not an https address"),
        ("ftp://law.example/act.xml", "not an https address"),
        ("file:///etc/hostname", "not an https address"),
        ("https://me:secret@law.example/act.xml", "an address with a password"),
    ],
)
def test_other_addresses_are_refused_unread(address, problem):
    with pytest.raises(UsageError, match=problem) as caught, fetched(address):
        pass
    assert "secret" not in str(caught.value)


def test_addresses_are_known_by_their_scheme():
    assert is_address("https://law.example/a.xml")
    assert not is_address("law/a.xml")
    assert not is_address(Path("law"))
