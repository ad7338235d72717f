"""How many steps are timed by the GPU's clock: as many as cost no more than a small share of the training's time.

The clock measures its own cost. Where steps are short it times one of 2, 4, 8 ... of them, at random places, so that no
rhythm of the training (a loader's workers, accumulated gradients) meets only steps of one kind.
"""

from __future__ import annotations

from statistics import median
from typing import List

SHARE = 0.0015  # the clock's part of the training's time; all hooks together are to take at most 0.5 % of a step of 1.3 ms
MOST = 512  # steps, of which one is timed; with more, next to nothing would be known
_STEPS = 12  # so many are timed, until their cost is judged
_SEED, _FACTOR, _SUMMAND, _MASK = 42, 1_103_515_245, 12_345, (1 << 31) - 1


class Budget:
    def __init__(self) -> None:
        self.every = 1  # one of so many steps is timed
        self.random = _SEED  # apart from all generators of the training
        self._begin()

    def _begin(self) -> None:
        self.costs: List[int] = []  # ns, of each step that was timed
        self.steps = 0  # so many ended, timed or not
        self.since = self.until = 0  # ns

    def count(self, steps: int, end_ns: int) -> None:
        """So many steps ended, the last of them then."""
        if self.since:
            self.steps += steps
        else:
            self.since = end_ns
        self.until = end_ns

    def spend(self, cost_ns: int) -> bool:
        """A step that was timed cost so much. Whether another share of the steps is timed from now on."""
        self.costs.append(cost_ns)
        if len(self.costs) < _STEPS or not self.steps:
            return False
        step_ns = max(self.until - self.since, 1) / self.steps
        before, wanted = self.every, median(self.costs) / (step_ns * SHARE)
        while self.every < wanted and self.every <= MOST:
            self.every *= 2
        while self.every > 1 and self.every > 4 * wanted:  # far from the limit, so it does not go to and fro
            self.every //= 2
        self._begin()
        return self.every != before

    def is_exceeded(self) -> bool:
        return self.every > MOST

    def pause(self) -> int:
        """How many steps are left out before the next one that is timed."""
        if self.every == 1:
            return 0
        self.random = (self.random * _FACTOR + _SUMMAND) & _MASK
        return (self.random >> 8) % (2 * self.every - 1)
