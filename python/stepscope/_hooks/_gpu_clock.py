"""Tells the times of a training's steps by the GPU's own clock, once the GPU has come by: mostly a step later.

The times of a step are told as a whole, the steps in their order. Where one of a step's times cannot be, none is told,
and it is counted. Each step gets its mark of idle time, also where that is not known: the agent waits for it.
"""

from __future__ import annotations

from collections import deque
from threading import get_ident
from time import monotonic_ns
from typing import Any, Callable, Deque, Tuple, Optional

from .. import _marks, _wire
from .._calm import let_through
from .._form import marks
from ._flow import flow
from ._gpu_budget import Budget
from ._gpu_edges import Edges
from ._gpu_steps import Refused, Step
from ._gpu_streams import CurrentStream

_MOST_PENDING = 64  # steps
_WARM = 3  # the first steps are told when they are over, so nothing that is seen meanwhile is known to be theirs
_FOR_EVER = 1 << 62


class Clock:
    """Used on the training thread only. A fault of CUDA's ends it; `said` hears of that, and of each change."""

    def __init__(self, torch: Any, device: Callable[[], int], said: Callable[[], None]) -> None:
        cuda = torch.cuda
        self.stream = CurrentStream(cuda, device(), getattr(torch._C, "_cuda_getCurrentRawStream", None))
        self.edges = Edges(cuda, self.stream, self._fault, self._give_up)
        self.cuda, self.device, self.said = cuda, device, said
        self.is_anew = False  # another training may have begun
        self.budget = Budget()
        self.pending: Deque[Tuple[int, int, Optional[Step]]] = deque()  # number, end, and the step if it was timed
        self.warm, self.left, self.skipped = _WARM, 0, 0
        self.refused, self.refusal = 0, ""  # so many steps had times that cannot be; why the last one of them
        self.ended = ""  # why
        self.tells = False  # the agent waits for a mark of each step

    def step_ended(self, number: int, end_ns: int) -> None:
        """Tells what is known by now, and decides whether the step that begins is timed."""
        if get_ident() != flow.owner or self.ended:
            marks.gpu_time(end_ns, -1, _wire.GPU_IDLE, number)
            return
        began = monotonic_ns()
        try:
            self._step_ended(began, number, end_ns)
        except Exception as problem:
            let_through(problem)
            self._fault(problem)
        self.edges.cost += monotonic_ns() - began

    def _step_ended(self, now: int, number: int, end_ns: int) -> None:
        is_forgotten = self.edges.step is not None and flow.edge is None
        step = self.edges.end_step()
        if is_forgotten and step is not None:
            step.fault, self.warm = "the hooks began anew", _WARM
        if self.tells:
            self.pending.append((number, end_ns, step))
        if self.warm:
            self.warm -= 1
        if self.is_anew and self.device() != self.stream.device:
            self.stop("the training went to another device")
        self.is_anew = False
        self.budget.count(1 + self.skipped, end_ns)
        self.skipped = 0
        if step is not None:
            self._spend()
        if not self.ended:
            self._go_on(now, step, number, end_ns)
            self._read()
            self._rest()

    def _spend(self) -> None:
        cost, self.edges.cost = self.edges.cost, 0
        if self.budget.spend(cost):
            self.said()
        if self.budget.is_exceeded():
            self.stop("the steps are too short: to time them would take too much of them")

    def _go_on(self, now: int, before: Optional[Step], number: int, end_ns: int) -> None:
        flow.edge = None
        if self.warm or self.left:
            return
        if not self.tells:  # from now on the agent waits
            marks.gpu_time(end_ns, -1, _wire.GPU_IDLE, number)
            self.tells = True
        self.left = self.budget.pause() + 1
        self.edges.begin_step(now, before, end_ns)
        flow.edge = self.edges.edge

    def _rest(self) -> None:
        """While nothing is timed and nothing awaited, steps end without this."""
        self.left -= self.left > 0
        if self.left and self.edges.step is None and not self.pending and not self.warm:
            _marks._session.untimed = self.skipped = self.left
            self.left = 0

    def _read(self) -> None:
        """Tells what has come by, in order: the first step that has not is the last one to be asked."""
        while len(self.pending) > _MOST_PENDING:
            self._give_up()
        if self.pending and self.cuda.is_current_stream_capturing():
            return
        while self.pending:
            step = self.pending[0][2]
            if step is not None and not step.is_over():
                return
            self._tell(*self.pending.popleft())

    def _tell(self, number: int, end_ns: int, step: Optional[Step]) -> None:
        idle: Optional[int] = None
        try:
            if step is not None:
                phases, idle = step.times()
                for index, length in phases.items():
                    marks.gpu_time(step.start, length, index, number)
        except Refused as problem:
            self._refuse(str(problem))
        finally:
            if step is not None:
                self.edges.free += step.events
            marks.gpu_time(end_ns, -1 if idle is None else idle, _wire.GPU_IDLE, number)

    def _refuse(self, why: str) -> None:
        self.refused, self.refusal = self.refused + 1, why
        self.said()

    def _give_up(self) -> None:
        """The oldest step gets no times, and its events go back."""
        if self.pending:
            number, end_ns, step = self.pending.popleft()
            if step is not None:
                step.fault = "the GPU was too far behind"
            self._tell(number, end_ns, step)

    def _fault(self, problem: Exception) -> None:
        self.stop(f"{type(problem).__name__}: {problem}")

    def stop(self, reason: str) -> None:
        """Ends all timing. The agent goes on hearing of each step that its times are not known."""
        if not self.ended:
            self._end(reason)
            self.said()

    def _end(self, reason: str) -> None:
        self.ended = reason
        flow.edge = self.edges.step = None
        self.edges.open.clear()
        for number, end_ns, _ in self.pending:
            marks.gpu_time(end_ns, -1, _wire.GPU_IDLE, number)
        self.pending.clear()
        session = _marks._session
        if self.tells:
            session.untimed = _FOR_EVER
        else:
            session.at_step = None

    def close(self) -> None:
        """Tells at the end of the process what is there by now: events do not outlive the device."""
        try:
            if not self.ended:
                self._read()
        except Exception as problem:
            let_through(problem)
            self._fault(problem)
        if not self.ended:
            self._end("the process ended")
        self.edges.free.clear()

    def state(self) -> str:
        """Whether it runs, and if not, why."""
        if self.ended:
            return "off: " + self.ended
        if self.budget.every == 1:
            return "on"
        return f"every {self.budget.every}{'nd' if self.budget.every == 2 else 'th'} step: more would take too much of their time"

    def text(self) -> str:
        return self.state() + (f"; {self.refused} steps without times: {self.refusal}" if self.refused else "")
