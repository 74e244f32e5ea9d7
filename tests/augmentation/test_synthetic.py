import json
from dataclasses import replace

import numpy as np
import pytest
import torch

from statgraph import __version__
from statgraph.artifacts import partial_beside
from statgraph.augmentation import seq2seq
from statgraph.augmentation import synthetic as round_trip
from statgraph.augmentation.law_questions import path_questions
from statgraph.augmentation.store import SyntheticQuestion, questions_by_row, read_synthetic
from statgraph.augmentation.synthetic import (
    GenerationOptions,
    kept_by_round_trip,
    synthetic_questions,
    write_expansion,
    write_generated,
)
from statgraph.config import AugmentConfig
from statgraph.errors import CorpusError, UsageError
from statgraph.progress import Step, silent
from statgraph.settings import check_settings

ROWS = {"a": 0, "b": 1, "c": 2}
RANKINGS = {"x": [0, 1, 2], "y": [2, 1, 0], "z": [1, 0, 2]}
QUESTIONS = [SyntheticQuestion(*fields, "headings") for fields in (("x", ("a",)), ("y", ("a", "b")), ("z", ("c",)))]


def rank(texts, k):
    return [np.array(RANKINGS[text][:k]) for text in texts]


def kept(k, progress=silent):
    return [
        question.text for question in kept_by_round_trip(QUESTIONS, rank, k=k, article_rows=ROWS, progress=progress)
    ]


def test_a_question_that_finds_one_of_its_articles_is_kept():
    assert kept(1) == ["x"]
    assert kept(2) == ["x", "y"]
    assert kept(3) == ["x", "y", "z"]


def test_batches_make_no_difference(monkeypatch):
    monkeypatch.setattr(round_trip, "QUESTIONS_PER_BATCH", 2)
    heard = []
    assert kept(2, heard.append) == ["x", "y"]
    assert heard == [Step("round trip", done, 3) for done in (0, 2, 3)]


OPTIONS = GenerationOptions(seed=0, device=torch.device("cpu"), progress=silent)


@pytest.fixture
def by_model(t5_folder, monkeypatch):
    """Return the settings of a generator that is a model, two articles a batch."""
    monkeypatch.setattr(seq2seq, "ARTICLES_PER_BATCH", 2)
    return AugmentConfig(generator=f"seq2seq:{t5_folder}", per_article=2)


def killed_at(article_count):
    def progress(step):
        if step.done == article_count:
            raise KeyboardInterrupt

    return progress


@pytest.mark.parametrize("name", ["", "heading", "headings:x", "t5:x", "Headings", "seq2seq", "seq2seq:"])
def test_an_unknown_generator_or_one_without_its_model_is_refused(name):
    with pytest.raises(UsageError, match=rf"^augment\.generator: .*seq2seq:MODEL \(got '{name}'\)"):
        check_settings(AugmentConfig(generator=name), "augment")


def test_only_the_first_articles(village, by_model):
    for config in (AugmentConfig(), by_model):
        questions = synthetic_questions(village, config, replace(OPTIONS, limit=2))
        assert {article_id for question in questions for article_id in question.article_ids} == {"L1", "L2"}


def test_a_round_trip_keeps_what_finds_back(village, tmp_path):
    asked = []

    def rank(texts, k):
        asked.append((tuple(texts), k))
        return [np.array([2]) for _ in texts]

    written = write_generated(village, AugmentConfig(round_trip=1), tmp_path / "out.jsonl", OPTIONS, rank=rank)
    assert (written.made, written.kept, written.articles) == (6, 2, 1)
    questions = read_synthetic(tmp_path / "out.jsonl").questions
    assert [question.text for question in questions] == ["Lighting", "Duties Lighting"]
    ((texts, k),) = asked
    assert (len(texts), k) == (6, 1)


