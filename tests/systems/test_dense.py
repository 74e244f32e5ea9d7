import dataclasses
import json
import os
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from statgraph.config import LAST, RunConfig
from statgraph.errors import UsageError
from statgraph.graph.gnn.graph_inputs import read_graph_inputs
from statgraph.law.store import write_corpus
from statgraph.retrieval.index.article_index import ArticleIndex
from statgraph.retrieval.search.evaluating import evaluate_split
from statgraph.retrieval.search.retriever import Retriever
from statgraph.runs import parts
from statgraph.runs.article_store import write_article_store
from statgraph.runs.kind import kind_of
from statgraph.runs.run import CorpusFacts, RunFolder
from statgraph.settings import with_settings
from statgraph.systems.dense import rehearsed, stage1_key, train_dense
from statgraph.systems.job import Job, TrainingOptions
from statgraph.systems.pipeline import train_run
from statgraph.systems.presets import resolve_config, system_names
from statgraph.training.checkpoints import MetricsLog
from statgraph.training.loop import chosen_epochs


@pytest.fixture
def train(tmp_path, town_corpus, quick_config):
    """Return a function that trains a system into a new folder and returns (folder, names of the steps)."""

    def trained(system, *settings, corpus=town_corpus, stage1_cache=None):
        folder = tmp_path / f"run{len(list(tmp_path.iterdir()))}"
        folder.mkdir()
        options = TrainingOptions(stage1_cache=stage1_cache)
        job = Job(corpus, quick_config(system, "device=cpu", *settings), folder, options)
        train_dense(job)
        return folder, [step["name"] for step in job.clock.steps]

    return trained


def epochs_of(folder) -> list[tuple[str, int]]:
    return [
        (record["stage"], record["epoch"])
        for record in map(json.loads, (folder / "metrics.jsonl").read_text().splitlines())
    ]


def vectors_of(folder) -> np.ndarray:
    return ArticleIndex.load(folder / "index", device="cpu").vectors


TINY_RECIPE = (
    *("regime=paper", "encoder.chunk_tokens=16", "encoder.max_tokens=32", "encoder.article_heads=2", "gnn.heads=2"),
    *("pretrain.steps=1", "pretrain.batch_size=2", "pretrain.max_tokens=16", "stage1.epochs=1", "stage2.epochs=1"),
    *("stage1.min_epoch_steps=0", "stage2.min_epoch_steps=0"),
)


@pytest.mark.parametrize("system", ["cusines-gdsr", "qabisar"])
def test_the_papers_recipes_train(train, own_cache, quick_transformer, tmp_path, system):
    table = tmp_path / "questions.csv"
    table.write_text("question,article_ids\nwho lights them,lamps1\nhow deep,wells2\n", encoding="utf-8")
    settings = (f"encoder.backbone={quick_transformer}", f"augment.file={table}")
    folder, steps = train(system, *settings, *TINY_RECIPE)
    assert epochs_of(folder) == [("stage1", 0), ("stage1", 1), ("stage2", 0), ("stage2", 1)]
    assert ("adaptation to the statutes" in steps) == (system != "cusines-gdsr")
    assert np.isfinite(vectors_of(folder)).all()


def test_dsr_trains_the_text_encoders_alone(train):
    folder, steps = train("dsr", "stage1.epochs=2", "stage2.epochs=0", "stage1.negatives=bm25")
    assert steps == ["encoders", "article inputs", "stage 1", "article vectors", "index and encoders to disk"]
    assert epochs_of(folder) == [("stage1", 0), ("stage1", 1), ("stage1", 2)]
    assert not (folder / "graph_encoder.safetensors").exists()


def test_qabisar_trains_the_graph(train, town_corpus):
    folder, steps = train("qabisar", "stage1.epochs=1")
    assert steps == ["graph", "encoders", "article inputs", "stage 1", "stage 2", "index and encoders to disk"]
    assert epochs_of(folder) == [("stage1", 0), ("stage1", 1), ("stage2", 0), ("stage2", 1), ("stage2", 2)]
    assert all(torch.isfinite(tensor).all() for tensor in load_file(folder / "graph_encoder.safetensors").values())
    index = ArticleIndex.load(folder / "index", device="cpu")
    assert index.article_ids == tuple(article.article_id for article in town_corpus.articles)
    np.testing.assert_allclose(np.linalg.norm(index.vectors, axis=1), 1, atol=1e-5)


@pytest.mark.parametrize(("system", "layer"), [("qabisar", "qabisar-v2"), ("qabisar", "gcn"), ("gdsr", "gatv2")])
def test_layers_train_on_the_references_between_articles(train, referring_town, system, layer):
    settings = ("stage2.epochs=1", f"gnn.layer={layer}")
    with_them, without = (
        vectors_of(train(system, *settings, f"graph.relations={relations}", corpus=referring_town)[0])
        for relations in ("tree,citations", "tree")
    )
    assert np.isfinite(with_them).all()
    assert np.abs(with_them - without).max() > 1e-3


