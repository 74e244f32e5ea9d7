import json

import numpy as np
import pytest
import torch
from torch import nn

from statgraph.cli.failures import report
from statgraph.distributed import SINGLE, World, launched
from statgraph.errors import UsageError

# What every process does in one spawn; each writes what it found to RANK.json.
TALK = """
import json, sys
from pathlib import Path
import numpy as np, torch
from torch import nn
from statgraph.distributed import current_world, launched

folder = Path(sys.argv[1])
with launched(lambda error: 1) as world:
    assert current_world() is world
    found = {"place": [world.rank, world.size, world.local_rank]}
    found["json"] = world.json_from_first(lambda: {"of": world.rank, "text": "art. 3 \u00a7 é", "none": None})
    first = {"half": torch.tensor([[1.5, -2.0]], dtype=torch.float16), "empty": torch.empty(0, 3)}
    tensors = world.tensors_from_first(lambda: first | {"rank": torch.tensor(world.rank)})
    found["tensors"] = {name: [str(tensor.dtype), tensor.tolist()] for name, tensor in tensors.items()}
    found["array"] = world.array_from_first(lambda: np.array([[world.rank, 7]], dtype=np.float16)).tolist()
    counts = [2, 0, 1]
    own = np.full((max(1, counts[world.rank]), 2), world.rank, dtype=np.float16)
    found["rows"] = world.all_rows(own, counts).tolist()
    with world.first_goes_first():
        found["seen"] = (folder / "left").exists()
        (folder / "left").touch()
    linear, unused = nn.Linear(2, 2), nn.Parameter(torch.ones(1))
    with torch.no_grad():
        linear.weight.copy_(torch.tensor([[1.0, 2.0], [3.0, 4.0]]) if world.is_first else torch.zeros(2, 2))
        linear.bias.fill_(0.5 * world.is_first)

    def loss(rows):
        vectors = world.gathered(linear(rows[torch.from_numpy(world.share(np.arange(len(rows))))]), len(rows))
        # a second way back to the rank of a row, another one on each process, as through the graph
        return (vectors @ vectors.T).logsumexp(dim=1).sum() + (3 * vectors[0, 0] if world.rank == 2 else 0)

    loss_of = world.data_parallel(loss, [*linear.parameters(), unused])
    for name, n_rows in (("five", 5), ("two", 2)):
        linear.zero_grad()
        value = loss_of(torch.arange(2.0 * n_rows).reshape(n_rows, 2) / 10)
        value.backward()
        found[name] = [float(value.detach()), linear.weight.grad.tolist(), linear.bias.grad.tolist(), unused.grad]
    del loss_of

found["threads"] = [(task / "comm").read_text().strip() for task in Path("/proc/self/task").iterdir()]
(folder / f"{world.rank}.json").write_text(json.dumps(found))
"""
FAIL = """
import os, sys
from statgraph.cli.failures import report
from statgraph.distributed import launched
from statgraph.errors import UsageError
from torch import distributed  # after ours, which sets what its store writes

# The process whose joining breaks off: while the other, which keeps the store, fails, or as the other is killed.
if (sys.argv[1], os.environ["RANK"]) in {("early", "1"), ("killed early", "0")}:
    join = distributed.init_process_group

    def join_in_part(*args, store, **kwargs):
        join(*args, store=store, **kwargs)
        try:
            while sys.argv[1] == "early":  # until the other one has ended
                store.add("asked", 1)
            store.wait(["joined"])
        except RuntimeError:
            pass
        raise distributed.DistNetworkError("Connection reset by peer")

    distributed.init_process_group = join_in_part
with launched(report) as world:
    if sys.argv[1].startswith("killed") and world.rank == 1:
        distributed.PrefixStore("statgraph", world.store).set("joined", "")
        os._exit(9)
    if sys.argv[1] in ("all", "early") or world.rank == 1:
        raise UsageError("graph.layers: 0 is no depth; give 1 or more")
    world.barrier()
"""


@pytest.fixture(scope="module")
def talk(run_processes, tmp_path_factory):
    """Return what each of three processes found."""
    folder = tmp_path_factory.mktemp("world")
    done = run_processes(3, "-c", TALK, folder)
    assert [(each.returncode, each.stderr) for each in done] == [(0, "")] * 3
    return [json.loads((folder / f"{rank}.json").read_text()) for rank in range(3)]


def test_parts_by_hand():
    assert [World(rank, 3).part(7) for rank in range(3)] == [slice(0, 2), slice(2, 4), slice(4, 7)]
    assert [World(0, 3).part(2, rank) for rank in range(3)] == [slice(0, 0), slice(0, 1), slice(1, 2)]
    assert SINGLE.part(7) == slice(0, 7)


def test_a_rank_without_a_row_takes_the_first():
    rows = np.array([4, 9])
    assert [World(rank, 3).share(rows).tolist() for rank in range(3)] == [[4], [4], [9]]
    assert World(0, 3).share(rows[:0]).tolist() == []
    assert SINGLE.share(rows).tolist() == [4, 9]


