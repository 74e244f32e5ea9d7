import shutil
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from statgraph import Retriever, artifacts
from statgraph.errors import RunError
from statgraph.evaluation.report import Report
from statgraph.law.records import CitingText, Question
from statgraph.retrieval.ranking.calibration import Calibration
from statgraph.retrieval.search.ensemble_run import (
    learnt_from,
    member_signals,
    other_signals,
    read_ensemble,
    read_ranker,
    write_ranker,
)
from statgraph.retrieval.signals.lexical import TextSignal
from statgraph.retrieval.signals.signal import QuestionBatch, text_bm25
from statgraph.runs import parts
from statgraph.runs.kind import kind_of
from statgraph.runs.own_corpus import own_corpus
from statgraph.runs.run import RunFolder
from statgraph.systems import calibrating, ensemble
from statgraph.systems.job import Job, TrainingOptions
from statgraph.systems.pipeline import train_run
from statgraph.systems.presets import resolve_config
from statgraph.systems.updating.editing import edit_run
from statgraph.systems.updating.update import update_run
from statgraph.training.checkpoints import MetricsLog
from statgraph.training.loop import chosen_epochs

QUESTION = "Who taxes my bridges?"


@pytest.fixture(scope="module")
def settings(quick_settings, quick_backbone):
    own = [text for text in quick_settings if not text.startswith("encoder.backbone")]
    members = f"ensemble.members=qabisar@{quick_backbone},zero-shot@{quick_backbone}"
    return (*own, members)


@pytest.fixture(scope="module")
def train(tmp_path_factory, town_corpus, settings):
    """Return a function that trains an ensemble on a corpus, the town if None, with more settings."""

    def trained(corpus=None, *more, **options):
        folder = tmp_path_factory.mktemp("run") / "run"
        config = resolve_config("ensemble", (*settings, *more))
        return train_run(corpus or town_corpus, config, folder, TrainingOptions(**options))

    return trained


@pytest.fixture(scope="module")
def trained(train):
    said = []
    return train(announce=said.append), said


def hits(run, question=QUESTION):
    return [(hit.article_id, pytest.approx(hit.score)) for hit in Retriever.load(run.folder).search(question)]


def test_an_ensemble_is_trained_measured_and_searched(trained, town_corpus):
    run, said = trained
    assert RunFolder.read(run.folder) == run
    assert [folder.is_dir() for folder in run.member_folders.values()] == [True, True]
    signals = ["bm25", "centres.npz", "citation", "votes", "wording"]
    assert sorted(path.name for path in run.signals.iterdir()) == signals
    assert Report.from_dict(artifacts.read_json(run.folder / parts.REPORT)).strata["all"].n_questions == 4
    assert [path.parent for path in run.folder.rglob("report.json")] == [run.folder]  # members have none
    card = (run.folder / artifacts.MODEL_CARD).read_text(encoding="utf-8")
    assert "| an ensemble: " in card
    assert "BM25, no vectors" not in card
    assert [line.partition(" ")[0] for line in said[-3:]] == ["ranker", "probabilities", "dev"]
    assert said[-3].startswith("ranker weights learnt from 4 dev questions: ")
    assert learnt_from(run) == "dev"
    found = Retriever.load(run.folder).search(QUESTION, k=16)
    assert sorted(hit.article_id for hit in found) == sorted(town_corpus.article_rows)
    assert found[0].article_id.startswith("bridges")


def test_what_contributed_adds_up_to_the_score(trained):
    run, _ = trained
    retriever = Retriever.load(run.folder)
    found = retriever.search(QUESTION, k=16)
    whys = retriever.explain(QUESTION, found)
    assert [sum(part.amount for part in why.contributions) for why in whys] == pytest.approx(
        [hit.score for hit in found], abs=1e-4
    )
    members = set(run.config.ensemble.members)
    assert members & {part.source for why in whys for part in why.contributions}


def test_with_few_dev_questions_the_default_calibrates_and_cosines_are_of_this_law(trained):
    run, _ = trained
    default, saved = Calibration.read(calibrating.DEFAULT), Calibration.read(run.calibration)
    assert (saved.question, saved.hit) == (default.question, default.hit)
    assert saved.off_topic != default.off_topic
    found = Retriever.load(run.folder).search(QUESTION, 5)
    assert all(0 <= hit.probability <= 1 for hit in found)


def test_with_enough_dev_questions_the_calibration_is_fitted_on_them(train, monkeypatch):
    monkeypatch.setattr(calibrating, "_ENOUGH", 4)
    run = train(None, "ranker.learnt=false")
    assert Calibration.read(run.calibration).fitted_on == "4 dev questions"


