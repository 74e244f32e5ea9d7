from dataclasses import replace

import numpy as np
import pytest

from statgraph import Retriever, artifacts, export
from statgraph.errors import RunError, UsageError
from statgraph.retrieval.index.article_index import ArticleIndex
from statgraph.runs import parts
from statgraph.runs.run import RunFolder
from statgraph.systems import student
from statgraph.systems.job import TrainingOptions
from statgraph.systems.pipeline import train_run
from statgraph.systems.presets import resolve_config, training_request
from statgraph.systems.updating.update import update_run


@pytest.fixture(scope="module")
def teacher(tmp_path_factory, town_corpus, quick_settings, quick_backbone):
    own = [text for text in quick_settings if not text.startswith("encoder.backbone")]
    config = resolve_config(
        "ensemble",
        (*own, f"ensemble.members=qabisar@{quick_backbone},zero-shot@{quick_backbone}", "ranker.learnt=false"),
    )
    return train_run(town_corpus, config, tmp_path_factory.mktemp("teacher") / "run")


@pytest.fixture(scope="module")
def settings(quick_backbone):
    return (f"encoder.backbone={quick_backbone}", "student.epochs=2", "student.texts=3", "student.best=4")


@pytest.fixture
def learn(tmp_path, town_corpus, settings, teacher):
    """Return a function that trains a student into a folder by its name."""

    def learnt(name="student", *more, corpus=None, **options):
        config = resolve_config("student", (*settings, *more))
        options = TrainingOptions(**{"teacher": teacher, **options})
        return train_run(corpus or town_corpus, config, tmp_path / name, options)

    return learnt


def test_a_student_is_a_run_of_one_encoder_that_knows_its_teacher(learn, teacher, town_corpus, tmp_path):
    run = learn()
    assert RunFolder.read(run.folder).teacher == str(teacher.folder)
    assert str(teacher.folder) in (run.folder / artifacts.MODEL_CARD).read_text(encoding="utf-8")
    assert Retriever.load(run.folder).search("Who taxes my bridges?")
    assert not (run.folder / parts.LESSONS).exists()
    export(run, "sentence-transformers", tmp_path / "exported")
    assert len(np.load(tmp_path / "exported" / "articles" / "vectors.npy")) == len(town_corpus.articles)


def test_the_lessons_are_training_questions_and_texts_of_the_law(monkeypatch, learn, town_corpus):
    asked = []
    ranked = student._ranked
    monkeypatch.setattr(
        student, "_ranked", lambda ensemble, texts, *rest: ranked(ensemble, asked.append(texts) or texts, *rest)
    )
    learn()
    (texts,) = asked
    train = [question.text for question in town_corpus.split("train")]
    assert texts[: len(train)] == train
    assert len(texts) == len(train) + 3
    assert not {question.text for split in ("dev", "test") for question in town_corpus.split(split)} & set(texts)


def test_an_interrupted_student_goes_on_from_the_lessons_that_it_has(monkeypatch, learn, teacher):
    whole = learn("whole")

    def killed(*arguments):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(student, "train_stage", killed)
        with pytest.raises(KeyboardInterrupt):
            learn()
    monkeypatch.setattr(student, "_ranked", killed)  # what it has is not asked again
    for other in ("seed=1", "student.texts=2", "encoder.max_tokens=8"):
        with pytest.raises(RunError, match=other.partition("=")[0]):
            learn("student", other, resume=True)
    with pytest.raises(RunError, match="another teacher"):
        learn(resume=True, teacher=replace(teacher, commit="another"))
    resumed = learn(resume=True)
    assert (resumed.index / "index.faiss").read_bytes() == (whole.index / "index.faiss").read_bytes()


def test_without_a_teacher_or_a_member_to_begin_as_it_is_refused(learn, tmp_path):
    with pytest.raises(UsageError, match="teacher"):
        learn(teacher=None)
    with pytest.raises(UsageError, match="no member"):
        learn("other", "encoder.backbone=embedded:static")
    assert not list(tmp_path.iterdir())


def test_a_teacher_is_an_ensemble_of_the_same_corpus(learn, teacher, town_corpus, tmp_path):
    shorter = replace(town_corpus, articles=town_corpus.articles[:-1], questions=())
    with pytest.raises(RunError, match="another state"):
        learn(corpus=shorter)
    replace(teacher, folder=tmp_path, final="elsewhere").write()
    for unfit in (tmp_path, learn().folder):
        with pytest.raises(UsageError, match="teacher"):
            training_request(teacher=unfit)


def test_a_student_cannot_be_updated_nor_be_a_member(learn, town_corpus, settings):
    with pytest.raises(RunError, match="distil"):
        update_run(learn().folder, town_corpus)
    with pytest.raises(UsageError, match="none of its members"):
        resolve_config("ensemble", ["ensemble.members=student@embedded:static"])


@pytest.mark.parametrize("better", [True, False])
def test_article_vectors_are_smoothed_where_dev_is_better_for_it(monkeypatch, learn, teacher, better):
    (member, *_) = teacher.member_folders.values()
    vectors = ArticleIndex.load(RunFolder.read(member).index, device="cpu").vectors
    others = np.roll(vectors, 1, axis=0)
    metrics = iter([{"quality": 0.5}, {"quality": 0.6 if better else 0.5}])
    monkeypatch.setattr(student, "smoothed", lambda *arguments: others)
    monkeypatch.setattr(student, "vector_metrics", lambda *arguments: next(metrics))
    begun, said = [], []
    made = student.Student
    monkeypatch.setattr(
        student, "Student", lambda encoder, start, *rest: begun.append(start) or made(encoder, start, *rest)
    )
    learn(announce=said.append)
    assert np.array_equal(begun[0], others if better else vectors)
    assert ("smoothed over the law:" in said[0]) is better
