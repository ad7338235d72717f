"""Copies from the host to a device: Tensor.to and Tensor.cuda of tensors in host memory.

Installed at the first step, and only where a device is used. Libraries that compare functions with Tensor.to,
as tensor subclasses do, have been imported by then and keep the function they know; without a device there is
nothing to see.
"""

from __future__ import annotations

from threading import get_ident
from time import monotonic_ns
from typing import Any

from ._compile import compiling
from ._flow import flow
from ._patch import Unavailable, replace


def install(torch: Any) -> None:
    if not uses_device(torch):
        raise Unavailable("no device is in use")
    reading = compiling(torch)
    for name in ("to", "cuda"):
        replace(torch.Tensor, name, lambda original: _timed(original, reading))


def uses_device(torch: Any) -> bool:
    return bool(torch.cuda.is_initialized())


def _timed(original: Any, reading: Any) -> Any:
    def copy(self: Any, *args: Any, **named: Any) -> Any:
        if reading() or flow.inside or self.device.type != "cpu" or get_ident() != flow.owner:
            return original(self, *args, **named)
        start = monotonic_ns()
        copied = original(self, *args, **named)
        if copied.device.type != "cpu":
            flow.happened(start, monotonic_ns(), "transfer")
        return copied

    return copy
