import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from statgraph.training import seeding
from statgraph.training.seeding import derived_seed, reproducible_sums, seed_everything

REPO = Path(__file__).parents[2]

# What the sampler gives for a seed, in a process of its own: threads are numbered by who comes first.
SAMPLED = """
import torch
from statgraph.graph.dgl_loader import load_dgl
from statgraph.graph.dgl_loader import single_threaded
from statgraph.training.seeding import seed_everything

torch.set_num_threads(2)
dgl = load_dgl()
rows = torch.arange(400)
graph = dgl.graph((rows.repeat(400), rows.repeat_interleave(400)))
seed_everything(5, with_graph=True)
with single_threaded():
    sampler = dgl.dataloading.NeighborSampler([3, 3])
    for _ in range(3):
        inputs, _, blocks = sampler.sample_blocks(graph, rows)
print(inputs.tolist(), blocks[0].edges()[0].tolist())
"""


def test_a_derived_seed_depends_on_every_part_and_is_the_same_in_every_process():
    parts = ((0, "stage1", 1), (0, "stage1", 2), (1, "stage1", 1), (0, "stage2", 1), (0, 1, "stage1"))
    assert len({derived_seed(*each) for each in (*parts, ("0", "stage1", 1))}) == 6
    assert all(0 <= derived_seed(*each) < 2**63 for each in parts)
    # sha256 of "(0, 'stage1', 1)": Python's own hash() would differ from run to run.
    assert derived_seed(0, "stage1", 1) == 427192861037684053


def test_vector_math_is_called_by_one_thread_before_anything_else(monkeypatch):
    # What it prevents shows in one process of sixty.
    called = []
    monkeypatch.setattr(seeding.torch.Tensor, "exp", lambda tensor: called.append(tensor.numel()))
    monkeypatch.setattr(seeding.torch, "manual_seed", lambda seed: called.append("seed"))
    seed_everything(1)
    assert called == [1, "seed"]


def test_a_seed_fixes_torch_and_numpy():
    draws = []
    for seed in (3, 3, 4):
        rng = seed_everything(seed)
        draws.append((*torch.rand(3).tolist(), *rng.random(3).tolist()))
    assert draws[0] == draws[1] != draws[2]
    assert isinstance(seed_everything(2**63 - 1), np.random.Generator)


def test_a_seed_fixes_the_sampler_in_every_process(capsys):
    threads = torch.get_num_threads()
    exec(SAMPLED, {})
    torch.set_num_threads(threads)
    other = subprocess.run([sys.executable, "-c", SAMPLED], cwd=REPO, capture_output=True, text=True, check=True)
    assert other.stdout == capsys.readouterr().out


def test_sums_on_a_cpu_have_one_order():
    generator = torch.Generator().manual_seed(0)
    table = torch.rand(500, generator=generator, requires_grad=True)
    rows = torch.randint(0, 500, (200_000,), generator=generator)
    factors = torch.randn(200_000, generator=generator)
    gradients = set()
    for _ in range(10):
        table.grad = None
        with reproducible_sums(torch.device("cpu")):
            (table[rows] * factors).sum().backward()
        gradients.add(table.grad.numpy().tobytes())
    assert len(gradients) == 1


@pytest.mark.parametrize(("device", "wanted"), [("cpu", True), ("cuda", False)])
def test_torch_is_left_as_it_was(device, wanted):
    with reproducible_sums(torch.device(device)):
        assert torch.are_deterministic_algorithms_enabled() is wanted
    assert not torch.are_deterministic_algorithms_enabled()
    assert torch.utils.deterministic.fill_uninitialized_memory
