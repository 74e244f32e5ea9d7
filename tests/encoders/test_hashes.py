import hashlib

import numpy as np

from statgraph.encoders.hashes import text_hashes


def test_each_text_has_the_hash_of_its_utf8_bytes():
    hashes = text_hashes(["loi", "Art. 1 “é”"])
    assert (hashes.shape, hashes.dtype) == ((2, 16), np.uint8)
    assert hashes[1].tobytes() == hashlib.blake2b("Art. 1 “é”".encode(), digest_size=16).digest()


def test_equal_texts_and_only_they_have_equal_hashes():
    first, again, other = text_hashes(["a b", "a b", "a  b"])
    assert (first == again).all()
    assert (first != other).any()


def test_no_texts_give_no_rows():
    assert text_hashes([]).shape == (0, 16)
