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


def refusal(path, about=ABOUT) -> str:
    with pytest.raises(UsageError) as refused:
        PartialFile(path, about)
    return str(refused.value)


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


def test_a_cut_first_line_begins_anew(begun):
    whole = begun.read_bytes()
    begun.write_bytes(whole[:10])
    partial = PartialFile(begun, ABOUT)
    assert partial.batches == []
    partial.append({"a": ["où ?"]})
    partial.append({"b": []})
    assert begun.read_bytes() == whole


def test_other_settings_are_refused(begun):
    assert refusal(begun, {**ABOUT, "seed": 1}) == (
        f"{begun}: was begun with other settings (seed: 0 then, 1 now); go on with the same ones, "
        "or delete it to begin anew"
    )
    assert "(per_article: None then, 5 now)" in refusal(begun, {**ABOUT, "per_article": 5})


@pytest.mark.parametrize("line", [b"{", b"[]", b"\xff", b""])
def test_a_damaged_line_is_refused(begun, line):
    lines = begun.read_bytes().split(b"\n")
    begun.write_bytes(b"\n".join([lines[0], line, *lines[2:]]))
    assert refusal(begun) == f"{begun}: damaged; delete it to begin anew"
