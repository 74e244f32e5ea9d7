import pytest

from statgraph.augmentation.partial import PartialFile
from statgraph.errors import UsageError

ABOUT = {"generator": "seq2seq:m", "seed": 0, "limit": None}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "a" / "out.jsonl.partial"


@pytest.fixture
def begun(path):
    """Return a file of two batches."""
    partial = PartialFile(path, ABOUT)
    partial.append({"a": ["où ?"]})
    partial.append({"b": []})
    return path


def test_nothing_is_written_before_the_first_batch(path):
    assert PartialFile(path, ABOUT).batches == []
    assert not path.parent.exists()


def test_batches_are_there_again(begun):
    assert PartialFile(begun, ABOUT).batches == [{"a": ["où ?"]}, {"b": []}]
    assert begun.read_text(encoding="utf-8").splitlines() == [
        '{"generator": "seq2seq:m", "seed": 0, "limit": null}', '{"a": ["où ?"]}', '{"b": []}',
    ]  # fmt: skip


@pytest.mark.parametrize("lost", range(1, len('{"b": []}\n') + 1))
def test_a_line_cut_by_a_kill_is_written_again(begun, lost):
    whole = begun.read_bytes()
    begun.write_bytes(whole[:-lost])
    partial = PartialFile(begun, ABOUT)
    assert partial.batches == [{"a": ["où ?"]}]
    partial.append({"b": []})
    assert begun.read_bytes() == whole


def test_a_cut_first_line_starts_over(begun):
    whole = begun.read_bytes()
    begun.write_bytes(whole[:10])
    partial = PartialFile(begun, ABOUT)
    assert partial.batches == []
    partial.append({"a": ["où ?"]})
    partial.append({"b": []})
    assert begun.read_bytes() == whole


@pytest.mark.parametrize(
    ("changed", "said"), [({"seed": 1}, "seed: 0 then, 1 now"), ({"per_article": 5}, "per_article: None then, 5 now")]
)
def test_other_settings_are_refused(begun, changed, said):
    with pytest.raises(UsageError, match=rf"{begun.name}: .*\({said}\); .*delete it"):
        PartialFile(begun, {**ABOUT, **changed})


@pytest.mark.parametrize("line", [b"{", b"[]", b"\xff", b""])
def test_a_damaged_line_is_refused(begun, line):
    lines = begun.read_bytes().split(b"\n")
    begun.write_bytes(b"\n".join([lines[0], line, *lines[2:]]))
    with pytest.raises(UsageError, match=f"{begun.name}: damaged; delete it"):
        PartialFile(begun, ABOUT)


def test_another_process_on_the_same_file_is_noticed(tmp_path):
    first, second = (PartialFile(tmp_path / "file", {"seed": 0}) for _ in range(2))
    first.append({"a": 1})
    with pytest.raises(UsageError, match="another process"):
        second.append({"a": 2})
    first.append({"a": 3})
    assert PartialFile(tmp_path / "file", {"seed": 0}).batches == [{"a": 1}, {"a": 3}]
