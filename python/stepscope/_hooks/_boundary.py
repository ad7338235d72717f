"""Where a step ends: at the step() of the leading optimizer, so that what follows it belongs to the next step.

The leader is the first optimizer seen. Another one leads when the leader is gone, or 16 iterations have passed
without it; 2 are enough for one with the leader's parameters, such as the one that a new epoch has made. So the two
optimizers of a GAN make one step, gradient accumulation makes one step, and a step that a GradScaler skipped is one
that did not update.

Engines that partition parameters call the leader's step() many times in one iteration. The first call after work (a
backward pass, a computation with gradients, a wait for a batch) ends the step. Those that follow without work do not,
as many as there were in earlier iterations; what they took counts to the next step. Further ones are iterations whose
work is not seen, as in a CUDA graph, and end steps of their own. Where no backward pass was seen (evolution strategies,
gradients set by hand) each call ends a step.

Optimizers that step within a backward pass, one for each parameter, end the step at the end of that backward pass. On a
GPU they do so in a thread of autograd's.
"""

from __future__ import annotations

import weakref
from threading import Thread, get_ident
from threading import enumerate as enumerate_threads
from typing import Any, Callable, List, Optional

from .._calm import let_through

_MOST_MISSED = 16  # iterations without the leader, until another optimizer leads
_MOST_MISSED_BY_AN_HEIR = 2  # iterations, where the other optimizer has the leader's parameters
_MOST_CALLS = 64  # calls without work of one optimizer, before it is known how many an iteration has


class Boundary:
    """What the flow knows of the optimizers. In the C extension its fields are those of the flow's base."""

    leader: Optional[Callable[[], Any]]
    renewed: List[Callable[[], None]]
    backwards: int
    others: int  # iterations in which only others stepped
    other_calls: int  # calls of the first of them

    def forget_optimizers(self) -> None:
        self.leader = None
        self.other: Optional[Callable[[], Any]] = None  # the first one that stepped since the leader did
        self.backing = 0  # the thread in which a backward pass is under way
        self.within = False  # an optimizer stepped within that
        self.led = False  # it was the leader
        self._follow(None)

    def _follow(self, optimizer: Any) -> None:
        self.leader = optimizer and weakref.ref(optimizer)
        self.others = self.other_calls = 0
        self.fresh = self.fresh_others = self.backwards > 0  # there was work since the last end; since others stepped
        self.graded = self.backwards > 0  # this training has backward passes
        self.calls = self.calls_before = 0  # how often the leader was called since the last work; in the iteration before
        self.usual_calls = 0  # how often an iteration calls the leader; 0: not known

    def worked(self) -> None:
        """Something happened that each iteration has."""
        self.fresh = self.fresh_others = True

    def leads(self, optimizer: Any) -> bool:
        """Whether the optimizer that has stepped is the leader, perhaps from now on."""
        leader = self.leader and self.leader()
        if leader is optimizer:
            self.others = self.other_calls = 0
            return True
        self.others += self.fresh_others
        self.fresh_others = False
        if not self.other_calls:
            self.other = weakref.ref(optimizer)
        self.other_calls += self.other is not None and self.other() is optimizer
        if leader is not None and self.others <= _patience(leader, optimizer) and self.other_calls <= _MOST_CALLS:
            return False
        for begin in self.renewed if self.leader else ():
            begin()
        self._follow(optimizer)
        return True

    def ends_step(self) -> bool:
        """Whether this call of the leader ends a step."""
        if self.fresh:
            if not self.usual_calls or self.calls == self.calls_before:
                self.usual_calls = self.calls
            self.calls_before, self.calls, self.fresh = self.calls, 1, False
            return True
        self.calls += 1
        if not self.graded:
            return True
        if self.usual_calls:
            return (self.calls - 1) % self.usual_calls == 0
        self.graded = self.calls <= _MOST_CALLS
        return not self.graded

    def is_within_backward(self) -> bool:
        """Whether the calling thread goes back, or is one of autograd's while another one does."""
        if not self.backing:
            return False
        thread = get_ident()
        return thread == self.backing or not any(each.ident == thread and _is_of_python(each) for each in enumerate_threads())


def _is_of_python(thread: Thread) -> bool:
    return type(thread).__name__ != "_DummyThread"


def _patience(leader: Any, other: Any) -> int:
    return _MOST_MISSED_BY_AN_HEIR if _first(leader) is _first(other) is not None else _MOST_MISSED


def _first(optimizer: Any) -> Any:
    """The first parameter of an optimizer."""
    try:
        return optimizer.param_groups[0]["params"][0]
    except Exception as problem:
        let_through(problem)
        return None
