import json

import numpy as np
import pytest
from tokenizers import processors

from statgraph.encoders.vocabulary import pruned_tokenizer, used_piece_ids
from statgraph.errors import ModelError
from statgraph.law.catalogue import sample_folder
from statgraph.law.store import read_corpus


def test_the_pieces_of_texts_and_their_characters(unigram):
    used = used_piece_ids(unigram, ["The rent"])

    # "▁the" and "▁rent"; of "The rent" each character, "T" through its lower case; the mark of a word's beginning
    assert [unigram.id_to_token(piece) for piece in used] == ["▁the", "▁rent", "▁", *"ehnrt"]
    assert used.dtype == np.int64
    assert [unigram.id_to_token(piece) for piece in used_piece_ids(unigram, [])] == ["▁"]


def test_pieces_are_renumbered_in_their_order(unigram):
    rent, work = unigram.token_to_id("▁rent"), unigram.token_to_id("▁work")
    pruned, kept = pruned_tokenizer(unigram, np.array([rent, work]))

    assert kept.tolist() == [0, 1, 2, 3, rent, work]
    assert pruned.get_vocab_size() == 6
    assert pruned.encode("work rent").tokens == ["<s>", "▁work", "▁rent", "</s>"]
    assert pruned.encode("work rent").ids == [0, 5, 4, 2]
    assert pruned.encode("child", add_special_tokens=False).ids == [3]  # nothing is left to spell it with


def test_special_ids_move_in_every_kind_of_post_processor(unigram):
    state = json.loads(unigram.to_str())
    pieces = state["model"]["vocab"]
    state["model"]["vocab"] = [pieces[4], *pieces[:4], *pieces[5:]]  # a word first: the special ids are 1 to 4
    state["model"]["unk_id"] = 4
    for token in state["added_tokens"]:
        token["id"] += 1
    state["post_processor"]["special_tokens"]["<s>"]["ids"] = [1]
    state["post_processor"]["special_tokens"]["</s>"]["ids"] = [3]
    shifted = type(unigram).from_str(json.dumps(state))
    rent = np.array([shifted.token_to_id("▁rent")])
    template = shifted.post_processor

    for step in (
        template,
        processors.RobertaProcessing(("</s>", 3), ("<s>", 1)),
        processors.BertProcessing(("</s>", 3), ("<s>", 1)),
        processors.Sequence([processors.ByteLevel(), template]),
    ):
        shifted.post_processor = step
        pruned, kept = pruned_tokenizer(shifted, rent)
        assert kept.tolist() == [1, 2, 3, 4, rent[0]]
        assert pruned.encode("rent").ids == [0, 4, 2]


def test_a_word_piece_vocabulary_is_refused(word_piece):
    with pytest.raises(ModelError, match=r"WordPiece .*encoder\.prune_vocabulary=false"):
        pruned_tokenizer(word_piece, np.array([1]))


def test_the_sample_is_cut_as_before(e5_tokenizer):
    corpus = read_corpus(sample_folder())
    texts = [article.text for article in corpus.articles] + [question.text for question in corpus.questions]
    pruned, kept = pruned_tokenizer(e5_tokenizer, used_piece_ids(e5_tokenizer, texts))

    assert len(kept) < 10_000
    assert pruned.get_vocab_size() == len(kept)
    before = e5_tokenizer.encode_batch_fast(texts)
    after = pruned.encode_batch_fast(texts)
    assert all(kept[new.ids].tolist() == old.ids for old, new in zip(before, after, strict=True))
    assert [pruned.token_to_id(token) for token in ("<s>", "<pad>", "</s>", "<unk>")] == [0, 1, 2, 3]
    assert pruned.token_to_id("<unk>") not in pruned.encode("zylophonique").ids
