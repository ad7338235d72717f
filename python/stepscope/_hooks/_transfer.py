"""Copies between the host and a device: phases "transfer" to it, and "device_to_host".

Installed at the first step, and only where a device is used: without one there is nothing to see. The C extension watches
the methods of tensors in their place, like the waits for the GPU (`_waits.py`). The form in Python sees Tensor.to and
Tensor.cuda of tensors in host memory; what compares functions with Tensor.to, as subclasses of Tensor do, finds the original
(`_patch.Shown`).
"""

from __future__ import annotations

from threading import get_ident
from time import monotonic_ns
from typing import Any

from .. import _marks
from .._form import marks
from . import _waits
from .._calm import let_through
from ._calls import begin_edge, tell
from ._compile import compiling, never, readers
from ._flow import flow
from ._frames import leave, unseen
from ._patch import Unavailable, replace

# Methods of tensors, and which copies of theirs count (python/native/wait.h).
_ROWS = (("to", "copy"), ("cuda", "copy"), ("cpu", "copy"), ("copy_", "into"))


def install(torch: Any) -> None:
    if not _waits.uses_device(torch):
        raise Unavailable("no device is in use")
    if marks.await_gpu is not None:
        _waits.watch(torch, (("Tensor", name, "device_to_host", kind) for name, kind in _ROWS))
        return
    reading = compiling(torch)
    for name in ("to", "cuda"):
        replace(torch.Tensor, name, lambda original: _timed(original, torch, reading))


@unseen
def _timed(original: Any, torch: Any, reading: Any) -> Any:
    plain = (torch.Tensor, torch.nn.Parameter)  # others hear what is asked of them, and so do modes
    in_mode = getattr(torch._C, "_is_torch_function_mode_enabled", never)

    def copy(self: Any, *args: Any, **named: Any) -> Any:
        if (readers and reading()) or flow.inside or get_ident() != flow.owner:
            return original(self, *args, **named)
        try:
            return timed(self, *args, **named)
        except BaseException as problem:
            leave(problem)
            raise

    def timed(self: Any, *args: Any, **named: Any) -> Any:
        if type(self) not in plain or in_mode() or self.device.type != "cpu":
            return original(self, *args, **named)
        edge = begin_edge(flow, "transfer", torch.is_grad_enabled())
        away = False
        start = monotonic_ns()
        try:
            copied = original(self, *args, **named)
            away = _was_away(copied)
            return copied
        finally:
            end = monotonic_ns()
            if edge:
                edge(None, away)
            if away:
                tell(flow.happened, start, end, "transfer")

    return copy


def _was_away(copied: Any) -> bool:
    """Whether the copy went to a device; False where we fail to tell, for a fault of ours must not reach the script."""
    try:
        return _is_away(copied)
    except Exception as problem:
        let_through(problem)
        _marks.notes["hooks_fault"] = repr(problem)
        return False


def _is_away(copied: Any) -> bool:
    return bool(copied.device.type != "cpu")