@pytest.mark.parametrize("settings", [("qabisar", "gnn.fanout=2", "stage2.joint=false"), ("gdsr",)])
def test_citing_texts_train_and_those_of_dev_and_test_questions_leave_no_trace(train, cited_town, settings):
    citing = ("stage2.epochs=1", "graph.relations=tree,bipartite,citing")
    folder, _ = train(*settings, *citing, corpus=cited_town)
    kept = read_graph_inputs(folder / "graph_inputs")
    assert [text.citing_id for text in kept.citing] == ["guide-1", "guide-2"]
    assert kept.vectors["citing"].shape == (2, 16)

    def without(*ids):
        texts = tuple(text for text in cited_town.citing if text.citing_id not in ids)
        return vectors_of(train(*settings, *citing, corpus=dataclasses.replace(cited_town, citing=texts))[0])

    np.testing.assert_array_equal(without("dev", "test", "copy"), vectors_of(folder))
    assert np.abs(without("guide-2") - vectors_of(folder)).max() > 1e-3


@pytest.mark.parametrize(("setting", "value"), [("heads", 7), ("fanout", 0), ("dropout", 1)])
def test_what_the_graph_refuses_is_refused_before_stage_1(town_corpus, quick_config, tmp_path, setting, value):
    config = quick_config("qabisar", "device=cpu", "stage1.epochs=1")
    config = dataclasses.replace(config, gnn=dataclasses.replace(config.gnn, **{setting: value}))
    with pytest.raises(UsageError, match=rf"gnn\.{setting}"):
        train_run(town_corpus, config, tmp_path / "run")
    assert list(tmp_path.iterdir()) == []


def test_runs_share_a_first_stage(train, tmp_path_factory):
    cache = tmp_path_factory.mktemp("stage1")
    alone, _ = train("qabisar", "stage1.epochs=2")
    first, _ = train("qabisar", "stage1.epochs=2", stage1_cache=cache)
    assert len(list(cache.iterdir())) == 1
    second, _ = train("qabisar", "stage1.epochs=2", stage1_cache=cache)
    assert len([epoch for stage, epoch in epochs_of(second) if stage == "stage1"]) == 1
    assert (vectors_of(first) == vectors_of(alone)).all()
    assert (vectors_of(second) == vectors_of(alone)).all()
    last, _ = train("qabisar", "stage1.epochs=2", "stage2.epochs=2", "select_by=last", stage1_cache=cache)
    assert len(list(cache.iterdir())) == 2
    assert chosen_epochs(MetricsLog(last / "metrics.jsonl").records(), LAST) == {"stage1": 2, "stage2": 2}


@pytest.mark.parametrize("similarity", ["cosine", "dot", "euclidean"])
def test_a_search_ranks_by_the_similarity_of_training(train, town_corpus, quick_config, similarity):
    folder, _ = train("dsr", "stage1.epochs=1", "stage2.epochs=0", f"encoder.similarity={similarity}")
    run = RunFolder(folder_with_articles(folder, town_corpus), quick_config("dsr"), CorpusFacts.of(town_corpus))
    retriever = Retriever.of(run)
    epochs = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    report = evaluate_split(retriever, town_corpus, "dev", rng=np.random.default_rng(0))
    assert report.strata["all"].metrics["quality"].mean == pytest.approx(
        max(epoch["quality"] for epoch in epochs), abs=1e-5
    )


def folder_with_articles(folder, corpus):
    write_article_store(corpus.articles, folder)
    return folder


@pytest.mark.parametrize(
    ("settings", "stages"),
    [
        (("stage2.distillation=none",), ["stage2"]),
        (("stage2.distillation=both",), ["stage2"]),
        (("stage2.distillation=feature", "stage2.joint=false"), ["stage2", "distillation"]),
        (("stage2.distillation=score", "stage2.joint=false", "stage2.train_encoders=none"), ["stage2", "distillation"]),
    ],
)
def test_ways_to_distil(train, settings, stages):
    folder, _ = train("qabisar", "stage1.epochs=0", "stage2.epochs=1", *settings)
    assert list(dict.fromkeys(stage for stage, _ in epochs_of(folder))) == stages


def test_gdsr_leaves_the_text_encoders_as_stage_1_left_them(train):
    plain, _ = train("dsr", "stage1.epochs=1", "stage2.epochs=0")
    graph, _ = train("gdsr", "stage1.epochs=1", "stage2.epochs=2")
    weights = [load_file(folder / "article_encoder" / "model.safetensors") for folder in (plain, graph)]
    assert all(torch.equal(weights[0][name], weights[1][name]) for name in weights[0])
    assert np.abs(vectors_of(plain) - vectors_of(graph)).max() > 1e-3


