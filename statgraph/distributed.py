"""The processes that train together (torchrun): each one's part of the work, and what they exchange."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, TypeVar

import numpy as np

if "WORLD_SIZE" in os.environ:
    # Before torch reads it: its store warns where a process leaves before another, beside the one line of an error.
    os.environ.setdefault("TORCH_CPP_LOG_LEVEL", "ERROR")

import torch
from torch import distributed, nn

from statgraph.errors import RunError, UsageError, option

# One process may pre-train a backbone for days while the others wait; torchrun ends the others when one dies.
_PATIENCE = timedelta(days=7)
_JOINING = timedelta(minutes=10)
_LAST_WORD_S = 2.0  # torchrun ends all processes once one has ended
_FAILED = "statgraph/failed"
_VARIABLES = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT")


Value = TypeVar("Value")


@dataclass(frozen=True)
class World:
    """A process's place among those that train together: world rank `rank` of `size`, `local_rank` on its machine.

    All processes must call the same methods in the same order. One process alone (`size` 1) talks to nobody: every
    method gives back what it was given.
    """

    rank: int = 0
    size: int = 1
    local_rank: int = 0
    store: distributed.Store | None = field(default=None, repr=False, compare=False)

    @property
    def is_first(self) -> bool:
        """Return whether this is the process that writes and speaks for all."""
        return self.rank == 0

    def device(self, device: torch.device) -> torch.device:
        """Return the device of a kind that is this process's own.

        Raises:
            UsageError: if this machine has more processes than CUDA devices.
        """
        if self.size == 1 or device.type != "cuda":
            return device
        if self.local_rank >= torch.cuda.device_count():
            raise UsageError(
                f"LOCAL_RANK {self.local_rank}: this machine has {torch.cuda.device_count()} CUDA device(s); start as "
                f"many processes with --nproc-per-node, or train with {option('device')} cpu"
            )
        torch.cuda.set_device(self.local_rank)
        return torch.device("cuda", self.local_rank)

    def part(self, count: int, rank: int | None = None) -> slice[int]:
        """Return which of `count` things are a process's (this one's), in runs that differ by one in length at most."""
        rank = self.rank if rank is None else rank
        return slice(count * rank // self.size, count * (rank + 1) // self.size)

    def share(self, rows: np.ndarray) -> np.ndarray:
        """Return this process's part of the rows; the first row where the part is empty, so that every model runs and
        all gradients are of the same parameters. `gathered` drops what that row gave."""
        part = rows[self.part(len(rows))]
        return part if len(part) else rows[:1]

    def gathered(self, vectors: torch.Tensor, count: int) -> torch.Tensor:
        """Return the vectors of all `count` rows, (count, width), from those of each process's `share` of them.

        Gradients flow back to the process that a row came from, from every process that used it, added up.
        """
        if self.size == 1:
            return vectors
        gathered: torch.Tensor = _Gathered.apply(vectors[: _length(self.part(count))], self, count)
        return gathered

    def all_rows(self, rows: np.ndarray, counts: Sequence[int]) -> np.ndarray:
        """Return the rows of all processes in order of rank: the first `counts[r]` of those that rank r has."""
        if self.size == 1:
            return rows
        own = torch.from_numpy(np.ascontiguousarray(rows[: counts[self.rank]]))
        together: np.ndarray = _all_rows(own, counts).numpy()
        return together

    def data_parallel(
        self, loss: Callable[[object], torch.Tensor], parameters: Sequence[nn.Parameter]
    ) -> Callable[[object], torch.Tensor]:
        """Return the loss as a function whose gradients are the mean over the processes (DistributedDataParallel).

        Where every process has the same loss, made of `gathered` vectors, that mean is the gradient of one process.
        What is returned keeps the process group and its threads alive: let go of it before `launched` ends.
        """
        if self.size == 1:
            return loss
        # A relation without an edge in a process's block leaves parameters without a gradient there.
        parallel: Callable[[object], torch.Tensor] = nn.parallel.DistributedDataParallel(
            _Loss(loss, parameters), find_unused_parameters=True
        )
        return parallel

    def json_from_first(self, make: Callable[[], Value]) -> Value:
        """Return on every process the JSON value that `make` returns on the first; only that one calls it."""
        if self.size == 1:
            return make()
        value: Value = json.loads(_bytes_from_first(json.dumps(make()).encode() if self.is_first else b""))
        return value

    def tensors_from_first(self, make: Callable[[], Mapping[str, torch.Tensor]]) -> Mapping[str, torch.Tensor]:
        """Return on every process the tensors (on the CPU) that `make` returns on the first; only that one calls it."""
        if self.size == 1:
            return make()
        from safetensors.torch import load, save

        return load(_bytes_from_first(save(dict(make())) if self.is_first else b""))

    def array_from_first(self, make: Callable[[], np.ndarray]) -> np.ndarray:
        """Return on every process the array that `make` returns on the first; only that one calls it."""
        if self.size == 1:
            return make()
        tensors = self.tensors_from_first(lambda: {"array": torch.from_numpy(np.ascontiguousarray(make()))})
        array: np.ndarray = tensors["array"].numpy()
        return array

    @contextmanager
    def first_goes_first(self) -> Iterator[None]:
        """Run the block on the first process, and then on the others, which find what it has left on disk."""
        if not self.is_first:
            self.barrier()
        yield
        if self.is_first:
            self.barrier()

    def barrier(self) -> None:
        """Wait for all processes."""
        if self.size > 1:
            distributed.all_reduce(torch.zeros(1))


SINGLE = World()
_current = SINGLE


def current_world() -> World:
    """Return this process's place among those that train together: that of the innermost `in_world`, else `SINGLE`."""
    return _current


