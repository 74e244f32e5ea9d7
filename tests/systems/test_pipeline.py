import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest

from statgraph import Retriever, artifacts
from statgraph.augmentation.store import read_synthetic
from statgraph.config import RunConfig
from statgraph.errors import CorpusError, UsageError
from statgraph.law.catalogue import sample_folder
from statgraph.law.records import CitingText
from statgraph.law.store import read_corpus
from statgraph.retrieval.index.article_index import ArticleIndex
from statgraph.runs.folders import is_finished
from statgraph.runs.provenance import commit
from statgraph.runs.run import RunFolder
from statgraph.settings import overlaid
from statgraph.systems import pipeline
from statgraph.systems.job import TrainingOptions
from statgraph.systems.model_card import read_run_report
from statgraph.systems.pipeline import train_run, untrained_run
from statgraph.systems.presets import resolve_config, system_names


@pytest.fixture
def bm25():
    return resolve_config("bm25", ["device=cpu"])


@pytest.fixture
def begun(tmp_path, town_corpus, quick_config, monkeypatch):
    """Return the folder of a run that was interrupted after its training, before its evaluation."""
    folder = tmp_path / "begun"
    with monkeypatch.context() as patch:
        patch.setattr(pipeline, "evaluate_split", interrupted)
        with pytest.raises(KeyboardInterrupt):
            train_run(town_corpus, quick_config(), folder)
    return folder


def interrupted(*arguments, **options):
    raise KeyboardInterrupt


RESUMED = TrainingOptions(resume=True)


def test_a_run_folder_holds_what_the_architecture_promises(tmp_path, town_corpus, quick_config):
    config = quick_config()
    run = train_run(town_corpus, config, tmp_path / "a" / "run")
    assert run.folder == tmp_path / "a" / "run"
    assert sorted(path.name for path in run.folder.iterdir()) == [
        "README.md", "article_encoder", "articles.jsonl", "articles.offsets.npy", "config.json",
        "graph_encoder.safetensors", "graph_inputs", "index", "manifest.json", "metrics.jsonl", "query_encoder",
        "report.json", "structure.npz",
    ]  # fmt: skip
    assert {path.name for path in run.folder.iterdir()} <= {part.name for part in run.kind.parts}
    manifest = artifacts.read_json(run.folder / "manifest.json")
    assert manifest == run.to_dict()
    assert overlaid(RunConfig(), manifest["config"], place="manifest") == config
    assert manifest["corpus"] == {
        "name": "town", "language": "en", "content_hash": town_corpus.content_hash, "articles": 16,
    }  # fmt: skip
    assert manifest["seed"] == config.seed
    assert manifest["commit"] == commit()
    assert {"python", "statgraph", "torch", "dgl", "numpy"} <= manifest["versions"].keys()
    assert [step["name"] for step in manifest["steps"]][-1] == "evaluation on dev"


def test_bm25_writes_its_index_articles_and_report_alone(tmp_path, town_corpus, bm25):
    run = train_run(town_corpus, bm25, tmp_path / "run")
    assert sorted(path.name for path in run.folder.iterdir()) == [
        "README.md", "articles.jsonl", "articles.offsets.npy", "config.json", "lexical", "manifest.json", "report.json",
        "structure.npz",
    ]  # fmt: skip
    assert Retriever.load(run.folder).search("Who taxes my fences?")[0].article_id == "fences2"


def test_doct5query_ranks_by_the_headings_above_too(tmp_path, town_corpus, bm25):
    expanded = resolve_config("doct5query", ["device=cpu", "bm25.expansion=2"])
    runs = [train_run(town_corpus, config, tmp_path / config.system) for config in (bm25, expanded)]
    assert [step["name"] for step in runs[1].steps] == ["synthetic questions", "BM25 index", "evaluation on dev"]
    file = read_synthetic(tmp_path / "doct5query" / "synthetic.jsonl")
    assert (file.manifest["generator"], file.manifest["expansion"]) == ("headings", 2)
    assert [question.text for question in file.questions] == [
        "Book I. Rights", "Town Code Book I. Rights", "Book II. Duties", "Town Code Book II. Duties",
    ]  # fmt: skip
    plain, boosted = (Retriever.load(run.folder).search("duties", k=1)[0] for run in runs)
    assert (plain.article_id, boosted.article_id) == ("lamps2", "lamps2")
    assert boosted.score > plain.score