def test_a_run_without_a_calibration_ranks_alike_and_has_no_probabilities(trained, tmp_path):
    run, _ = trained
    old = shutil.copytree(run.folder, tmp_path / "old", symlinks=True)
    (old / parts.CALIBRATION).unlink()
    found = Retriever.load(old).search(QUESTION)
    assert [(hit.article_id, hit.score) for hit in found] == hits(run)
    assert {hit.probability for hit in found} == {None}


def test_a_killed_training_goes_on(train, trained, tmp_path, town_corpus, settings):
    run, _ = trained
    folder = tmp_path / "run"
    config = resolve_config("ensemble", settings)

    def killed(line):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_run(town_corpus, config, folder, TrainingOptions(announce=killed))
    again = train_run(town_corpus, config, folder, TrainingOptions(resume=True))
    assert hits(again) == hits(run)


def test_without_questions_nothing_learns_from_them(train, town_corpus, settings, quick_backbone):
    bare = replace(town_corpus, questions=())
    run = train(bare)
    assert run.config.ensemble.members == (f"zero-shot@{quick_backbone}",)
    assert learnt_from(run) is None
    alone = train(bare, f"ensemble.members=qabisar@{quick_backbone}")
    assert alone.config.ensemble.members == (f"structure@{quick_backbone}",)
    assert len(Retriever.load(alone.folder).search(QUESTION)) == 10
    config = resolve_config("ensemble", settings)
    assert kind_of(config).for_corpus(config, town_corpus) is config


def test_with_few_questions_no_transformer_is_trained_unless_it_is_named(town_corpus):
    config = resolve_config("ensemble")
    trained, static, zero_shot = config.ensemble.members
    assert kind_of(config).for_corpus(config, town_corpus).ensemble.members == (static, zero_shot)
    named = resolve_config("ensemble", (f"ensemble.members={trained}",))
    assert kind_of(config).for_corpus(named, town_corpus) is named
    many = replace(town_corpus, questions=town_corpus.split("train") * 300)
    assert kind_of(config).for_corpus(config, many) is config


def test_an_update_keeps_the_weights(train, tmp_path, town_corpus):
    run = train(None, "ensemble.members=none")
    before = read_ranker(run)
    other = replace(before.ranker, signals={**before.ranker.signals, "bm25": 0.125})
    write_ranker(run, other, n_learnt_from=7, wholes=before.wholes)
    amended = replace(town_corpus.articles[0], text="Lamps are free.")
    update_run(
        run.folder, replace(town_corpus, articles=(amended, *town_corpus.articles[1:])), out=tmp_path / "updated"
    )
    assert read_ranker(RunFolder.read(tmp_path / "updated")) == replace(before, ranker=other, n_learnt_from=7)


def test_a_signal_without_anything_to_say_leaves_nothing(train, monkeypatch):
    def write(source, folder):
        (folder / "begun").touch()
        return False

    monkeypatch.setattr(TextSignal, "write", staticmethod(write))
    run = train(None, "ensemble.members=none", "ensemble.signals=citation,bm25")
    assert [folder.name for folder in run.signals.iterdir()] == ["citation"]


def test_weights_are_not_learnt_where_they_are_not_to_be(train):
    said = []
    run = train(None, "ensemble.members=none", "ranker.learnt=false", announce=said.append)
    assert learnt_from(run) is None
    assert not any(line.startswith("ranker") for line in said)


def test_an_untrained_transformer_compares_word_by_word_after_an_update_too(
    train, tmp_path, town_corpus, quick_transformer
):
    steps = []
    members = f"ensemble.members=zero-shot@{quick_transformer}"
    short = "ensemble.settings=encoder.chunk_tokens=32,encoder.max_tokens=32"
    run = train(None, members, short, "ranker.learnt=false", progress=steps.append)
    assert [(step.done, step.total) for step in steps if step.name == "reading articles word by word"] == [(16, 16)]
    retriever = Retriever.load(run.folder, device="cpu")
    found = retriever.search(QUESTION, k=16)
    explained = retriever.explain(QUESTION, found)
    assert any("maxsim" in {part.source for part in why.contributions} for why in explained)  # others have the lowest
    amended = replace(town_corpus.articles[0], text="Bridges, bridges.")
    law = replace(town_corpus, articles=(amended, *town_corpus.articles[1:]))
    update_run(run.folder, law, out=tmp_path / "updated")
    runs = run, RunFolder.read(tmp_path / "updated")
    centre, updated = (next(member_signals(each, device="cpu")).centre for each in runs)
    assert centre.question.any()
    assert centre.token.any()
    assert np.array_equal(centre.question, updated.question)
    uncentred = train(None, members, short, "ranker.learnt=false", "ensemble.centring=0")
    assert next(member_signals(uncentred, device="cpu")).centre.question == 0
    assert read_ensemble(uncentred, 16, device="cpu")
    (run.signals / "centres.npz").unlink()
    with pytest.raises(RunError, match=r"centres\.npz: missing; train the run again"):
        read_ensemble(run, 16, device="cpu")
    before, after = (np.load(each.signals / "maxsim" / "places.npz")["starts"] for each in runs)
    assert len(before) == len(after) == 17
    assert (np.diff(before) != np.diff(after)).tolist() == [True] + [False] * 15


