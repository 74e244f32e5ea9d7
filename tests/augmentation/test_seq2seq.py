import dataclasses

import pytest
import torch

from statgraph.augmentation import seq2seq
from statgraph.augmentation.seq2seq import load_seq2seq, seq2seq_questions
from statgraph.augmentation.store import PartialFile
from statgraph.errors import ModelError
from statgraph.progress import silent

ABOUT = {"seed": 0}
CPU = torch.device("cpu")


@pytest.fixture
def generate(village, t5_folder, monkeypatch):
    """Return a function that asks about the village, two articles a batch."""
    monkeypatch.setattr(seq2seq, "ARTICLES_PER_BATCH", 2)

    def run(*, articles=village.articles, per_article=3, seed=0, progress=silent, partial=None):
        return seq2seq_questions(
            articles, str(t5_folder), per_article=per_article, seed=seed, device=CPU, progress=progress, partial=partial
        )

    return run


def by_article(questions):
    asked = {}
    for question in questions:
        for article_id in question.article_ids:
            asked.setdefault(article_id, []).append(question.text)
    return asked


def test_every_article_is_asked_about(generate, village, t5_folder):
    assert not load_seq2seq(str(t5_folder))[1].training
    questions = generate()
    asked = by_article(questions)
    assert asked.keys() == village.article_rows.keys()
    assert all(1 <= len(texts) <= 3 for texts in asked.values())
    assert max(map(len, asked.values())) == 3
    assert {question.generator for question in questions} == {f"seq2seq:{t5_folder}"}
    assert len({question.text for question in questions}) == len(questions)
    assert all(question.text == " ".join(question.text.split()) != "" for question in questions)
    assert not any(mark in question.text for question in questions for mark in ("<pad>", "</s>"))


def test_a_seed_is_a_result(generate):
    assert generate() == generate()
    assert generate() != generate(seed=1)


def test_batches_draw_apart(generate, village):
    alike = [dataclasses.replace(village.articles[0], article_id=article_id) for article_id in "abcd"]
    asked = by_article(generate(articles=alike))
    assert (asked["a"], asked["b"]) != (asked["c"], asked["d"])


def test_the_caller_s_random_numbers_are_left_alone(generate):
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    generate()
    assert torch.equal(torch.rand(3), expected)


@pytest.mark.parametrize("killed_at", [0, 2, 4, 6])
def test_a_killed_generation_goes_on(generate, tmp_path, killed_at):
    def kill(step):
        if step.done == killed_at:
            raise KeyboardInterrupt

    path = tmp_path / "out.partial"
    with pytest.raises(KeyboardInterrupt):
        generate(progress=kill, partial=PartialFile(path, ABOUT))
    partial = PartialFile(path, ABOUT)
    assert len(partial.batches) == killed_at // 2
    assert generate(partial=partial) == generate()


def test_finished_batches_are_not_made_again(generate, tmp_path, monkeypatch):
    whole = generate(partial=PartialFile(tmp_path / "out.partial", ABOUT))
    monkeypatch.setattr(seq2seq, "load_seq2seq", None)
    assert generate(partial=PartialFile(tmp_path / "out.partial", ABOUT)) == whole


@pytest.mark.parametrize("source", ["hub", "empty folder", "encoder"])
def test_what_is_not_such_a_model_is_refused(tmp_path, source):
    if source == "encoder":
        from transformers import BertConfig

        BertConfig().save_pretrained(tmp_path)
    name = "nobody-at-all/no-such-model" if source == "hub" else str(tmp_path)
    with pytest.raises(ModelError, match=f"^generator 'seq2seq:{name}' cannot be loaded .* generator headings$"):
        load_seq2seq(name)
