import re
from dataclasses import fields, is_dataclass

import pytest
import torch

from statgraph.config import (
    GnnConfig,
    IndexConfig,
    RunConfig,
    Stage1Config,
)
from statgraph.encoders.similarity import SIMILARITIES
from statgraph.errors import UsageError
from statgraph.graph.gnn.encoder import GraphEncoder
from statgraph.graph.relations import RELATION_GROUPS
from statgraph.service.config import ServiceConfig
from statgraph.settings import check_settings, limits_of, with_settings
from statgraph.training.losses import DISTILLATIONS, ranking_loss
from statgraph.training.negatives.cusines import SCHEDULES


def test_the_defaults_are_within_their_limits():
    RunConfig().check()
    check_settings(IndexConfig())


@pytest.mark.parametrize(
    "setting",
    [
        "gnn.fanout=-1", "gnn.first_gate=-2", "stage1.warmup=1", "stage1.epochs=0", "graph.relations=none",
        "bm25.b=0", "stage1.gold=0,stage1.headings=2", "stage1.gold=0,stage1.epochs=0", "augment.round_trip=3",
        "encoder.train=last-12", "pretrain.mask_share=1", "negatives.buckets=127", "gnn.dropout=0",
    ],
)  # fmt: skip
def test_the_ends_are_allowed(setting):
    with_settings(RunConfig(), setting.split(",")).check()


@pytest.mark.parametrize(
    ("setting", "problem"),
    [
        ("stage1.batch_size=0", "at least 1 "),
        ("seed=-1", "at least 0 "),
        ("stage2.temperature=0", "greater than 0 "),
        ("gnn.dropout=1", "[0, 1) "),
        ("gnn.fanout=0", "at least 1, or -1 "),
        ("bm25.b=2", "[0, 1] "),
        ("pretrain.mask_share=0", "(0, 1] "),
        ("retriever=tfidf", "dense, bm25, ensemble, student "),
        ("graph.relations=tree,cites", "none or some of tree, tree-down, bipartite, order, citations, citing "),
        ("negatives.rankings=none", "at least one of semantic, hierarchical, sequential "),
        ("negatives.rankings=semantic,semantic", "'semantic' twice"),
        ("stage1.negatives=random", "none, bm25, cusines "),
        ("encoder.train=last-0", "last-N "),
        ("augment.generator=t5", "headings or seq2seq:MODEL "),
    ],
)
def test_the_words_of_a_refusal(setting, problem):
    with pytest.raises(UsageError, match=f"^{setting.partition('=')[0]}: must .*{re.escape(problem)}"):
        with_settings(RunConfig(), [setting]).check()


@pytest.mark.parametrize(
    ("settings", "what"),
    [
        (["stage1.gold=0", "stage1.headings=0"], "stage1.gold, stage1.headings and stage1.synthetic: "),
        (["stage2.gold=0", "stage2.headings=1"], "stage2.gold: "),
        (["gnn.expansion=2"], "gnn.expansion: must be 1"),
        (["stage1.synthetic=1", "augment.round_trip=3"], r"augment\.round_trip: "),
        (["stage2.synthetic=1", "augment.round_trip=3", "augment.file=q.csv"], r"augment\.round_trip: "),
        (["stage2.synthetic=1"], r"stage2\.synthetic: .*headings"),
        (["retriever=bm25", "bm25.expansion=1", "augment.round_trip=3"], r"augment\.round_trip: "),
    ],
)
def test_settings_that_do_not_go_together_are_refused(settings, what):
    with pytest.raises(UsageError, match=what):
        with_settings(RunConfig(), settings).check()


def leaves(config, group=""):
    for item in fields(config):
        value = getattr(config, item.name)
        if is_dataclass(value):
            yield from leaves(value, f"{group}{item.name}.")
        else:
            yield type(config), item.name, f"{group}{item.name}", value


@pytest.mark.parametrize("config", [RunConfig(), IndexConfig()])
def test_every_number_and_choice_states_its_limits(config):
    free = {
        "system", "encoder.backbone", "encoder.query_prompt", "encoder.passage_prompt",
        "augment.file", "gnn.first_gate", "ensemble.settings", "ranker.reader",
    }  # fmt: skip
    unlimited = {
        name for kind, field, name, value in leaves(config)
        if not isinstance(value, bool) and limits_of(kind, field) == limits_of(GnnConfig, "first_gate")
    }  # fmt: skip
    assert unlimited <= free


@pytest.mark.parametrize(("name", "value"), [("timeout_s", 0.0), ("most_waiting", 0), ("max_body", 0)])
def test_a_service_is_refused_what_it_cannot_run_with(name, value):
    with pytest.raises(UsageError, match=rf"^service\.{name}: "):
        ServiceConfig(**{name: value})


@pytest.mark.parametrize(
    ("make", "setting"),
    [
        (lambda town: GraphEncoder(GnnConfig(heads=0), width=6, n_edge_types=2), "gnn.heads"),
        (lambda town: GraphEncoder(GnnConfig(heads=4), width=6, n_edge_types=2), "4"),
    ],
)
def test_constructors_refuse_what_the_limits_do(town_corpus, make, setting):
    with pytest.raises(UsageError, match=setting):
        make(town_corpus)


def test_the_choices_are_what_the_code_has():
    choices = {name: limits_of(kind, field).choices for kind, field, name, _ in leaves(RunConfig())}
    assert set(choices["encoder.similarity"]) == set(SIMILARITIES)
    assert set(choices["negatives.schedule"]) == set(SCHEDULES)
    assert set(choices["stage2.distillation"]) == set(DISTILLATIONS)
    assert set(choices["graph.relations"]) == set(RELATION_GROUPS)
    scores = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    about = (scores, torch.tensor([0, 1]), torch.zeros(2, 2, dtype=torch.bool))
    for name in choices["stage1.loss"]:
        assert torch.isfinite(ranking_loss(Stage1Config(loss=name), *about))
