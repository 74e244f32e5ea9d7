"""statgraph on a device that only labels memory: nothing is mixed up, and the host seldom waits."""

from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from statgraph.config import GnnConfig, IndexConfig
from statgraph.encoders.article_encoder import load_article_encoder
from statgraph.encoders.chunking import ChunkTokens
from statgraph.graph.blocks import Block
from statgraph.graph.gnn.encoder import GraphEncoder
from statgraph.law.allowed_rows import AllowedRows
from statgraph.registry import LAYERS
from statgraph.retrieval.index.article_index import ArticleIndex
from statgraph.retrieval.search.retriever import Retriever
from statgraph.systems.dense import rehearsed
from statgraph.systems.pipeline import train_run
from statgraph.systems.presets import resolve_config
from statgraph.training.steps import OptimizerSteps
from tests.labelled_device import CPU, CUDA, labelled_device

MIB = 2**20


@pytest.fixture
def device(monkeypatch):
    """Yield a labelled device, the only one that torch sees."""
    memory = SimpleNamespace(total_memory=24 * 1024 * MIB)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda including_emulation=True: True)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda device: memory)
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device=None: (20 * 1024 * MIB, 24 * 1024 * MIB))
    monkeypatch.setattr("statgraph.retrieval.index.flat_index.surely_cpu", lambda name: name == "cpu")
    with labelled_device() as device:
        yield device


@pytest.fixture
def steps(device, monkeypatch):
    """Return a list that gets, of each step of an optimiser, how often the host waited, by what for and where, and how
    often memory was copied to the device without waiting."""
    counts, take = [], OptimizerSteps.take

    def counted(self, loss_of):
        waits, copies = device.waits.copy(), device.copies.total()
        loss = take(self, loss_of)
        counts.append((device.waits - waits, device.copies.total() - copies))
        return loss

    monkeypatch.setattr(OptimizerSteps, "take", counted)
    return counts


def check_seldom_waits(steps, *, transformer_calls, copies):
    """Check that each step waits for its loss alone, and each call of a transformer, which asks whether texts are
    padded; and how many copies it makes at most."""
    own = Counter({"_local_scalar_dense in training/steps.py": 1})
    callers = ("encoders/transformer_biencoder.py", "training/masking.py")
    of_transformers = Counter({f"_local_scalar_dense in {caller}": transformer_calls for caller in callers})
    for waits, n_copies in steps:
        assert waits - of_transformers == own
        assert n_copies <= copies


@pytest.mark.parametrize(
    ("settings", "transformer_calls", "copies"),
    [
        (("regime=paper",), 2, 16),
        # Each slice is two copies, and goes through a transformer twice.
        (("regime=paper", "stage2.train_encoders=both", "encoder.slice_tokens=32"), 12, 34),
        (("encoder.train=full", "graph.relations=tree"), 2, 16),
        (("encoder.train=head", "stage1.negatives=bm25", "stage1.negatives_per_pair=2"), 0, 28),
    ],
    ids=["paper", "slices", "full", "head"],
)
def test_both_stages_of_transformers(settings, transformer_calls, copies, device, steps, town_corpus):
    config = resolve_config("qabisar", ("device=cuda", "encoder.adapted=false", *settings))
    assert [step.stage for step in rehearsed(town_corpus, config)] == ["stage1", "stage2"]
    assert len(steps) == 4
    check_seldom_waits(steps, transformer_calls=transformer_calls, copies=copies)


def test_an_adapted_transformer(device, steps, town_corpus):
    rehearsed(town_corpus, resolve_config("dsr-adapted", ("device=cuda", "regime=paper")))
    assert len(steps) == 3  # one of the adaptation
    check_seldom_waits(steps, transformer_calls=2, copies=8)


def test_a_device_that_only_emulates_bfloat16(device, steps, town_corpus, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda including_emulation=True: including_emulation)
    rehearsed(town_corpus, resolve_config("qabisar", ("device=cuda", "regime=paper", "encoder.adapted=false")))
    assert all(waits.total() <= 5 for waits, _ in steps)  # the scale of the loss is looked at too


def test_a_static_run_trained_searched_and_its_encoders(device, steps, town_corpus, quick_settings, tmp_path):
    settings = (*quick_settings, "device=cuda", "stage1.epochs=1", "stage2.epochs=1")
    run = train_run(town_corpus, resolve_config("qabisar", settings), tmp_path / "run")
    assert len(steps) > 2
    check_seldom_waits(steps, transformer_calls=0, copies=28)
    question = town_corpus.questions[0].text
    one, other = (Retriever.of(run, device=name).search(question, k=3) for name in ("cuda", "cpu"))
    assert [hit.article_id for hit in one] == [hit.article_id for hit in other]
    texts = ["Dogs are taxed.", "Wells"]
    on_cuda, on_cpu = (load_article_encoder(run.folder, run.config.encoder, at).encode(texts) for at in (CUDA, CPU))
    assert on_cuda == pytest.approx(on_cpu)


