import json
import math
import warnings

import numpy as np
import pytest

from statgraph.errors import RunError
from statgraph.law.allowed_rows import AllowedRows
from statgraph.retrieval.lexical.bm25 import BM25, TermStatistics, TermWeight, best_rows, expanded_texts

TEXTS = ["cat dog cat", "cat", "bird bird bird bird bird"]  # 3, 1 and 5 terms: 3 on average


def test_score_is_that_of_the_formula():
    scores = BM25(TEXTS, language="xx").scores("cat")
    idf = math.log(1 + (3 - 2 + 0.5) / (2 + 0.5))  # two of three texts hold "cat"
    assert scores[0] == pytest.approx(idf * 2 / (2 + 2.5 * (1 - 0.2 + 0.2 * 3 / 3)), rel=1e-6)
    assert scores[1] == pytest.approx(idf * 1 / (1 + 2.5 * (1 - 0.2 + 0.2 * 1 / 3)), rel=1e-6)
    assert scores[2] == 0
    assert scores.dtype == np.float32


def test_term_weights_are_the_parts_of_the_score():
    index = BM25(TEXTS, language="xx")
    cat, dog = index.scores("cat")[0], index.scores("dog")[0]
    weights = index.term_weights("cat dog cat whale", [0, 2, 1])
    assert [[part.term for part in of_text] for of_text in weights] == [["cat", "dog"], [], ["cat"]]
    assert [part.weight for part in weights[0]] == pytest.approx([2 * cat, dog])  # a repeated term counts twice
    sums = [sum(part.weight for part in of_text) for of_text in weights]
    assert sums == pytest.approx(index.scores("cat dog cat whale")[[0, 2, 1]].tolist())
    assert index.term_weights("cat", [1]) == [[TermWeight("cat", pytest.approx(float(index.scores("cat")[1])))]]
    assert index.term_weights("", [1]) == [[]]
    assert index.term_weights("cat", []) == []


def test_a_question_of_one_chinese_character_finds_the_words_that_have_it():
    index = BM25(["养狗的人缴税", "船要登记", "房屋"], language="zh")
    assert index.ranking("狗", 1).rows.tolist() == [0]
    assert index.ranking("船?", 1).rows.tolist() == [1]
    assert [part.term for part in index.term_weights("狗", [0])[0]] == ["养狗", "狗的"]
    assert (index.coverage("狗"), index.coverage("马")) == (1.0, 0.0)
    assert not index.scores("马").any()
    taxes = BM25(["税、费", "养狗的人缴税", "房屋"], language="zh")  # a word of its own, and in a pair
    assert np.flatnonzero(taxes.scores("税")).tolist() == [0, 1]
    assert np.flatnonzero(taxes.scores("第5条")).tolist() == []


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("보증금이", [0]),
        ("보증금은 얼마입니까", [0]),
        ("임차인의", [0]),
        ("집주인에게", [1]),
        ("집이", [1]),  # a noun of one syllable, which no pair of "집을" is
        ("집에서는", [1]),
        ("개에게 물렸어요", [2]),
        ("개", [2]),
        ("손해배상", [2]),
        ("국가가", []),
    ],
)
def test_korean_words_are_found_with_whatever_particles(question, found):
    law = ["임차인은 보증금을 돌려받는다.", "집주인은 집을 수선한다.", "개가 가한 손해를 배상한다."]
    assert np.flatnonzero(BM25(law, language="ko").scores(question)).tolist() == found


@pytest.mark.parametrize("texts", [[], ["", "..."]])
def test_texts_without_a_single_term_score_zero(texts):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        index = BM25(texts, language="en")
        assert index.scores("cat").tolist() == [0] * len(texts)
        rows, scores = index.ranking("cat", 5)
    assert rows.tolist() == list(range(len(texts)))
    assert len(scores) == len(texts)


@pytest.mark.parametrize("k", [1, 3, 9])
def test_the_best_of_many_scores_are_those_of_sorting(k):
    # With 640 scores the cut is looked for among 20 maxima, unless 9 are asked for; most scores tie.
    scores = np.random.default_rng(k).integers(0, 30, 640).astype(np.float32)
    assert best_rows(scores, k).tolist() == sorted(range(640), key=lambda row: (-scores[row], row))[:k]
    assert best_rows(np.zeros(640), k).tolist() == list(range(k))


def test_a_ranking_among_some_texts_is_the_full_one_without_the_others():
    texts = ["keys", "deposit", "keys", "deposit deposit", "keys", "deposit"]
    index = BM25(texts, language="en")
    for question in ("deposit", "keys", "zzz"):
        full_rows, full_scores = index.ranking(question, 6)
        kept = np.isin(full_rows, [0, 2, 3, 5])
        rows, scores = index.ranking(question, 3, AllowedRows.checked([5, 2, 0, 3], 6))
        assert rows.tolist() == full_rows[kept][:3].tolist()
        assert scores.tolist() == full_scores[kept][:3].tolist()
        assert (rows.dtype, scores.dtype) == (np.int64, np.float32)


