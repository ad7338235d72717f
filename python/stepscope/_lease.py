"""The lease of a ring: each thread has one for as long as it lives."""

from __future__ import annotations

import os

from ._form import marks
from ._memory import sealed_memory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from threading import local
    from typing import Any, Callable, List, Optional

    from ._connection import Connection
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


def pass_on(connection: Connection, message: bytes, ring: Ring) -> None:
    """Gives the agent a ring. The wall clock may have been set since the ring was made, while no agent saw it."""
    ring.say_clock()
    fd = ring.fd
    if fd < 0:
        raise ConnectionError("the script has closed the memory of the marks")
    connection.send_ring(message, fd)


def new_ring(slots: int) -> Ring:
    fd = sealed_memory(slots)
    try:
        return marks.Ring(fd)
    except BaseException:
        os.close(fd)
        raise