@pytest.mark.parametrize("name", LAYERS.built_in)
def test_a_layer_gives_what_it_gives_on_a_cpu_without_a_wait(name, device):
    torch.manual_seed(3)
    encoder = GraphEncoder(GnnConfig(layer=name, layers=2, heads=2), width=8, n_edge_types=3)
    edges = torch.tensor([[0, 2, 2, 1], [1, 0, 1, 2], [0, 1, 2, 0]])
    block = Block(*edges, own_inputs=torch.arange(3), n_inputs=3)
    nodes = torch.randn(3, 8)
    on_cpu = encoder.eval()(nodes, [block, block])
    on_cpu.square().sum().backward()
    expected = {key: parameter.grad.clone() for key, parameter in encoder.named_parameters()}
    encoder.zero_grad()
    there, placed = nodes.to(CUDA), block.to(CUDA)
    encoder.to(CUDA)
    device.waits.clear()
    out = encoder(there, [placed, placed])
    out.square().sum().backward()
    assert not device.waits
    assert out.device == CUDA
    torch.testing.assert_close(out.cpu(), on_cpu.detach())
    for key, parameter in encoder.named_parameters():
        torch.testing.assert_close(parameter.grad.cpu(), expected[key], atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("share", [None, 0.3])
def test_the_index_without_faiss_for_gpus(share, device, unit_vectors):
    vectors, queries = unit_vectors(300, 8, seed=5), unit_vectors(3, 8, seed=6)
    allowed = share and AllowedRows.of_mask(np.random.default_rng(3).random(300) < share)
    indexes = [
        ArticleIndex.build(vectors, [str(row) for row in range(300)], device=name, config=IndexConfig("flat"))
        for name in ("cuda", "cpu")
    ]
    on_cuda, on_cpu = (index.search(queries, 20, allowed) for index in indexes)
    assert [one.rows.tolist() for one in on_cuda] == [other.rows.tolist() for other in on_cpu]
    assert device.waits["copy from the device in retrieval/index/flat_index.py"] == 1


@pytest.mark.parametrize(
    ("part", "left_behind"),
    [
        (Block, "to"),
        (ChunkTokens, "padded"),
    ],
)
def test_what_training_leaves_on_the_cpu_is_found(part, left_behind, device, town_corpus, monkeypatch):
    def forgotten(self, *_):
        if part is Block:
            return self
        return torch.tensor([[1, 2]]), torch.tensor([[1, 1]])

    monkeypatch.setattr(part, left_behind, forgotten)
    with pytest.raises(RuntimeError, match="same device"):
        rehearsed(town_corpus, resolve_config("qabisar", ("regime=paper", "device=cuda", "encoder.adapted=false")))


@pytest.mark.parametrize(
    ("mixed", "error"),
    [
        (lambda there, here: there + here, "same device"),
        (lambda there, here: torch.cat([there, here]), "same device"),
        (lambda there, here: here[there.long()], "same device"),
        (lambda there, here: torch.nn.functional.linear(there, here.to(there.device), here[0]), "same device"),
        (lambda there, here: there.add_(torch.from_numpy(here.numpy())), "same device"),
        (lambda there, here: (there * here.to(there)) @ torch.arange(2.0), "same device"),
        (lambda there, here: there.detach().view(4).numpy(), "numpy"),
        (lambda there, here: np.asarray(there), "numpy"),
    ],
)
def test_mixtures_are_found(mixed, error, device):
    there, here = torch.ones(2, 2, device="cuda"), torch.ones(2, 2)
    assert there.device == there[0].view(2, 1).device == torch.nn.Parameter(there).device == CUDA
    assert here.device == CPU
    with pytest.raises((RuntimeError, TypeError), match=error):
        mixed(there, here)


def test_what_is_no_mixture(device):
    there, here = torch.ones(2, 2, device="cuda"), torch.ones(2, 2)
    weight = torch.nn.Parameter(here.to("cuda"))
    (there * weight * torch.tensor(2.0) + here.cuda()[torch.tensor([0, 1])]).sum().backward()
    assert (weight.grad.device, weight.grad.cpu().tolist()) == (CUDA, [[2, 2], [2, 2]])
    assert here.copy_(there).device == CPU


@pytest.mark.parametrize(
    ("ask", "waits"),
    [
        (lambda there: there + 1, 0),
        (lambda there: there.sum().item(), 1),
        (lambda there: bool(there.any()), 1),
        (lambda there: torch.equal(there, there), 1),
        (lambda there: there[there > 1], 1),
        (lambda there: there.tolist(), 1),
        (lambda there: there.cpu(), 1),
        (lambda there: torch.ones(2).to(there.device, non_blocking=True), 1),
        (lambda there: torch.ones(2).pin_memory().to(there.device), 1),
        (lambda there: torch.ones(2).pin_memory().to(there.device, non_blocking=True), 0),
        (lambda there: there[torch.tensor([1])], 1),
    ],
)
def test_waits_are_counted(ask, waits, device):
    there = torch.arange(3.0, device="cuda")
    device.waits.clear()
    ask(there)
    assert device.waits.total() == waits
