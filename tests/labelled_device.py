"""A GPU without one: torch computes on the CPU and labels memory with the device where it would be."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

import torch
from torch import Tensor
from torch.multiprocessing.reductions import StorageWeakRef
from torch.nn.utils import clip_grad
from torch.overrides import TorchFunctionMode
from torch.utils import checkpoint
from torch.utils._python_dispatch import TorchDispatchMode

CPU, CUDA = torch.device("cpu"), torch.device("cuda", 0)
_SOURCE = str(Path(__file__).parents[1] / "statgraph") + "/"
_aten = torch.ops.aten
# What CUDA's kernels hand to the host, which waits for it: a value, or the size of what they return.
_WAITED_FOR = {
    *(_aten._local_scalar_dense, _aten.equal, _aten.nonzero, _aten.masked_select, _aten.bincount),
    *(_aten._unique2, _aten.unique_dim, _aten.unique_consecutive, _aten.repeat_interleave),
}
_INDEXING = {_aten.index, _aten.index_put, _aten.index_put_, _aten._index_put_impl_}  # take rows from the host too


class LabelledDevice(TorchFunctionMode):
    """What torch is asked to do on `cuda` while `labelled_device` runs.

    Memory that torch makes gets the label of what it was made from, so that views, parameters and gradients have one
    too. Memory of NumPy's and of other threads is the CPU's. In place of torch's own errors a RuntimeError says where a
    calculation mixes devices, and a TypeError where NumPy is given memory of the device.

    Attributes:
        waits: how often the host waited for the device, by what it waited for and which file of statgraph did.
        copies: how often memory was copied to the device without waiting, by file.
    """

    def __init__(self) -> None:
        super().__init__()
        self.waits: Counter[str] = Counter()
        self.copies: Counter[str] = Counter()
        self.wanted: torch.device | None = None
        # By the address of the memory, which a reference to it keeps from being used again.
        self._labels: dict[int, tuple[StorageWeakRef, torch.device]] = {}
        self._pinned: dict[int, StorageWeakRef] = {}

    def __torch_function__(
        self, function: Callable, types: object, args: tuple = (), kwargs: dict | None = None
    ) -> object:
        kwargs = dict(kwargs or {})
        if (own := _IN_PLACE_OF.get(function)) is not None:
            return own(self, *args, **kwargs)
        if torch.device(kwargs.get("device") or CPU).type != "cuda":
            return function(*args, **kwargs)
        self.wanted = CUDA
        try:
            return function(*args, **kwargs | {"device": CPU})
        finally:
            self.wanted = None

    def label_of(self, tensor: Tensor, *_: object) -> torch.device:
        """Return where a tensor would be."""
        if tensor.device.type == "meta":
            return tensor.device
        return self._labels.get(tensor.untyped_storage()._cdata, (None, CPU))[1]

    def label(self, tensor: Tensor, device: torch.device) -> None:
        """Label a tensor's memory, new as it is."""
        storage = tensor.untyped_storage()
        self._labels[storage._cdata] = StorageWeakRef(storage), device

    def wait(self, what: str) -> None:
        """Count a wait of the host for the device."""
        self.waits[f"{what} in {_place()}"] += 1

    def moved(self, tensor: Tensor, *args: object, copy: bool = False, **kwargs: object) -> Tensor:
        """Do what `Tensor.to` does."""
        if args and isinstance(args[0], Tensor):
            args = (self.label_of(args[0]), args[0].dtype, *args[1:])
        device, dtype, without_waiting, _ = torch._C._nn._parse_to(*args, **kwargs)
        here, dtype = self.label_of(tensor), dtype or tensor.dtype
        if device is None or "meta" in (device.type, here.type) or device.type == here.type:
            return tensor.to(device if device is not None and device.type == "meta" else None, dtype, copy=copy)
        there = tensor.to(dtype, copy=True)
        self.label(there, CPU if device.type == "cpu" else CUDA)
        if device.type == "cuda" and without_waiting and self.is_pinned(tensor):
            self.copies[_place()] += 1
        else:
            self.wait("copy from the device" if device.type == "cpu" else "copy to the device")
        return there

    def as_tensor(self, data: object, dtype: torch.dtype | None = None, device: object = None) -> Tensor:
        made = data if isinstance(data, Tensor) else torch.as_tensor(data)
        return self.moved(made, device, dtype or made.dtype)

    def new_tensor(self, data: object, *, device: object = None, **kwargs: object) -> Tensor:
        made = torch.tensor(data, **kwargs)
        return made if device is None else self.moved(made, device)

    def pinned(self, tensor: Tensor, *_: object) -> Tensor:
        assert self.label_of(tensor) == CPU, "only the CPU's memory can be pinned"
        copy = tensor.clone()
        self._pinned[copy.untyped_storage()._cdata] = StorageWeakRef(copy.untyped_storage())
        return copy

    def is_pinned(self, tensor: Tensor, *_: object) -> bool:
        return tensor.untyped_storage()._cdata in self._pinned

    def to_numpy(self, tensor: Tensor, *args: object, **kwargs: object) -> object:
        if self.label_of(tensor) == CUDA:
            raise TypeError("can't convert cuda:0 device type tensor to numpy")
        return tensor.numpy(*args, **kwargs)

    def to_array(self, tensor: Tensor, dtype: object = None) -> object:
        array = self.to_numpy(tensor)
        return array if dtype is None else array.astype(dtype, copy=False)

    def to_list(self, tensor: Tensor) -> object:
        if self.label_of(tensor) == CUDA:
            self.wait("tolist")
        return tensor.tolist()

    def backward(self, loss: Tensor, **_: object) -> None:
        start = torch.ones_like(loss)
        with self:  # a slice is encoded again
            engine = torch.autograd.Variable._execution_engine
            engine.run_backward((loss,), (start,), False, False, (), allow_unreachable=True, accumulate_grad=True)