def test_what_needs_one_encoder_names_the_members_if_there_are_any(train, trained):
    run, _ = trained
    with pytest.raises(RunError, match=f"an ensemble; name one of its members with run {run.members}/NAME"):
        run.require_vectors()
    with pytest.raises(RunError, match="without members, which has no vectors or encoders; name a run of another"):
        train(None, "ranker.learnt=false", "ensemble.members=none").require_vectors()


@pytest.mark.parametrize(("n_articles", "depth"), [(1, 1), (16, 1), (1, 2), (3, 2)])
def test_the_smallest_laws_and_those_without_headings_or_questions(
    train, town_corpus, quick_backbone, n_articles, depth
):
    articles = tuple(replace(article, path=article.path[:depth]) for article in town_corpus.articles[:n_articles])
    law = replace(town_corpus, articles=articles, questions=())
    question = "Lamps allowed?"
    for members in ("none", f"qabisar@{quick_backbone}", f"zero-shot@{quick_backbone}"):
        retriever = Retriever.load(train(law, f"ensemble.members={members}").folder)
        found = retriever.search(question)
        assert found[0].article_id.startswith("lamps")
        assert not any(why.note for why in retriever.explain(question, found))


@pytest.fixture(scope="module")
def guided(town_corpus):
    """The town with a citing text of a training question and of a test question."""
    citing = (
        CitingText("c1", "Guide", "Lanterns at home", ("lamps1",), "train-lamps"),
        CitingText("c2", "Guide", "Footpaths over the brook", ("gardens2",), "test-gardens"),
    )
    return replace(town_corpus, citing=citing)


def test_a_word_of_a_citing_text_is_no_typing_error(train, town_corpus):
    untrained, read = ("ranker.learnt=false", "ensemble.members=none"), []
    citing = (CitingText("c1", "Guide", "A lampz at home", ("lamps1",), "train-lamps"),)
    for texts in ((), citing):
        run = train(replace(town_corpus, citing=texts), *untrained)
        read.append(text_bm25(other_signals(run, ())).corrected("a lampz"))
    assert read == ["a lamps", "a lampz"]


def test_a_final_run_knows_every_question_and_its_texts(train, guided):
    run = train(guided)
    said = []
    config = RunFolder.read(run.folder).config
    folder = run.folder.parent / "final"
    final = train_run(guided, config, folder, TrainingOptions(final=run, announce=said.append))
    assert RunFolder.read(folder) == final
    assert "citing" not in read_ranker(run).ranker.signals or said == [f"ranker with the weights of {run.folder}"]
    assert final.data["questions"] == {"train": 16, "dev": 0, "test": 0}
    assert not (folder / parts.REPORT).exists()

    votes = [np.load(r.signals / "votes" / "vectors.npy") for r in (run, final)]
    assert [len(vectors) for vectors in votes] == [8, 16]
    brook = [signal_scores(r, "citing", "brook") for r in (run, final)]
    assert [scores.any() for scores in brook] == [False, True]
    logs = [MetricsLog(r.member_folders[config.ensemble.members[0]] / parts.METRICS).records() for r in (run, final)]
    assert logs[1][-1]["epoch"] == chosen_epochs(logs[0], "quality")["stage2"]

    for member in (final, *map(RunFolder.read, final.member_folders.values())):
        member.check_corpus(guided)
        with pytest.raises(RunError, match=r"\(final\)"):
            member.check_measurable("test")
    run.check_measurable("test")
    assert "Final" in (folder / artifacts.MODEL_CARD).read_text(encoding="utf-8")

    amended = replace(guided.articles[0], text="Lamps are free.")
    changed = replace(guided, articles=(amended, *guided.articles[1:]))
    updated = RunFolder.read(update_run(folder, changed, out=run.folder.parent / "updated").run)
    updated.check_corpus(changed)
    assert updated.final == str(run.folder)
    assert len(np.load(updated.signals / "votes" / "vectors.npy")) == 16
    assert signal_scores(updated, "citing", "brook").any()