@contextmanager
def in_world(world: World) -> Iterator[World]:
    """Make a place the current one while the block runs, on every thread."""
    global _current
    before, _current = _current, world
    try:
        yield world
    finally:
        _current = before


def is_elastic() -> bool:
    """Return whether torchrun starts processes again that have ended or been joined by others (`--max-restarts`)."""
    return os.environ.get("TORCHELASTIC_MAX_RESTARTS", "0") not in ("", "0")


@contextmanager
def launched(report: Callable[[BaseException], int]) -> Iterator[World]:
    """Yield this process's place among those that torchrun started, `SINGLE` where it did not.

    An error on any process ends them all: the one that failed first hands it to `report`, which prints it and returns
    the exit code; the others, left with a broken connection or the same error, end silently with code 1.

    Raises:
        UsageError: if the environment does not say where the others are.
    """
    if os.environ.get("WORLD_SIZE", "1") == "1":
        yield SINGLE
        return
    world = _place()
    try:
        _join(world)
        with in_world(world):
            yield world
        world.barrier()
    except BaseException as error:
        sys.stdout.flush()
        # os._exit, for the threads of a broken process group can keep a process from its ordinary end.
        os._exit(_ended(world, error, report))
    distributed.destroy_process_group()


def _place() -> World:
    """Return this process's place among those that torchrun started, with the store that they share."""
    from torch.distributed.rendezvous import rendezvous

    values = {name: os.environ.get(name, "") for name in _VARIABLES}
    wrong = [name for name, value in values.items() if not (value if name == "MASTER_ADDR" else value.isdecimal())]
    if wrong or int(values["RANK"]) >= int(values["WORLD_SIZE"]):
        name = wrong[0] if wrong else "RANK"
        raise UsageError(
            f"environment variable {name}: '{values[name]}' with WORLD_SIZE '{values['WORLD_SIZE']}' says nothing of "
            "this process's place; start it with torchrun, or unset WORLD_SIZE"
        )
    store, rank, size = next(iter(rendezvous("env://", timeout=_JOINING)))
    return World(rank, size, int(values["LOCAL_RANK"]), store)


def _join(world: World) -> None:
    """Connect to the other processes; one that is through first may fail before the others are."""
    # Its functions name the group of that moment as their default: imported later, by DistributedDataParallel, it would
    # keep the group and its threads past `destroy_process_group`, to abort an interpreter that is ending.
    import torch.distributed.nn.functional

    backend = "cpu:gloo,cuda:nccl" if torch.cuda.is_available() else "gloo"
    store = distributed.PrefixStore("statgraph", world.store)
    distributed.init_process_group(backend, timeout=_PATIENCE, store=store, rank=world.rank, world_size=world.size)


def _ended(world: World, error: BaseException, report: Callable[[BaseException], int]) -> int:
    """Return the exit code after an error; the first process to fail reports it, the others leave it time to."""
    with suppress(RuntimeError):  # the store has gone with the process that kept it, which has reported
        if world.store is not None and world.store.add(_FAILED, 1) == 1:
            return report(_explained(error))
        time.sleep(_LAST_WORD_S)
    return 1


def _explained(error: BaseException) -> BaseException:
    """Return the error to report: a broken connection before any process has failed means that one was killed."""
    if isinstance(error, distributed.DistError) or (isinstance(error, RuntimeError) and "gloo" in str(error)):
        return RunError(
            "a training process died, possibly out of memory; free memory or start fewer processes, then "
            f"run the same command with {option('resume')}"
        )
    return error


class _Loss(nn.Module):  # type: ignore[misc]  # torch has no types here
    """A loss as a module of the parameters that it trains, and of nothing else that the stage holds."""

    def __init__(self, loss: Callable[[object], torch.Tensor], parameters: Sequence[nn.Parameter]):
        super().__init__()
        self._loss = loss
        self.trained = nn.ParameterList(parameters)
        # DDP warns of time lost where it looks for parameters without a gradient and there are none: here is one.
        self.unused = nn.Parameter(parameters[0].detach().new_zeros(1))

    def forward(self, batch: object) -> torch.Tensor:
        return self._loss(batch)


class _Gathered(torch.autograd.Function):  # type: ignore[misc]
    @staticmethod
    def forward(ctx: Any, own: torch.Tensor, world: World, count: int) -> torch.Tensor:
        ctx.world, ctx.count = world, count
        return _all_rows(own, [_length(world.part(count, rank)) for rank in range(world.size)])

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor, None, None]:
        summed = gradient.clone(memory_format=torch.contiguous_format)
        distributed.all_reduce(summed)
        return summed[ctx.world.part(ctx.count)], None, None


def _length(part: slice[int]) -> int:
    return part.stop - part.start


def _all_rows(own: torch.Tensor, counts: Sequence[int]) -> torch.Tensor:
    padded = own.new_zeros((max(counts), *own.shape[1:]))  # what is gathered has one shape on every process
    padded[: len(own)] = own
    parts = [torch.empty_like(padded) for _ in counts]
    distributed.all_gather(parts, padded)
    return torch.cat([part[:count] for part, count in zip(parts, counts, strict=True)])


def _bytes_from_first(raw: bytes) -> bytes:
    length = torch.tensor([len(raw)])
    distributed.broadcast(length, src=0)
    data = torch.zeros(int(length), dtype=torch.uint8)
    if raw:
        data = torch.frombuffer(bytearray(raw), dtype=torch.uint8)
    distributed.broadcast(data, src=0)
    received: bytes = data.numpy().tobytes()
    return received