# Nothing is drawn that processes draw apart: no dropout, all neighbours. Batches that two processes cannot halve.
SETTLED = ("encoder.token_dropout=0", "encoder.article_dropout=0", "gnn.dropout=0", "gnn.fanout=-1")
ODD = ("stage1.epochs=1", "stage1.batch_size=7", "stage2.batch_size=7", "stage2.epochs=2")
BOTH = ("stage2.train_encoders=both", "stage2.headings=1", "stage1.negatives=cusines", "stage1.headings=1")
AFTER = ("stage2.joint=false", "stage2.negatives=cusines", "graph.target_edges=keep")


@pytest.fixture(scope="module")
def together(tmp_path_factory, town_corpus, quick_settings, quick_transformer, run_processes):
    """Train some configurations in two processes; return their configurations, their folder and what they printed.

    They have a cache of their own, so that they do compute what one process has in its cache.
    """
    settled, tiny = (*quick_settings, *SETTLED, *ODD), f"encoder.backbone={quick_transformer}"
    small = (
        *("encoder.chunk_tokens=8", "encoder.max_tokens=24", "encoder.article_heads=2", "stage2.train_encoders=query"),
        # Else a line says what was chosen.
        *("encoder.pooling=cls", "encoder.query_prompt=", "encoder.passage_prompt="),
    )
    runs = {
        "both": ("qabisar", (*settled, *BOTH)),
        "resumed": ("qabisar", (*settled, *BOTH)),
        "after": ("qabisar", (*settled, *AFTER)),
        "head": ("qabisar", (*settled, *small, tiny, "encoder.train=head")),
        "layers": ("qabisar", (*settled, *small, tiny, "encoder.train=last-1", "stage1.negatives=none")),
    }
    folder = tmp_path_factory.mktemp("together")
    write_corpus(town_corpus, folder / "town")
    write_corpus(without_dev(town_corpus), folder / "undecided")
    listed = json.dumps([[name, corpus_of(name), system, settings] for name, (system, settings) in runs.items()])
    script = Path(__file__).with_name("several_processes.py")
    done = run_processes(2, script, folder, listed, env={"STATGRAPH_CACHE": str(folder / "cache")})
    assert [(each.returncode, each.stderr) for each in done] == [(0, ""), (0, "")]
    return runs, folder, [each.stdout for each in done]


@pytest.fixture(scope="module")
def alone(together, town_corpus, tmp_path_factory):
    """Return a function that trains one of those configurations in one process and returns its folder.

    They too have a cache of their own: in the tests' one other runs may have put the same texts into other shards.
    """
    runs, _, _ = together
    folder = tmp_path_factory.mktemp("alone")

    def trained(name):
        if not (folder / name).exists():
            corpus = town_corpus if corpus_of(name) == "town" else without_dev(town_corpus)
            with pytest.MonkeyPatch.context() as patch:
                patch.setenv("STATGRAPH_CACHE", str(folder / "cache"))
                train_run(corpus, resolve_config(*runs[name]), folder / name)
        return folder / name

    return trained


def corpus_of(name: str) -> str:
    """Return the corpus of a configuration. The tiny transformer hardly tells its texts apart, so that last bits would
    rank the articles and decide which epoch is best: there no dev question asks."""
    return "undecided" if name in ("head", "layers") else "town"


def without_dev(corpus):
    questions = tuple(question for question in corpus.questions if question.split != "dev")
    return dataclasses.replace(corpus, questions=questions)


def weights_of(folder) -> dict[str, torch.Tensor]:
    return {
        f"{path.relative_to(folder)} {name}": tensor.float()
        for path in sorted(folder.rglob("*.safetensors"))
        if path.name != "optimizer.safetensors"
        for name, tensor in load_file(path).items()
    }


def log_of(folder) -> list[dict]:
    return [json.loads(line) | {"seconds": 0} for line in (folder / "metrics.jsonl").read_text().splitlines()]


def near(value):
    """Return what a logged figure, or a list of them, is compared with."""
    return pytest.approx(value, rel=1e-4) if isinstance(value, float | list) else value


@pytest.mark.parametrize("name", ["both", "resumed", "after", "head", "layers"])
def test_two_processes_end_as_one_process(together, alone, name):
    _, folder, _ = together
    one, two = alone("both" if name == "resumed" else name), folder / name

    for expected, found in zip(log_of(one), log_of(two), strict=True):
        assert found["loss"] == near(expected["loss"])
    expected, found = weights_of(one), weights_of(two)
    atol = 1e-3 if name == "layers" else 2e-4  # Adam makes steps of the last bits, and padding differs by process
    assert expected.keys() == found.keys()
    for key, tensor in expected.items():
        torch.testing.assert_close(found[key], tensor, rtol=1e-3, atol=atol, msg=lambda text, key=key: f"{key}: {text}")
    if corpus_of(name) == "undecided":
        return
    losses = [record["loss"] for record in log_of(one) if record["stage"] == "stage2"]
    assert abs(losses[1] - losses[2]) > 1e-3  # what is compared has moved
    for expected, found in zip(log_of(one), log_of(two), strict=True):
        assert found == {key: near(value) for key, value in expected.items()}
    assert (two / parts.REPORT).read_text() == (one / parts.REPORT).read_text()


