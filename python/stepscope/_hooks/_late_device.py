"""A training that has no GPU in its first step may take one later: what watches GPUs begins then."""

from __future__ import annotations

from typing import Any, Callable

from .. import _marks
from ._waits import uses_device

_PAUSE = 64  # steps from one look to the next


class Look:
    """Called at the end of each step, for as long as no device is in use."""

    def __init__(self, torch: Any, begin: Callable[[], None]) -> None:
        self._torch, self._begin, self._left = torch, begin, _PAUSE

    def __call__(self, number: int, end_ns: int) -> None:
        self._left -= 1
        if self._left:
            return
        self._left = _PAUSE
        if uses_device(self._torch):
            _marks._session.at_step = None
            self._begin()


def await_device(torch: Any, begin: Callable[[], None]) -> None:
    """Calls `begin` some steps after the first use of a device; never where one is in use by now."""
    if not uses_device(torch):
        _marks._session.at_step = Look(torch, begin)
