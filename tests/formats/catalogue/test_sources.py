"""Where corpora come from, with stand-ins for npm and the hub's client, and a server on this machine."""

import hashlib
import io
import re
import sys
import tarfile
from types import ModuleType

import pytest

from statgraph.errors import CorpusError, FetchError
from statgraph.formats.catalogue.sources import HubFiles, NpmPackages, Package, WebFiles, npm_pack, unpack

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
        npm.write_text(f"#!{sys.executable}\nimport shutil, sys\n{body}\n", encoding="utf-8")
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


@pytest.mark.parametrize("name", ["../a.json", "package/../../a.json", "/etc/a.json", "..\\a.json"])
def test_a_member_that_leads_out_of_the_archive_is_refused(archive, tmp_path, name):
    with pytest.raises(FetchError, match=f"scope-data-1.2.3.tgz: member '{re.escape(name)}' points outside"):
        unpack(archive({name: b"[]"}), "*", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_link_in_the_place_of_a_file_is_refused(archive, tmp_path):
    name = "package/data/a.json"
    with pytest.raises(FetchError, match=f"scope-data-1.2.3.tgz: member '{name}' is not a plain file"):
        unpack(archive({name: link_to("/etc/passwd", name)}), "package/data/*.json", tmp_path / "out")


def test_packages_come_from_a_given_folder(archive):
    path = archive(MEMBERS)
    source = NpmPackages((package_of(path),))
    with source.opened("laws", path.parent) as (folder, described):
        assert described == source.page == "npm packages @scope/data 1.2.3"
        assert files_under(folder) == ["scope-data/package/data/a.json", "scope-data/package/data/sub/b.json"]
        assert (folder / "scope-data/package/data/sub/b.json").read_bytes() == b"[2]"
    assert not folder.exists()


def test_packages_come_from_npm(archive, fake_npm):
    path = archive(MEMBERS)
    fake_npm(
        f'assert sys.argv[1:3] == ["pack", "@scope/data@1.2.3"]\nshutil.copy({str(path)!r}, "scope-data-1.2.3.tgz")'
    )
    with NpmPackages((package_of(path),)).opened("laws", None) as (folder, _):
        assert (folder / "scope-data/package/data/a.json").read_bytes() == b"[1]"


def test_an_archive_that_is_not_there_says_how_to_get_it(tmp_path):
    package = Package("@scope/data", "1.2.3", "00", "*")
    problem = r"scope-data-1.2.3.tgz: no such file; .*npm pack @scope/data@1.2.3"
    with pytest.raises(FetchError, match=problem), NpmPackages((package,)).opened("laws", tmp_path):
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
    with pytest.raises(FetchError, match=problem), NpmPackages((package,)).opened("laws", tmp_path):
        pass


def test_without_npm_the_error_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(
        FetchError, match=r"^npm: not on the PATH, .*@scope/data@1.2.3; install Node.js, .*from_folder DIR"
    ):
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


# The hub.

LAWS = HubFiles("people/laws", ("nl/*.csv",), "0123abc")
PAGE = "https://huggingface.co/datasets/people/laws"


@pytest.fixture
def hub(monkeypatch, tmp_path):
    """A stand-in for the hub's client: answers with a folder named like the commit, and notes what it is asked."""
    client = ModuleType("huggingface_hub")
    client.asked = []

    def snapshot_download(repository, **options):
        client.asked.append((repository, options))
        return str(tmp_path / "snapshots" / "0123abc")

    client.snapshot_download = snapshot_download
    monkeypatch.setitem(sys.modules, "huggingface_hub", client)
    return client


def test_the_hub_is_asked_for_the_files_at_a_commit(hub, tmp_path):
    with LAWS.opened("laws-nl", None) as opened:
        assert opened == (tmp_path / "snapshots" / "0123abc", f"{PAGE} at 0123abc")
    options = {"repo_type": "dataset", "revision": "0123abc", "allow_patterns": ["nl/*.csv"]}
    assert hub.asked == [("people/laws", options)]


def test_a_local_folder_replaces_the_hub(hub, tmp_path):
    with LAWS.opened("laws-nl", tmp_path) as opened:
        assert opened == (tmp_path, f"{PAGE}, from local files")
    assert hub.asked == []
    gone = LAWS.opened("laws-nl", tmp_path / "gone")
    with pytest.raises(CorpusError, match=rf"gone: no such folder; .*{PAGE}"), gone:
        pass


def test_hub_out_of_reach_is_one_error_with_a_way_out(hub):
    def fail(repository, **options):
        raise OSError("Got: ConnectError: name not known\nPlease check your connection.")

    hub.snapshot_download = fail
    with (
        pytest.raises(FetchError, match=r"^laws-nl: people/laws .* name not known\); .* nl/\*.csv .*from_folder DIR'$"),
        LAWS.opened("laws-nl", None),
    ):
        pass


# Files at addresses.


@pytest.fixture
def web(serve_folder, tmp_path):
    """Serve two files on this machine and return them as a source; the checksum of one is known."""
    (tmp_path / "web" / "part").mkdir(parents=True)
    (tmp_path / "web" / "a.json").write_bytes(b"[1]")
    (tmp_path / "web" / "part" / "b.json").write_bytes(b"[2]")
    files = (("a.json", hashlib.sha256(b"[1]").hexdigest()), ("part/b.json", ""))
    return WebFiles("https://laws.example", serve_folder(tmp_path / "web"), files)


def test_files_are_downloaded_beside_each_other(web):
    with web.opened("laws", None) as (folder, described):
        assert files_under(folder) == ["a.json", "b.json"]
    assert not folder.exists()
    seen = hashlib.sha256(b"[2]").hexdigest()
    assert described == f"https://laws.example, files of {web.base}; b.json sha256 {seen}"


def test_a_file_that_has_changed_is_refused(web, tmp_path):
    (tmp_path / "web" / "a.json").write_bytes(b"[3]")
    with pytest.raises(FetchError, match=r"a.json: sha256 \w+, expected \w+; "), web.opened("laws", None):
        pass


def test_files_come_from_a_given_folder(web, tmp_path):
    (tmp_path / "a.json").write_bytes(b"[1]")
    with pytest.raises(FetchError, match=rf"b.json: no such file; download {web.base}part/b.json"):
        web.opened("laws", tmp_path).__enter__()
    (tmp_path / "b.json").write_bytes(b"[2]")
    with web.opened("laws", tmp_path) as opened:
        assert opened == (tmp_path, "https://laws.example, from local files")