def test_one_process_writes_and_all_know_the_outcome(together):
    runs, folder, said = together
    assert said[0] == said[1]
    assert [line.split()[:2] for line in said[0].splitlines()] == [[name, "2"] for name in runs]
    for name in runs:
        assert not list((folder / name).rglob(".*"))  # what is half-written begins with a dot


def test_what_processes_embed_together_is_what_one_embeds(together, alone):
    _, folder, _ = together
    one_cache, cache = (place.parent / "cache" / "vectors" for place in (alone("head"), folder / "head"))
    vectors = list(cache.rglob("*.npz"))
    assert vectors
    for file in vectors:
        one = np.load(one_cache / file.relative_to(cache), allow_pickle=False)
        assert np.array_equal(np.load(file, allow_pickle=False)["vectors"], one["vectors"])


@pytest.mark.parametrize(
    ("settings", "about", "same"),
    [
        (("gnn.layers=4",), {}, True),
        (("stage2.epochs=1",), {}, True),
        (("seed=1",), {}, False),
        (("stage1.lr=0.1",), {}, False),
        (("encoder.max_tokens=64",), {}, False),
        (("negatives.buckets=4",), {}, False),
        ((), {"corpus": "c2"}, False),
        ((), {"device": "cuda"}, False),
    ],
)
def test_weights_are_taken_from_a_run_that_differs_in_what_they_do_not_depend_on(settings, about, same):
    def key(*settings, corpus="c1", device="cpu") -> str:
        config, corpus = with_settings(RunConfig(), settings), SimpleNamespace(content_hash=corpus)
        return stage1_key(SimpleNamespace(config=config, corpus=corpus, device=torch.device(device)))

    assert (key(*settings, **about) == key()) == same


# Of the recipes those that train; `dpr` is the backbone as it comes, the others are BM25's.
RECIPES = {
    "cusines-dsr": ["stage1"],
    "cusines-gdsr": ["stage1", "stage2"],
    "dpr": [],
    "dsr": ["stage1"],
    "dsr-adapted": ["stage1"],
    "dsr-augmented": ["stage1"],
    "dsr-flat": ["stage1"],
    "gdsr": ["stage1", "stage2"],
    "qabisar": ["stage1", "stage2"],
}


@pytest.mark.parametrize("system", RECIPES)
def test_a_step_of_each_paper_recipe(system, town_corpus, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    config = resolve_config(system, ("regime=paper", "device=cpu", "stage1.lr=0.001", "stage2.lr=0.001"))
    before = os.environ.get("STATGRAPH_CACHE")
    steps = rehearsed(town_corpus, config)
    assert [step.stage for step in steps] == RECIPES[system]
    assert all(step.second_loss != step.first_loss > 0 for step in steps)
    assert list(Path(tmp_path).iterdir()) == []
    assert os.environ.get("STATGRAPH_CACHE") == before


def test_a_step_of_the_authors_code(town_corpus):
    settings = ("regime=paper-code", "device=cpu", "stage1.lr=0.001", "stage2.lr=0.001")
    assert [step.stage for step in rehearsed(town_corpus, resolve_config("gdsr", settings))] == RECIPES["gdsr"]


def test_every_recipe_is_rehearsed():
    def has_recipe(system):
        try:
            return kind_of(resolve_config(system, ("regime=paper", "device=cpu"))).has_encoder
        except UsageError:
            return False

    assert {system for system in system_names() if has_recipe(system)} == set(RECIPES)


@pytest.mark.parametrize(
    ("system", "along", "dtype"), [("qabisar", "both", torch.float16), ("gdsr", "none", torch.bfloat16)]
)
def test_a_step_in_16_bits_and_slices_as_on_cuda(system, along, dtype, town_corpus, monkeypatch):
    for module in ("training.steps", "encoders.biencoder"):
        monkeypatch.setattr(f"statgraph.{module}.training_dtype", lambda device: dtype)
    monkeypatch.setattr("statgraph.graph.gnn.message_passing.runs_here", lambda nodes, block: False)
    settings = ("device=cpu", f"stage2.train_encoders={along}", "encoder.slice_tokens=32", "encoder.adapted=false")
    steps = rehearsed(town_corpus, resolve_config(system, ("regime=paper", *settings)))
    assert [step.stage for step in steps] == ["stage1", "stage2"]