def test_one_process_gets_back_what_it_gave():
    vectors, rows, tensors = torch.ones(2, 3), np.ones((2, 3)), {"x": torch.ones(1)}
    assert SINGLE.gathered(vectors, 2) is vectors
    assert SINGLE.all_rows(rows, [2]) is rows
    assert SINGLE.array_from_first(lambda: rows) is rows
    assert SINGLE.tensors_from_first(lambda: tensors) is tensors
    assert SINGLE.json_from_first(lambda: (1, 2)) == (1, 2)
    assert SINGLE.data_parallel(max, [nn.Parameter(vectors)]) is max
    with SINGLE.first_goes_first():
        SINGLE.barrier()
    assert SINGLE.device(torch.device("cuda")) == torch.device("cuda")


@pytest.mark.parametrize("environment", [{}, {"WORLD_SIZE": "1", "RANK": "0"}])
def test_without_torchrun_there_is_one_process(monkeypatch, environment):
    monkeypatch.delenv("WORLD_SIZE", raising=False)
    for variable, given in environment.items():
        monkeypatch.setenv(variable, given)
    with launched(report) as world:
        assert world is SINGLE
        assert not torch.distributed.is_initialized()


@pytest.mark.parametrize(("name", "value"), [("RANK", ""), ("RANK", "2"), ("LOCAL_RANK", "-1"), ("MASTER_ADDR", "")])
def test_an_environment_that_says_nothing(monkeypatch, name, value):
    whole = {"WORLD_SIZE": "2", "RANK": "0", "LOCAL_RANK": "0", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "1"}
    for variable, given in (whole | {name: value}).items():
        monkeypatch.setenv(variable, given)
    with pytest.raises(UsageError, match=f"^environment variable {name}: '{value}' .*torchrun"), launched(report):
        pass


def test_more_ranks_than_cuda_devices(monkeypatch):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    with pytest.raises(UsageError, match=r"LOCAL_RANK 1: this machine has 1 CUDA device\(s\); start as many"):
        World(1, 2, 1).device(torch.device("cuda"))
    assert World(1, 2, 1).device(torch.device("cpu")) == torch.device("cpu")


def test_what_processes_tell_each_other(talk):
    for rank, found in enumerate(talk):
        assert found["place"] == [rank, 3, rank]
        assert found["json"] == {"of": 0, "text": "art. 3 \u00a7 é", "none": None}
        assert found["tensors"] == {
            "half": ["torch.float16", [[1.5, -2.0]]], "empty": ["torch.float32", []], "rank": ["torch.int64", 0],
        }  # fmt: skip
        assert found["array"] == [[0, 7]]
        assert found["rows"] == [[0, 0], [0, 0], [2, 2]]
        assert found["seen"] == (rank > 0)  # the first went first
        # A thread that outlives the group may ask for the interpreter while it ends, which can abort the process.
        assert "python" in found["threads"]
        assert [name for name in found["threads"] if "gloo" in name] == []


@pytest.mark.parametrize(("name", "n_rows"), [("five", 5), ("two", 2)])
def test_loss_and_gradients_are_those_of_one_process(talk, name, n_rows):
    linear = nn.Linear(2, 2)
    with torch.no_grad():
        linear.weight.copy_(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
        linear.bias.fill_(0.5)
    vectors = linear(torch.arange(2.0 * n_rows).reshape(n_rows, 2) / 10)
    loss = (vectors @ vectors.T).logsumexp(dim=1).sum()
    (loss + vectors[0, 0]).backward()  # the mean over three processes, one of which adds three times as much

    for rank, (value, weight, bias, unused) in enumerate(found[name] for found in talk):
        assert value == pytest.approx((loss + 3 * vectors[0, 0] * (rank == 2)).item(), rel=1e-6)
        np.testing.assert_allclose(weight, linear.weight.grad.numpy(), rtol=1e-5)
        np.testing.assert_allclose(bias, linear.bias.grad.numpy(), rtol=1e-5)
        assert unused is None


@pytest.mark.parametrize("who", ["all", "one", "early"])
def test_an_error_ends_all_with_one_line(run_processes, who):
    done = run_processes(2, "-c", FAIL, who)
    assert sorted(each.stderr for each in done) == ["", "Error: graph.layers: 0 is no depth; give 1 or more\n"]
    assert max(each.returncode for each in done) == 2
    assert [each.stdout for each in done] == [""] * 2


@pytest.mark.parametrize("who", ["killed", "killed early"])
def test_a_killed_process_ends_all(run_processes, who):
    first, second = run_processes(2, "-c", FAIL, who)
    assert (second.returncode, second.stderr) == (9, "")
    assert (first.returncode, first.stdout) == (1, "")
    assert first.stderr == (
        "Error: a training process died, possibly out of memory; free memory or start fewer processes, then "
        "run the same command with --resume\n"
    )
