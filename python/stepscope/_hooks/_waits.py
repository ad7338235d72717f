"""Waits of the training thread for the GPU: phase "sync", and lists of values, which are copies to the host: "device_to_host".

All of them are functions and methods of C. They are watched in their place (python/native/wait.c): each stays the object
that it is, so nothing that compares, pickles, overrides or compiles them sees a difference. Only tensors of torch's own
two classes are looked at. The form in Python cannot do this.
"""

from __future__ import annotations

from typing import Any, Iterable, Tuple

from .._calm import let_through
from .._form import marks
from ._flow import flow
from ._patch import Unavailable

_Row = Tuple[str, str, str, str]

# Where it is, its name, its phase, and which calls count (python/native/wait.h).
_ROWS: Tuple[_Row, ...] = (
    ("_C", "_cuda_synchronize", "sync", "always"),
    ("_C._CudaStreamBase", "synchronize", "sync", "always"),
    ("_C._CudaEventBase", "synchronize", "sync", "always"),
    ("_C", "_accelerator_synchronizeDevice", "sync", "always"),
    ("Tensor", "item", "sync", "value"),
    ("Tensor", "__bool__", "sync", "value"),
    ("Tensor", "__float__", "sync", "value"),
    ("Tensor", "__int__", "sync", "value"),
    ("Tensor", "__index__", "sync", "value"),
    ("Tensor", "__complex__", "sync", "value"),
    ("Tensor", "is_nonzero", "sync", "value"),
    ("Tensor", "equal", "sync", "value"),
    ("Tensor", "tolist", "device_to_host", "value"),
)


def uses_device(torch: Any) -> bool:
    return bool(torch.cuda.is_initialized())


def install(torch: Any) -> None:
    if not uses_device(torch):
        raise Unavailable("no device is in use")
    if marks.await_gpu is None:
        raise Unavailable("the form in Python does not see them")
    watch(torch, _ROWS)


def watch(torch: Any, rows: Iterable[_Row]) -> None:
    """Watches the functions of the rows, as far as this version has them."""
    plain = (torch.Tensor, torch.nn.Parameter)
    found = [_watch(torch, row, plain) for row in rows]
    if not any(found):
        raise Unavailable("this version has none that can be watched")


def _watch(torch: Any, row: _Row, plain: Tuple[type, ...]) -> bool:
    place, name, phase, kind = row
    owner = torch
    for part in place.split("."):
        owner = getattr(owner, part, None)
    owner = torch._C._TensorBase if owner is torch.Tensor else owner  # what a class of ours has put before it is not in C
    try:
        assert marks.await_gpu is not None
        marks.await_gpu(flow, getattr(owner, name), phase, kind, plain, _asking(torch), torch.is_grad_enabled)
        return True
    except (AttributeError, ValueError) as problem:  # this version has it not, or in another way
        let_through(problem)
        return False


def _asking(torch: Any) -> Any:
    """Neither modes nor subclasses hear that a tensor is asked where it lies."""
    unheard = torch._C.DisableTorchFunction

    def is_on_gpu(tensor: Any) -> bool:
        with unheard():
            return on_gpu(tensor)

    return is_on_gpu


def on_gpu(tensor: Any) -> bool:
    return bool(tensor.is_cuda)


def forget() -> None:
    if marks.await_gpu_no_longer is not None:
        marks.await_gpu_no_longer()