def test_a_saved_index_ranks_to_the_bit_as_before(tmp_path):
    index = BM25(TEXTS, language="en", k1=1.5, b=0.75)
    index.write(tmp_path)
    saved = BM25.read(tmp_path, language="en", k1=1.5, b=0.75)
    for question in ("cat", "dog birds", "fish", "cat cat bird"):
        for ours, theirs in zip(index.ranking(question, 3), saved.ranking(question, 3), strict=True):
            assert ours.tobytes() == theirs.tobytes()
        assert saved.term_weights(question, [0, 1, 2]) == index.term_weights(question, [0, 1, 2])
    assert {path.suffix for path in tmp_path.iterdir()} == {".npy", ".json", ".txt"}
    assert isinstance(saved._index.scores["data"], np.memmap)
    assert len(saved) == 3


def test_an_index_serves_questions_with_and_without_their_stop_words(tmp_path):
    texts = ["the lamp is lit", "the well", "the the the"]
    BM25(texts, language="en").write(tmp_path)
    for stop_words, rows in ((True, [0, 2, 1]), (False, [0, 1, 2])):
        index = BM25.read(tmp_path, language="en", stop_words=stop_words)
        assert index.ranking("the lamp", 3).rows.tolist() == rows
        counted = TermStatistics(texts, language="en", stop_words=stop_words)
        for of_texts in (index, counted):
            chosen = [0, 2] if of_texts is index else [texts[0], texts[2]]
            shown = [[part.term for part in parts] for parts in of_texts.term_weights("the lamp", chosen)]
            assert shown == ([["lamp", "the"], ["the"]] if stop_words else [["lamp"], []])


@pytest.mark.parametrize(
    "name",
    ["analysis.json", "vocab.index.json", "params.index.json"]
    + [f"{part}.csc.index.npy" for part in ("data", "indices", "indptr")],
)
@pytest.mark.parametrize("damage", ["missing", "empty", "short", "another's"])
def test_a_damaged_index_is_refused(tmp_path, name, damage):
    BM25(TEXTS, language="en").write(tmp_path)
    path = tmp_path / name
    content = path.read_bytes()
    path.unlink()
    if damage == "another's":
        BM25([*TEXTS, "fish lamp lamp"], language="en").write(tmp_path / "other")
        (tmp_path / "other" / name).rename(path)
        if name == "params.index.json":
            path.write_text(path.read_text().replace('"num_docs": 4', '"num_docs": 5'))
    elif damage != "missing":
        path.write_bytes(content[: len(content) // 2] if damage == "short" else b"")
    with pytest.raises(RunError, match="train the run again") as refused:
        BM25.read(tmp_path, language="en")
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("part", "changes"),
    [("vocab", {"cat": 99}), ("vocab", {"cat": -1}), ("vocab", {"cat": "1"}), ("params", {"unheard": 1})],
)
def test_a_damaged_entry_of_an_index_is_refused(tmp_path, part, changes):
    BM25(["cat", "dog", "fish"], language="en").write(tmp_path)
    path = tmp_path / f"{part}.index.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))
    with pytest.raises(RunError, match=r"^.* not readable \(.*\); train the run again"):
        BM25.read(tmp_path, language="en")


@pytest.mark.parametrize("made_with", [{"language": "fr"}, {"k1": 1.0}, {"b": 0.5}])
def test_an_index_made_otherwise_is_refused(tmp_path, made_with):
    BM25(TEXTS, **{"language": "en", **made_with}).write(tmp_path)
    with pytest.raises(RunError, match="made with"):
        BM25.read(tmp_path, language="en")


PLACES = ["the lamp is lit", "the well is deep"]


def test_the_first_questions_stand_behind_a_text():
    questions = [["who lights", "when", "where"], []]
    assert expanded_texts(PLACES, questions, most=2) == ["the lamp is lit\nwho lights\nwhen", "the well is deep"]
    assert expanded_texts(PLACES, questions, most=0) == PLACES


@pytest.mark.parametrize(("k1", "b"), [(2.5, 0.2), (0.9, 1.0), (1.2, 0.0)])
def test_weights_of_counted_terms_are_those_of_the_index(k1, b):
    generator = np.random.default_rng(7)
    texts = [" ".join(generator.choice([*"abcdefgh"], size)) for size in generator.integers(1, 30, 40)]
    index = BM25(texts, language="xx", k1=k1, b=b)
    counted = TermStatistics(texts, language="xx", k1=k1, b=b)
    for question in ("a", "a b c a", "h g z"):
        expected = index.term_weights(question, range(40))
        for of_index, of_statistics in zip(expected, counted.term_weights(question, texts), strict=True):
            assert {part.term: part.weight for part in of_statistics} == pytest.approx(
                {part.term: part.weight for part in of_index}, rel=1e-5
            )
            assert [part.weight for part in of_statistics] == sorted(
                (part.weight for part in of_statistics), reverse=True
            )


def test_coverage_is_the_share_of_known_terms_by_rarity():
    bm25 = BM25(TEXTS, language="en")
    # Of three texts: dog in one, ln(1 + 2.5 / 1.5); whale in none, ln(1 + 3.5 / 0.5).
    dog, whale = math.log(1 + 2.5 / 1.5), math.log(1 + 3.5 / 0.5)
    assert bm25.coverage("dog whale") == pytest.approx(dog / (dog + whale))
    assert [bm25.coverage(question) for question in ("dog", "whale", "?")] == [1, 0, 0]
    assert BM25((), language="en").coverage("dog") == 0
