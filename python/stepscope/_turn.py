"""Whose turn it is to look after the connection: one thread's at a time, and nobody waits for it."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:  # threading takes longer to import than all the rest
    from threading import Lock
else:
    from _thread import allocate_lock as Lock

_LONGEST_NS = 60_000_000_000  # a turn takes microseconds


class Turn:
    """A handler of a signal may raise just when a thread has got its turn and does not know it yet: such a turn is over
    after a minute."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._since = 0

    def take(self, now_ns: int) -> bool:
        taken = self._lock.acquire(False)
        if not taken and now_ns - self._since < _LONGEST_NS:
            return False
        if not taken:
            self._lock = Lock()
        self._since = now_ns
        return taken

    def leave(self) -> None:
        lock = self._lock
        if lock.locked():
            lock.release()
