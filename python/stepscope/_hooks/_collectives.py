"""Collectives that the training thread calls itself. The time in which DDP sends during backward is part of backward. One
that is made of others, as those of objects are, counts once."""

from __future__ import annotations

from typing import Any

from ._checkpoint import timed
from ._compile import compiling
from ._patch import Unavailable, watch

_NAMES = (
    "all_reduce broadcast reduce all_gather gather scatter reduce_scatter all_to_all all_to_all_single barrier "
    "all_gather_into_tensor reduce_scatter_tensor all_gather_object gather_object broadcast_object_list "
    "scatter_object_list monitored_barrier"
).split()


def install(torch: Any) -> None:
    if not torch.distributed.is_available():
        raise Unavailable("torch.distributed is not built in")
    watched = timed("communication", compiling(torch))
    for name in _NAMES:
        if hasattr(torch.distributed, name):
            watch(torch.distributed, name, watched)