def test_questions_come_from_a_file(village, tmp_path):
    out = tmp_path / "out.jsonl"
    write_generated(village, AugmentConfig(articles_per_heading=1), out, OPTIONS)
    from_file = AugmentConfig(file=str(out), generator="not looked at")
    questions = synthetic_questions(village, from_file, OPTIONS)
    assert questions == list(read_synthetic(out).questions)
    write_expansion(village, from_file, tmp_path / "copy.jsonl", OPTIONS, most=5)
    copy = read_synthetic(tmp_path / "copy.jsonl")
    assert (list(copy.questions), copy.manifest["file"]) == (questions, str(out))
    changed = replace(village, questions=())
    with pytest.raises(CorpusError, match="made for corpus 'village'"):
        synthetic_questions(changed, from_file, OPTIONS)


def test_articles_are_expanded_by_all_headings_above(village, tmp_path):
    out = tmp_path / "out.jsonl"
    write_expansion(village, AugmentConfig(articles_per_heading=1), out, OPTIONS, most=3)
    file = read_synthetic(out)
    assert list(file.questions) == path_questions(village.articles, most=3)
    assert list(file.manifest) == ["corpus", "generator", "statgraph", "expansion"]
    by_row = questions_by_row(file.questions, village.article_rows)
    assert by_row[village.article_rows["L3"]] == ["Lighting", "Duties Lighting", "Duties"]


@pytest.mark.parametrize(("most", "made"), [(1, 2), (4, 4)])
def test_a_model_asks_enough_to_expand_by(village, by_model, tmp_path, most, made):
    out = tmp_path / "out.jsonl"
    with pytest.raises(KeyboardInterrupt):
        write_expansion(village, by_model, out, replace(OPTIONS, progress=killed_at(4)), most=most)
    assert [path.name for path in tmp_path.iterdir()] == ["out.jsonl.partial"]
    write_expansion(village, by_model, out, OPTIONS, most=most)
    assert [path.name for path in tmp_path.iterdir()] == ["out.jsonl"]
    file = read_synthetic(out)
    assert max(map(len, questions_by_row(file.questions, village.article_rows))) == made
    assert (file.manifest["per_article"], file.manifest["expansion"]) == (made, most)


def test_a_file_says_what_made_it(village, tmp_path):
    written = write_generated(village, AugmentConfig(), tmp_path / "a" / "out.jsonl", replace(OPTIONS, limit=3))
    assert (written.made, written.kept, written.articles) == (4, 4, 3)
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["out.jsonl"]
    file = read_synthetic(tmp_path / "a" / "out.jsonl")
    assert file.manifest == {
        "corpus": {"name": "village", "content_hash": village.content_hash},
        "generator": "headings",
        "articles_per_heading": 100,
        "seed": 0,
        "limit": 3,
        "round_trip": 0,
        "statgraph": __version__,
    }
    assert list(file.questions) == synthetic_questions(village, AugmentConfig(), replace(OPTIONS, limit=3))


def test_a_killed_file_is_finished_as_if_never_killed(village, by_model, tmp_path):
    write_generated(village, by_model, tmp_path / "whole.jsonl", OPTIONS)
    out = tmp_path / "killed.jsonl"
    for stop in (2, 4):  # killed twice, after one batch each
        with pytest.raises(KeyboardInterrupt):
            write_generated(village, by_model, out, replace(OPTIONS, progress=killed_at(stop)))
        assert not out.exists()
        lines = partial_beside(out).read_text().splitlines()
        assert len(lines) == 1 + stop // 2
        assert all(len(json.loads(line)) == 2 for line in lines[1:])
    write_generated(village, by_model, out, OPTIONS)
    assert out.read_bytes() == (tmp_path / "whole.jsonl").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["killed.jsonl", "whole.jsonl"]


def test_a_killed_file_is_not_finished_with_other_settings(village, by_model, tmp_path):
    out = tmp_path / "out.jsonl"
    with pytest.raises(KeyboardInterrupt):
        write_generated(village, by_model, out, replace(OPTIONS, progress=killed_at(2)))
    for other, changed in (
        (AugmentConfig(), "generator"),
        (replace(by_model, per_article=3), "per_article: 2 then, 3 now"),
    ):
        with pytest.raises(UsageError, match=rf"out\.jsonl\.partial: .*{changed}"):
            write_generated(village, other, out, OPTIONS)