def test_an_interrupted_doct5query_goes_on(tmp_path, town_corpus, monkeypatch):
    config = resolve_config("doct5query", ["device=cpu"])
    with monkeypatch.context() as patch:
        patch.setattr(pipeline, "evaluate_split", interrupted)
        with pytest.raises(KeyboardInterrupt):
            train_run(town_corpus, config, tmp_path / "run")
    written = (tmp_path / "run" / "synthetic.jsonl").read_bytes()
    monkeypatch.setattr(pipeline, "write_expansion", None)  # nothing is asked a second time
    assert is_finished(train_run(town_corpus, config, tmp_path / "run", RESUMED).folder)
    assert (tmp_path / "run" / "synthetic.jsonl").read_bytes() == written


@pytest.mark.parametrize("setting", ["augment.generator=t5", "augment.round_trip=3"])
def test_refused_synthetic_questions_leave_nothing_behind(tmp_path, town_corpus, setting):
    with pytest.raises(UsageError):
        train_run(town_corpus, resolve_config("doct5query", ["device=cpu", setting]), tmp_path / "run")
    assert list(tmp_path.iterdir()) == []


def test_without_dev_questions_there_is_no_report(tmp_path, town_corpus, quick_config):
    corpus = dataclasses.replace(town_corpus, questions=town_corpus.split("train"))
    run = train_run(corpus, quick_config(), tmp_path / "run")
    assert ((run.folder / "report.json").exists(), is_finished(run.folder)) == (False, True)
    assert len(Retriever.load(run.folder, device="cpu").search("lamps")) == 10


def test_resuming_ends_as_without_interruption(begun, tmp_path, town_corpus, quick_config):
    whole = train_run(town_corpus, quick_config(), tmp_path / "whole")
    resumed = train_run(town_corpus, quick_config(), begun, RESUMED)
    assert read_run_report(resumed.folder) == read_run_report(whole.folder)
    vectors = [ArticleIndex.load(run.folder / "index", device="cpu").vectors for run in (whole, resumed)]
    np.testing.assert_allclose(*vectors, atol=1e-6)
    logs = [(run.folder / "metrics.jsonl").read_text().splitlines() for run in (whole, resumed)]
    whole_log, resumed_log = ([json.loads(line) | {"seconds": 0} for line in log] for log in logs)
    assert whole_log == resumed_log


def test_what_cannot_be_trained_leaves_nothing_behind(tmp_path, town_corpus, quick_config):
    silent = dataclasses.replace(town_corpus, questions=())
    with pytest.raises(CorpusError, match=r"^town: has no training questions; "):
        train_run(silent, quick_config(), tmp_path / "run")
    with pytest.raises(UsageError, match=r"^encoder\.train: .*static"):
        train_run(town_corpus, quick_config("qabisar", "encoder.train=head"), tmp_path / "run")
    assert list(tmp_path.iterdir()) == []


def one_epoch(system):
    """Return the settings that give each stage of a system one epoch."""
    preset = resolve_config(system, ["device=cpu"])
    return [f"{stage}.epochs=1" for stage in ("stage1", "stage2") if getattr(preset, stage).epochs]


# Each of the others is trained by another test.
OTHERS = ("bm25", "doct5query", "dpr", "dsr", "dsr-adapted", "ensemble", "gdsr", "qabisar", "student")
DENSE = [name for name in system_names() if name not in OTHERS]


@pytest.mark.parametrize("system", DENSE)
def test_every_system_trains(tmp_path, town_corpus, quick_config, system):
    run = train_run(town_corpus, quick_config(system, *one_epoch(system)), tmp_path / "run")
    assert len(Retriever.load(run.folder, device="cpu").search("Who taxes my lamps?", k=5)) == 5


