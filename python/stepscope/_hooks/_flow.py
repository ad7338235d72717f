"""From calls that were timed to marks: what is a step, what is training, what is evaluation.

Only a training makes marks. What was seen is held back until an optimizer has stepped twice, so a process that only
imports torch, loads data for another one or answers requests is never known to the agent, and a script that ends its
steps itself is noticed before the first one is made. From there on, it alone says what a step is.

A step ends when the leading optimizer has stepped; _boundary.py says which one that is, and which of its calls. Where
no optimizer exists, a step ends where the next batch is waited for, if there was a backward pass.

Waits and computations without gradients may belong to an evaluation (_evaluation.py), so they are held back until that is
clear.
"""

from __future__ import annotations

from threading import enumerate as enumerate_threads
from threading import get_ident
from time import monotonic_ns
from typing import Any, Callable, Dict, List, Optional, Tuple

from .. import _marks
from .._calm import let_through
from .._form import marks
from ._boundary import Boundary
from ._evaluation import Evaluation, Held
from ._feed import LOOK, Feed

_MOST_HELD = 512
_LEAST_ENDS = 2  # so many steps must have ended before anything is told
_MOST_LONE = 4  # computations without gradients, one after the other, that may belong to a training step
_END = ""  # in place of a phase: a step ended there