def signal_scores(run, name, question):
    signals = {signal.name: signal for signal in read_ensemble(run, 16, device="cpu").signals}
    if name not in signals:
        return np.zeros(16)
    return signals[name].propose(QuestionBatch([question]), 1, None)[0].scores(np.arange(16))


def test_an_updated_ensemble_is_the_rebuilt_one(train, tmp_path, town_corpus):
    fixed = "ranker.learnt=false"
    run = train(None, fixed, "ensemble.members=none")
    amended = replace(town_corpus.articles[10], text="Bridges are closed to carts by night.")
    articles = (*town_corpus.articles[:10], amended, *town_corpus.articles[11:-1])
    questions = tuple(q for q in town_corpus.questions if "fences2" not in q.article_ids)
    corpus = replace(town_corpus, articles=articles, questions=questions)

    summary = update_run(run.folder, corpus, out=tmp_path / "updated")
    assert summary.written
    rebuilt = train(corpus, fixed, "ensemble.members=none")
    question = "May a cart cross a bridge by night?"
    assert hits(RunFolder.read(tmp_path / "updated"), question) == hits(rebuilt, question)


def test_members_are_updated_too(trained, tmp_path, town_corpus):
    run, _ = trained
    amended = replace(town_corpus.articles[0], text="Lamps are free.")
    corpus = replace(town_corpus, articles=(amended, *town_corpus.articles[1:]))
    summary = update_run(run.folder, corpus, out=tmp_path / "updated")
    assert summary.embedded == 2  # one text, in each member
    for folder in RunFolder.read(tmp_path / "updated").member_folders.values():
        assert RunFolder.read(folder).corpus.content_hash == corpus.content_hash
    assert update_run(run.folder, town_corpus, dry_run=True).embedded == 0


@pytest.mark.parametrize("name", ["ranker.json", "structure.npz", "signals/bm25/analysis.json"])
def test_damage_is_refused(trained, tmp_path, name):
    run, _ = trained
    copy = tmp_path / "copy"
    shutil.copytree(run.folder, copy)
    (copy / name).write_bytes(b"x")
    with pytest.raises(RunError, match=name.rpartition("/")[0] or name):
        Retriever.load(copy)


def test_a_question_of_another_split_gives_no_signal(train, town_corpus):
    """A dev question's labels reach neither the votes nor the members."""
    told = Question("dev-lamps", "What do I pay for my lamps?", "dev", ("wells1",))
    questions = tuple(told if q.question_id == "dev-lamps" else q for q in town_corpus.questions)
    other = train(replace(town_corpus, questions=questions), "ranker.learnt=false", "stage2.epochs=1")
    same = train(town_corpus, "ranker.learnt=false", "stage2.epochs=1")
    assert hits(other) == hits(same)


@pytest.mark.parametrize("unfinished", [False, True])
def test_a_process_goes_on_with_a_member_only_if_the_first_one_does(
    tmp_path, settings, town_corpus, unfinished, monkeypatch
):
    """It may see the member's folder after the first process has begun there."""
    (tmp_path / parts.CONFIG).write_text("{}")
    world = SimpleNamespace(json_from_first=lambda value: [False, unfinished])
    config, resumed = resolve_config("ensemble", settings), []
    monkeypatch.setattr(ensemble, "train_run", lambda *arguments: resumed.append(arguments[-1].resume))
    ensemble._train_member(Job(town_corpus, config, tmp_path, world=world), config.ensemble.members[0], tmp_path)
    assert resumed == [unfinished]


def test_an_article_is_added_and_removed_with_the_training_questions_it_keeps(trained, tmp_path, town_corpus):
    run, _ = trained
    folder = shutil.copytree(run.folder, tmp_path / "run")
    added = {"id": "bells", "text": "Bells ring at noon.", "path": ["Town Code", "Book I. Rights"]}
    edit_run(folder, add=[added])
    assert Retriever.load(folder).search("Bells ring at noon", k=1)[0].article_id == "bells"
    edit_run(folder, remove=["bells"])
    edited = RunFolder.read(folder)
    assert hits(edited) == hits(run)
    assert own_corpus(edited).questions == town_corpus.split("train")
    edit_run(folder, remove=["bridges1"])  # which alone answers the question about bridges
    assert {question.question_id for question in own_corpus(edited).questions} == {
        question.question_id for question in town_corpus.split("train")
    } - {"train-bridges"}
