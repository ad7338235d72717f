"""Collectives that the training thread calls itself. The time in which DDP sends during backward is part of backward."""

from __future__ import annotations

from threading import get_ident
from time import monotonic_ns
from typing import Any

from ._compile import compiling
from ._flow import flow
from ._patch import Unavailable, replace

_NAMES = (
    "all_reduce broadcast reduce all_gather gather scatter reduce_scatter all_to_all all_to_all_single barrier "
    "all_gather_into_tensor reduce_scatter_tensor all_gather_object gather_object broadcast_object_list "
    "scatter_object_list monitored_barrier"
).split()


def install(torch: Any) -> None:
    if not torch.distributed.is_available():
        raise Unavailable("torch.distributed is not built in")
    reading = compiling(torch)
    for name in _NAMES:
        if hasattr(torch.distributed, name):
            replace(torch.distributed, name, lambda original: _timed(original, reading))


def _timed(original: Any, reading: Any) -> Any:
    def collective(*args: Any, **named: Any) -> Any:
        if reading() or get_ident() != flow.owner:
            return original(*args, **named)
        start = monotonic_ns()
        try:
            return original(*args, **named)
        finally:
            flow.happened(start, monotonic_ns(), "communication")

    return collective
