"""Copies from the host to a device: Tensor.to and Tensor.cuda of tensors in host memory.

Installed at the first step, and only where a device is used. Libraries that compare functions with Tensor.to,
as tensor subclasses do, have been imported by then and keep the function they know; without a device there is
nothing to see.
"""

from __future__ import annotations

from threading import get_ident
from time import monotonic_ns
from typing import Any

from ._compile import compiling, readers
from ._flow import flow
from ._gpu_times import around
from ._patch import Unavailable, replace


def install(torch: Any) -> None:
    if not uses_device(torch):
        raise Unavailable("no device is in use")
    reading = compiling(torch)
    for name in ("to", "cuda"):
        replace(torch.Tensor, name, lambda original: _timed(original, torch, reading))


def uses_device(torch: Any) -> bool:
    return bool(torch.cuda.is_initialized())


def _timed(original: Any, torch: Any, reading: Any) -> Any:
    copying = around(torch, "transfer", original, counts=_is_away)

    def copy(self: Any, *args: Any, **named: Any) -> Any:
        if (readers and reading()) or flow.inside or self.device.type != "cpu" or get_ident() != flow.owner:
            return original(self, *args, **named)
        start = monotonic_ns()
        copied = copying(self, *args, **named)
        if _is_away(copied):
            flow.happened(start, monotonic_ns(), "transfer")
        return copied

    return copy


def _is_away(copied: Any) -> bool:
    return bool(copied.device.type != "cpu")