class Flow(Boundary, Evaluation, Feed, marks.Flow):
    """The state of this process's training. The wrappers call it on the training thread only. The C extension
    (python/native/flow.c) writes the usual steps of a training by itself, and calls these methods for the rest."""

    def __init__(self) -> None:
        self.optimizers = 0  # so many were made
        self.steps = 0  # so many did the optimizers
        self.all_backwards = 0
        self.renewed: List[Callable[[], None]] = []  # called when another optimizer leads
        self.at_first_step: Optional[Callable[[], None]] = None
        self.at_waking: Optional[Callable[[], None]] = None
        self.dormant = False  # there is no agent, and a step is where one is looked for
        self.forget()

    def forget(self) -> None:
        """Begins anew, as if nothing had been seen: a forked child is another process, and most children train nothing."""
        self.owner = get_ident()  # the training thread
        self.edge = None
        self.inside = False  # a call that is timed is under way, so those within are not
        self.stepping = False  # a step of an optimizer is under way
        self.ends = 0  # so many steps have ended
        self.proven = False  # this is a training
        self.held: List[Held] = []
        self.idle = 0  # how many of those held computed without gradients
        self.evaluating = 0  # since when, ns
        self.evaluated = 0  # until when, as far as is known
        self.backwards = 0  # since the last step
        self.rows_within: List[Tuple[int, int]] = []  # steps of optimizers within the backward pass that is under way, in other threads
        self.forget_optimizers()
        self.forget_feed()
        self.beginning = 0  # when the newest loader began
        self.over = 0  # when one had no more batches
        self.looks = 0  # waits and computations without gradients
        self.loader: Optional[Dict[str, str]] = None  # settings of the newest one
        self.told: Optional[Dict[str, str]] = None

    def began(self, start: int, end: int, gradients: bool) -> None:
        """The training began to wait for batches: the loader's workers have been started."""
        self.beginning = start
        self.waited(start, end, gradients, False)

    def waited(self, start: int, end: int, gradients: bool, over: bool) -> None:
        """The training waited for the next batch; `over`: there was none."""
        try:
            gradients = gradients or self._has_no_backward()
            if _marks._session.by_hand:
                self._settle()
                _marks.record(start, end, "data")
                return
            if gradients:
                self.worked()
            if self.idle:
                self._set_aside()
            if over and self.evaluating and not self.held:
                self.evaluated = end
                return
            if self.backwards and not self.optimizers:
                self._settle()
                self._end_step(start)
            self._hold((start, end, "data"))
            if over:
                self.over = end
            if not gradients:
                self.idle += 1
                self.looks += 1
        except Exception as problem:
            let_through(problem)
            self._fail(problem)

    def computed(self, start: int, end: int, phase: str, gradients: bool) -> None:
        """A forward pass, or a loss."""
        try:
            if gradients or _marks._session.by_hand or self._has_no_backward():
                self.worked()
                self.trained(start, end, phase)
                return
            self._hold((start, end, phase))
            self.idle += 1
            self.looks += 1
            if self.idle > _MOST_LONE and not any(phase == "data" and end != self.over for _, end, phase in self.held):
                self._set_aside()
        except Exception as problem:
            let_through(problem)
            self._fail(problem)

    def _has_no_backward(self) -> bool:
        """Whether this training computes without gradients, as evolution strategies do: an optimizer has stepped, and nobody
        went back so far."""
        return self.steps > 0 and not self.all_backwards

    def trained(self, start: int, end: int, phase: str) -> None:
        """A call that only a training makes."""
        if self.held or self.evaluating:
            self._settle()
        self._put(start, end, phase)

    def happened(self, start: int, end: int, phase: str) -> None:
        """A call that training and evaluation both make."""
        try:
            if self.quick(start, end, phase):
                return
            if self.held or self.evaluating or not self.proven:
                self._hold((start, end, phase))
            else:
                _marks.record(start, end, phase)
        except Exception as problem:
            let_through(problem)
            self._fail(problem)

    def went_back(self, start: int, end: int) -> None:
        try:
            within, self.rows_within = self.rows_within, []
            ends, self.within, self.led = self.led, False, False
            if not self._is_training_thread():
                return
            self.backwards += 1
            self.all_backwards += 1
            self.graded = True
            self.worked()
            for row in within:
                self.trained(*row, "optimizer")
            self.trained(start, end, "backward")
            if ends and self.ends_step():
                self._end_step(end)
        except Exception as problem:
            let_through(problem)
            self._fail(problem)

    def stepped(self, start: int, end: int, optimizer: Any) -> None:
        try:
            if self.dormant:
                self._look_for_agent(end, optimizer)
                return
            self.steps += 1
            if self.is_within_backward():
                self._step_within(start, end, optimizer)
            elif self._is_training_thread():
                self.trained(start, end, "optimizer")
                if self.leads(optimizer) and self.ends_step():
                    self._end_step(end)
        except Exception as problem:
            let_through(problem)
            self._fail(problem)

    def _step_within(self, start: int, end: int, optimizer: Any) -> None:
        """The step of the training ends with the backward pass that is under way."""
        self.within = True
        self.led |= self.leads(optimizer)
        if get_ident() == self.owner:
            self.trained(start, end, "optimizer")
        elif len(self.rows_within) < _MOST_HELD:
            self.rows_within.append((start, end))

    def _look_for_agent(self, now: int, optimizer: Any) -> None:
        """The step that begins now is the first one that is seen; to install what sees it took its time."""
        session = _marks._session
        if session.off and (now < session.due or not session.seek(now)):
            return
        self.dormant = False
        self.forget()
        if self.at_waking:
            self.at_waking()
        self.leads(optimizer)
        self.graded = True  # this may be one of many calls in an iteration
        self.ends_step()
        self._end_step(monotonic_ns())

    def _is_training_thread(self) -> bool:
        """Whether the calling thread trains. Until it is proven who trains any thread may; later only when that one ended."""
        thread = get_ident()
        if thread == self.owner:
            return True
        if self.proven and any(each.ident == self.owner for each in enumerate_threads()):
            return False
        self.owner = thread
        self.held.clear()
        self.idle = self.evaluating = self.unfed = self.elsewhere = 0
        return True

    def close(self) -> None:
        """Tells at the end of the process what is still held."""
        try:
            ended = [at for at, row in enumerate(self.held) if not row[2]]
            if ended and not self.evaluating:
                self._emit(self.held[: ended[-1] + 1])
            if self.idle:
                self._set_aside()
            if self.evaluating:
                self._tell_evaluation()
        except Exception as problem:
            let_through(problem)
            self._fail(problem)

    def _fail(self, problem: Exception) -> None:
        """A fault of ours is the training's last trouble with us: it begins anew."""
        _marks.notes["hooks_fault"] = repr(problem)
        self.forget()

    def _end_step(self, end: int) -> None:
        self.backwards = 0
        self.unfed += 1
        if self.unfed % LOOK == 0:
            self.look_at_feed()
        if self.proven:
            _marks.end_step(end)
            return
        self.held.append((end, end, _END))
        self.ends += 1
        self.proven = self.ends >= _LEAST_ENDS
        if self.ends == 1 and self.at_first_step:
            self.at_first_step()

    def _put(self, start: int, end: int, phase: str) -> None:
        if self.held or not self.proven and not _marks._session.by_hand:
            self._hold((start, end, phase))
        else:
            _marks.record(start, end, phase)

    def _hold(self, held: Held) -> None:
        self.held.append(held)
        if len(self.held) > _MOST_HELD:
            del self.held[: _MOST_HELD // 2]

    @staticmethod
    def _emit(held: List[Held]) -> None:
        for start, end, phase in held:
            if phase:
                _marks.record(start, end, phase)
            else:
                _marks.end_step(end)


flow = Flow()
