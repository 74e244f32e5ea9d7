import numpy as np
import pytest

from statgraph.encoders.vector_cache import VectorCache

KEYS = [bytes([n]) * 16 for n in range(6)]
VECTORS = np.arange(18, dtype=np.float32).reshape(6, 3) / 4


def shards(folder):
    return sorted(folder.glob("*.npz"))


def test_a_round_trip(tmp_path):
    VectorCache(tmp_path).add(KEYS, VECTORS)
    cache = VectorCache(tmp_path)

    found = cache.vectors([KEYS[4], KEYS[0], KEYS[4]])
    np.testing.assert_array_equal(found, VECTORS[[4, 0, 4]])
    assert found.dtype == np.float16
    assert KEYS[5] in cache
    assert b"x" * 16 not in cache


def test_what_was_added_can_be_read_at_once_and_grows(tmp_path):
    cache = VectorCache(tmp_path / "deep" / "folder")
    cache.add(KEYS[:2], VECTORS[:2])
    cache.add(KEYS[2:], VECTORS[2:])

    np.testing.assert_array_equal(cache.vectors(KEYS[::-1]), VECTORS[::-1])
    np.testing.assert_array_equal(VectorCache(tmp_path / "deep" / "folder").vectors(KEYS), VECTORS)


def test_nothing(tmp_path):
    cache = VectorCache(tmp_path / "none")
    cache.add([], np.empty((0, 3), dtype=np.float32))

    assert cache.vectors([]).shape == (0, 0)
    assert not (tmp_path / "none").exists()


def test_a_missing_key(tmp_path):
    with pytest.raises(KeyError):
        VectorCache(tmp_path).vectors(KEYS[:1])


@pytest.mark.parametrize("kept", [0, 10, 200, 300, -20])
def test_a_shard_cut_short_counts_as_absent(tmp_path, kept):
    cache = VectorCache(tmp_path)
    cache.add(KEYS[:3], VECTORS[:3])
    cache.add(KEYS[3:], VECTORS[3:])
    first = next(path for path in shards(tmp_path) if path.name.startswith(KEYS[0].hex()))
    first.write_bytes(first.read_bytes()[:kept])

    again = VectorCache(tmp_path)
    assert [key in again for key in KEYS] == [False] * 3 + [True] * 3
    again.add(KEYS[:3], VECTORS[:3])  # as `embedded_chunks` does; takes the damaged shard's place
    np.testing.assert_array_equal(again.vectors(KEYS), VECTORS)
    np.testing.assert_array_equal(VectorCache(tmp_path).vectors(KEYS), VECTORS)
    assert len(shards(tmp_path)) == 2


def test_a_flipped_byte_counts_as_absent(tmp_path):
    VectorCache(tmp_path).add(KEYS, VECTORS)
    (path,) = shards(tmp_path)
    content = bytearray(path.read_bytes())
    content[content.index(VECTORS.astype(np.float16).tobytes())] ^= 1
    path.write_bytes(content)

    assert KEYS[0] not in VectorCache(tmp_path)


def test_shards_of_something_else_count_as_absent(tmp_path):
    np.savez(tmp_path / "a.npz", other=VECTORS)
    np.savez(tmp_path / "b.npz", keys=np.zeros((2, 16), dtype=np.uint8), vectors=VECTORS)
    (tmp_path / "c.npz").write_bytes(b"no archive at all")

    assert bytes(16) not in VectorCache(tmp_path)


def test_an_interrupted_write_is_not_read(tmp_path, monkeypatch):
    def killed(file, **arrays):
        file.write(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr(np, "savez", killed)
    with pytest.raises(KeyboardInterrupt):
        VectorCache(tmp_path).add(KEYS, VECTORS)

    assert shards(tmp_path) == []
    assert KEYS[0] not in VectorCache(tmp_path)


def test_two_writers(tmp_path):
    first, second = VectorCache(tmp_path), VectorCache(tmp_path)
    first.add(KEYS[:4], VECTORS[:4])
    second.add(KEYS[:4], VECTORS[:4])  # the same shard again
    second.add(KEYS[2:], VECTORS[2:])  # and one that overlaps

    np.testing.assert_array_equal(first.vectors(KEYS[:4]), VECTORS[:4])
    np.testing.assert_array_equal(VectorCache(tmp_path).vectors(KEYS), VECTORS)
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".npz", ".npz"]