@pytest.mark.real
def test_the_adapted_static_encoder_trains_on_the_sample(tmp_path):
    """It is distilled from a transformer, which takes minutes; test_dense.py adapts a tiny one."""
    short = ("device=cpu", "encoder.backbone=embedded:static", "pretrain.steps=2", "pretrain.batch_size=4")
    config = resolve_config("dsr-adapted", (*short, "stage1.min_epoch_steps=0", "stage1.epochs=1"))
    run = train_run(read_corpus(sample_folder()), config, tmp_path / "run")
    assert len(Retriever.load(run.folder, device="cpu").search("Who gets the deposit back?", k=5)) == 5


@pytest.fixture
def own_cache_folder(tmp_path, monkeypatch):
    """For what is found by words: the transformer would be unpacked again."""
    monkeypatch.setenv("STATGRAPH_CACHE", str(tmp_path))
    monkeypatch.setattr("statgraph.systems.pipeline.EMBEDDED_MOST", 0)


@pytest.mark.usefixtures("own_cache_folder")
def test_an_untrained_run_is_kept_for_its_state_of_the_corpus(town_corpus):
    run = untrained_run(town_corpus)
    assert untrained_run(town_corpus) == run
    amended = dataclasses.replace(town_corpus.articles[0], text="Unicorns are free.")
    other = untrained_run(dataclasses.replace(town_corpus, articles=(amended, *town_corpus.articles[1:])))
    assert other != run
    assert Retriever.load(other).search("unicorns")[0].article_id == amended.article_id


def test_a_law_in_another_language_and_articles_that_are_cut_are_reported(town_corpus, bm25, quick_config, tmp_path):
    long = [dataclasses.replace(article, text=f"{article.text} " * 20) for article in town_corpus.articles[:5]]
    law = dataclasses.replace(town_corpus, language="fr", articles=(*long, *town_corpus.articles[5:]))
    said = []
    train_run(law, bm25, tmp_path / "bm25", TrainingOptions(announce=said.append))
    (line,) = said
    assert line.startswith("the texts read like language 'en' (")
    assert line.endswith("; words are compared as in 'fr': import it again with --language")
    law = dataclasses.replace(law, language="en")
    config = quick_config("qabisar", "encoder.max_tokens=64", "encoder.chunk_tokens=32")
    train_run(law, config, tmp_path / "dense", TrainingOptions(announce=said.append))
    assert [line for line in said[1:] if "tokens" in line] == [
        "5 of 16 articles are longer than the 64 tokens that the encoder reads (first: Art. 1); "
        "what follows these is not in its vectors"
    ]


def test_an_untrained_run_of_a_small_corpus_has_vectors_which_are_announced(town_corpus, monkeypatch):
    made, said, trained = [], [], []
    monkeypatch.setattr("statgraph.systems.pipeline.cached", lambda kind, inputs, make: made.append(make) or Path("at"))
    monkeypatch.setattr("statgraph.systems.pipeline.train_run", lambda corpus, config, *about: trained.append(config))
    assert untrained_run(town_corpus, announce=said.append) == Path("at/run")
    assert said == []  # before there is anything to make
    made[0](Path("at"))
    assert said == ["Embedding 16 articles once with embedded:multilingual-e5-small; the cache keeps the vectors"]
    monkeypatch.setattr("statgraph.systems.pipeline.EMBEDDED_MOST", 15)
    untrained_run(town_corpus, announce=said.append)
    made[1](Path("at"))
    members = [config.ensemble.members for config in trained]
    assert members == [("zero-shot@embedded:multilingual-e5-small",), ()]
    assert len(said) == 1


@pytest.mark.usefixtures("own_cache_folder")
def test_a_citing_text_of_a_test_question_is_not_indexed(town_corpus):
    """One of a training question is."""
    splits = {split: town_corpus.split(split)[0] for split in ("train", "test")}
    citing = tuple(
        CitingText(f"c-{split}", "Guide", f"A word for {split}: {split}ish.", ("lamps1",), question.question_id)
        for split, question in splits.items()
    )
    run = RunFolder.read(untrained_run(dataclasses.replace(town_corpus, citing=citing)))
    assert (run.signals / "citing").is_dir()
    retriever = Retriever.of(run)
    assert [hit.article_id for hit in retriever.search("trainish")][:1] == ["lamps1"]
    assert retriever.search("testish") == []
