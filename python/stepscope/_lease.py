"""The lease of a ring: each thread has one for as long as it lives."""

from __future__ import annotations

import os
import time

from . import _wire
from ._form import marks
from ._memory import sealed_memory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from threading import local
    from typing import Any, Callable, List, Optional

    from ._pure import Ring
else:
    from _thread import _local as local


class Local(local):
    ring: Optional[Ring] = None
    lease: Optional["Lease"] = None


class Lease:
    """Hands the ring of a thread that has ended to the next one."""

    __slots__ = ("ring", "free")

    def __init__(self, ring: Ring, free: List[Ring]) -> None:
        self.ring = ring
        self.free = free

    def __del__(self, leave: Callable[..., Any] = marks.leave) -> None:
        """`leave` is an argument, since at the end of the process the module may be empty already."""
        leave()
        self.free.append(self.ring)


def say_clock(ring: Ring) -> None:
    """Tells the agent that the ring goes to how far the wall clock is ahead of that of the marks: it may have been
    set since the ring was made, while no agent saw it."""
    ahead = (time.time_ns() - time.monotonic_ns()) & (1 << 64) - 1
    os.pwrite(ring.fd, ahead.to_bytes(8, "little"), 8 * _wire.CLOCK_WORD)


def new_ring(slots: int) -> Ring:
    fd = sealed_memory(slots)
    try:
        return marks.Ring(fd)
    except BaseException:
        os.close(fd)
        raise
