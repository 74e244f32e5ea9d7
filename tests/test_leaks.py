"""No text of a dev or test question's document is trained on or indexed in a run that is measured on that split.

Each question has a document with a word of its own, which occurs nowhere else: where it turns up, the text has been.
"""

from collections import defaultdict
from dataclasses import replace

import pytest

from statgraph.encoders.static import StaticBiEncoder
from statgraph.law.records import CitingText, Corpus, Question
from statgraph.retrieval.search.ensemble_run import read_ensemble
from statgraph.retrieval.signals.signal import QuestionBatch
from statgraph.systems import ensemble, pipeline
from statgraph.systems.presets import resolve_config

# Every way in which a citing text can get into a member.
USES = (
    "stage1.epochs=1",
    "stage1.citing=1",
    "stage2.epochs=1",
    "stage2.citing=1",
    "stage2.train_encoders=both",
    "graph.relations=tree,bipartite,citing",
)


def word_of(question_id):
    return f"zq{question_id.replace('-', '')}"


@pytest.fixture(scope="module")
def documented(town_corpus):
    """The town with a second set of questions and, for each question of the first, a paragraph and a reference."""
    citing, questions = [], list(town_corpus.questions)
    for question in town_corpus.questions:
        name, cited = question.question_id, question.article_ids
        text = f"The {word_of(name)} is what a long paragraph of the guide is about."
        citing.append(CitingText(f"{name}-p", "Guide", text, cited, name, "paragraph"))
        citing.append(CitingText(f"{name}-r", "Guide", f"A {word_of(name)}", cited, name, "reference"))
        metadata = {"set": "references"}
        questions.append(Question(f"{name}-r", f"Guide : A {word_of(name)}", question.split, cited, metadata))
    return replace(town_corpus, questions=tuple(questions), citing=tuple(citing))


@pytest.fixture
def trainings(monkeypatch):
    """Note by run folder what is trained there: the corpus given, and the texts that reach the encoders."""
    corpora, texts, folders = {}, defaultdict(set), []
    train_run = pipeline.train_run

    def noted(corpus, config, folder, options):
        corpora[folder] = corpus
        folders.append(folder)
        try:
            return train_run(corpus, config, folder, options)
        finally:
            folders.pop()

    def spied(method):
        def prepare(self, asked, *more):
            texts[folders[-1]].update(asked)
            return method(self, asked, *more)

        return prepare

    for module in (pipeline, ensemble):
        monkeypatch.setattr(module, "train_run", noted)
    for name in ("question_inputs", "article_inputs"):
        monkeypatch.setattr(StaticBiEncoder, name, spied(getattr(StaticBiEncoder, name)))
    return corpora, texts


def documents_in(texts, corpus):
    """Return the ids of the questions whose documents the texts are of."""
    names = [question.question_id for question in corpus.questions if question.question_set == "questions"]
    together = "\n".join(texts)
    return {name for name in names if word_of(name) in together}


def indexed(run, corpus):
    """Return the ids of the questions whose documents an ensemble's signal finds something by."""
    (signal,) = (
        each for each in read_ensemble(run, len(corpus.articles), device="cpu").signals if each.name == "citing"
    )
    names = [question.question_id for question in corpus.questions if question.question_set == "questions"]
    proposals = signal.propose(QuestionBatch([word_of(name) for name in names]), 1, None)
    return {name for name, proposal in zip(names, proposals, strict=True) if len(proposal.candidates.rows)}


def ids(corpus, split):
    return {question.question_id for question in corpus.split(split)}


def settings_of(quick_settings, quick_backbone, *more):
    own = [text for text in quick_settings if not text.startswith(("encoder.backbone", "stage2.epochs"))]
    return (*own, *USES, f"ensemble.members=qabisar@{quick_backbone}", *more)


@pytest.fixture
def check_run(documented, trainings, quick_settings, quick_backbone, tmp_path):
    """Return a function that asserts that a run has the documents of its training questions alone."""

    def check() -> None:
        settings = settings_of(quick_settings, quick_backbone)
        run = pipeline.train_run(
            documented, resolve_config("ensemble", settings), tmp_path / "run", pipeline.DEFAULT_OPTIONS
        )
        corpora, texts = trainings
        (member,) = set(corpora) - {run.folder}
        train = ids(documented, "train")
        assert documents_in(texts[member], documented) == train
        assert indexed(run, documented) == train

    return check


def test_a_run_has_only_the_documents_of_its_training_questions(check_run):
    check_run()


def test_texts_of_other_questions_that_are_used_are_noticed(check_run, monkeypatch):
    monkeypatch.setattr(Corpus, "usable_citing", lambda corpus: corpus.citing)
    with pytest.raises(AssertionError):
        check_run()
