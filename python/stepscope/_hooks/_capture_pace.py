"""How long steps take before, in and after a window: what it costs beyond its begin and end."""

from __future__ import annotations

from time import monotonic_ns
from typing import List, Optional

from .. import _marks

_MOST = 50  # steps before a window, and after it
_LEAST = 5  # fewer tell nothing
_SHARE = 0.02  # steps that take longer by this share after a window are told of
_NOISE = 3  # times the median deviation, which they have to exceed as well


class Pace:
    """Looks at steps while a window waits, and at the first ones after one."""

    def __init__(self) -> None:
        self._before: List[int] = []  # ns of the steps before the window
        self._after: Optional[List[int]] = None  # ns of the steps behind it; None before there is one
        self._last = 0

    @property
    def watches(self) -> bool:
        """Whether steps behind a window are still to be seen."""
        return self._after is not None and len(self._before) >= _LEAST

    def step_ended(self) -> None:
        """Of steps outside of windows."""
        now = monotonic_ns()
        took, self._last = now - self._last if self._last else 0, now
        if not took:
            return
        if self._after is None:
            self._before = [*self._before[1 - _MOST :], took]
            return
        self._after.append(took)
        if len(self._after) >= _MOST:
            self._compare()

    def window_ended(self) -> None:
        """The step that follows contains the end of the window, so it is not looked at."""
        self._after = []
        self._last = 0

    def pause(self) -> None:
        """Steps are not looked at any more."""
        self._last = 0

    def slower_us(self, steps: int, took_ns: int) -> int:
        """How much longer so many steps took together than the same number before; -1: that is not known."""
        if len(self._before) < _LEAST:
            return -1
        return max(took_ns - steps * _median(self._before), 0) // 1000

    def _compare(self) -> None:
        before, after = self._before, self._after or []
        self._before, self._after = after, None
        if len(before) < _LEAST:
            return
        usual = _median(before)
        noise = _median([abs(each - usual) for each in before])
        longer = _median(after) - usual
        if usual and longer > max(_SHARE * usual, _NOISE * noise):
            _marks.add_facts({"window_slowdown": f"steps take {100 * longer / usual:.1f} % longer since a window"})


def _median(values: List[int]) -> int:
    return sorted(values)[len(values) // 2]