# By the function of torch's that is asked for.
_IN_PLACE_OF: dict[object, Callable] = {
    Tensor.device.__get__: LabelledDevice.label_of,
    Tensor.is_cuda.__get__: lambda mode, tensor, *_: mode.label_of(tensor) == CUDA,
    torch._C._nn._parse_to: lambda mode, *args, **kwargs: torch._C._nn._parse_to(*args, **kwargs),
    Tensor.to: LabelledDevice.moved,
    Tensor.cpu: lambda mode, tensor: mode.moved(tensor, CPU),
    Tensor.cuda: lambda mode, tensor, *_, non_blocking=False: mode.moved(tensor, CUDA, non_blocking=non_blocking),
    torch.as_tensor: LabelledDevice.as_tensor,
    torch.tensor: LabelledDevice.new_tensor,
    Tensor.pin_memory: LabelledDevice.pinned,
    Tensor.is_pinned: LabelledDevice.is_pinned,
    Tensor.numpy: LabelledDevice.to_numpy,
    Tensor.__array__: LabelledDevice.to_array,
    Tensor.tolist: LabelledDevice.to_list,
    Tensor.backward: LabelledDevice.backward,
}


class _Labelling(TorchDispatchMode):
    """Looks at each operation, those of the gradients too: whether what it takes is in one place, and labels what it
    gives."""

    def __init__(self, device: LabelledDevice):
        super().__init__()
        self._device = device

    def __torch_dispatch__(
        self, function: Callable, types: object, args: tuple = (), kwargs: dict | None = None
    ) -> object:
        device, operation = self._device, function.overloadpacket
        with torch._C.DisableTorchFunction():
            taken = [*_tensors(args), *_tensors((kwargs or {}).values())]
            # A number may come from the host.
            places = {device.label_of(each).type for each in taken if each.dim() or device.label_of(each) == CUDA}
            if places >= {"cpu", "cuda"}:
                self._mixed(operation, taken)
            elif "cuda" in places:
                by_mask = operation in _INDEXING and any(each.dtype == torch.bool for each in _tensors(args[1]))
                if operation in _WAITED_FOR or by_mask:
                    device.wait(operation._qualified_op_name.removeprefix("aten::"))
            before = {each.untyped_storage()._cdata for each in taken if each.device.type == "cpu"}
            given = function(*args, **(kwargs or {}))
            if device.wanted == CUDA or "cuda" in places:
                for each in _tensors((given,)):
                    if each.device.type == "cpu" and each.untyped_storage()._cdata not in before:
                        device.label(each, CUDA)
        return given

    def _mixed(self, operation: object, taken: list[Tensor]) -> None:
        """Count a wait where CUDA takes memory of the host, and fail where it does not."""
        if operation in (_aten._has_compatible_shallow_copy_type, _aten.set_data):
            return
        if operation is _aten.copy_ or (operation in _INDEXING and self._device.label_of(taken[0]) == CUDA):
            self._device.wait("copy between devices")
            return
        places = ", ".join(f"{tuple(each.shape)} on {self._device.label_of(each)}" for each in taken)
        raise RuntimeError(f"Expected all tensors to be on the same device: {operation} of {places}, in {_place()}")


def _tensors(values: Iterable) -> Iterator[Tensor]:
    """Yield the tensors among some values and in the lists among them."""
    for value in values:
        if isinstance(value, Tensor):
            yield value
        elif isinstance(value, list | tuple):
            yield from _tensors(value)


def _place() -> str:
    """Return the file of statgraph that runs, of several the innermost."""
    frame = sys._getframe()
    while frame is not None and not frame.f_code.co_filename.startswith(_SOURCE):
        frame = frame.f_back
    return "a test" if frame is None else frame.f_code.co_filename.removeprefix(_SOURCE)


@contextmanager
def labelled_device() -> Iterator[LabelledDevice]:
    """Run the block with a device that is not there."""
    device = LabelledDevice()
    # Beside the shape and dtype of what is computed again, torch compares its device: in one place by its label.
    checks = {"default": lambda tensor: (tensor.shape, tensor.dtype)}
    with (
        mock.patch.dict(checkpoint._allowed_determinism_checks_to_fns, checks),
        # Groups tensors by where they are, in C++.
        mock.patch.object(clip_grad, "_group_tensors_by_device_and_dtype", lambda lists: {(CUDA, None): (lists, None)}),
        _Labelling(device),
        device,
    ):
        yield device
