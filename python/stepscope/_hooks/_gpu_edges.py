"""CUDA events at the edges of the phases of a step. Nothing here waits for the GPU.

Idle is what lies between the end of an iteration's computations and the begin of the next one's: the wait for data, and
all else that the script does there. A copy in between is not idle time. Where the end has not come by when the next
computation is queued, the GPU never ran dry.
"""

from __future__ import annotations

from threading import get_ident
from time import monotonic_ns
from typing import Any, Callable, FrozenSet, List, Optional, Tuple

from .. import _wire
from .._calm import let_through
from ._flow import flow
from ._gpu_steps import Step
from ._gpu_streams import CurrentStream

MOST_EVENTS = 1024
_MOST_OF_STEP = 384
_MOST_LONE = 4  # computations without gradients that may belong to a training step
_LATE_NS = 200_000  # a step that ended so long before this was told has no event at its end
_SHARED_NS = 2_000  # nothing is launched in so short a time: the event before serves again

_INDEX = {name: index for index, name in enumerate(_wire.PHASES)}
_FORWARD, _LOSS, _BACKWARD, _OPTIMIZER = (_INDEX[name] for name in ("forward", "loss", "backward", "optimizer"))
_COPY = _INDEX["transfer"]
# What begins an iteration: after a step, and after a backward pass. Anything else means that it was not seen.
_AFTER_STEP: FrozenSet[int] = frozenset((_FORWARD, _LOSS, _OPTIMIZER))
_AFTER_BACKWARD: FrozenSet[int] = frozenset((_FORWARD,))

_At = Tuple[Any, int]  # event, stream


class Edges:
    """Records the events of the step that is timed. Used on the training thread only; `fault` hears of CUDA's exceptions,
    and `short_of_events` is asked to give some back."""

    def __init__(
        self, cuda: Any, stream: CurrentStream, fault: Callable[[Exception], None], short_of_events: Callable[[], None]
    ) -> None:
        self.cuda, self.stream, self.fault, self.short_of_events = cuda, stream, fault, short_of_events
        self.step: Optional[Step] = None
        self.cost = 0  # ns
        self.free: List[Any] = []
        self.made = 0
        self.open: List[Tuple[int, Any, int, bool]] = []  # phases under way: index, event, stream, gradients
        self.anchor: Optional[_At] = None  # the end of the last iteration's work, while the next one is waited for
        self.closes = _AFTER_STEP
        self.gaps: List[Tuple[Any, Any]] = []  # idle so far in the wait for an iteration
        self.newest: Optional[_At] = None
        self.newest_ns = 0

    def edge(self, phase: Optional[str], flag: bool) -> bool:
        """A phase begins, `flag`: with gradients; whether it is timed. Or, None, the newest one that is timed ends, `flag`:
        and counts."""
        step = self.step
        if step is None or get_ident() != flow.owner:
            return False
        began, timed = monotonic_ns(), False
        try:
            if not step.fault and self.cuda.is_current_stream_capturing():
                step.fault = "a CUDA graph was captured"
            if not step.fault and phase is None:
                self._end(step, began, flag)
            elif not step.fault and self._counts(step, _INDEX[phase], flag):  # type: ignore[index]
                self._begin(step, began, _INDEX[phase], flag)  # type: ignore[index]
                timed = True
        except Exception as problem:
            let_through(problem)
            self.fault(problem)
        self.cost += monotonic_ns() - began
        return timed

    def _counts(self, step: Step, phase: int, gradients: bool) -> bool:
        """Few computations without gradients are part of a training step, many are an evaluation."""
        if not gradients and phase != _COPY:
            step.lone += 1
            step.interrupted = step.interrupted or step.lone > _MOST_LONE
        return gradients or not step.interrupted

    def _begin(self, step: Step, now: int, phase: int, gradients: bool) -> None:
        event, stream = self._record(step, now)
        if self.open:
            self._part(step, event, stream)
        elif self.anchor is not None:
            self._end_wait(step, phase, event, stream)
        self.open.append((phase, event, stream, gradients))

    def _end_wait(self, step: Step, phase: int, event: Any, stream: int) -> None:
        """The wait for an iteration ends, or a copy interrupts it, perhaps on a stream of its own."""
        assert self.anchor is not None
        before, its_stream = self.anchor
        is_waiting = its_stream == stream and (phase == _COPY or phase in self.closes)
        if is_waiting and before.query():  # else the GPU has had something to do all the time
            self.gaps.append((before, event))
        if phase == _COPY:
            return
        if is_waiting:
            step.gaps += self.gaps
            step.idle_known = step.idle_known or self.closes is _AFTER_STEP
        self.anchor = None

    def _end(self, step: Step, now: int, counts: bool) -> None:
        if not self.open:
            return
        event, stream = self._record(step, now)
        self._part(step, event, stream, counts)
        phase = self.open.pop()[0]
        if self.open:
            outer, _, _, gradients = self.open[-1]
            self.open[-1] = outer, event, stream, gradients
        elif phase == _BACKWARD:
            self.anchor, self.closes, self.gaps = (event, stream), _AFTER_BACKWARD, []
        elif phase == _COPY and counts and self.anchor is not None and self.anchor[1] == stream:
            self.anchor = event, stream

    def _part(self, step: Step, event: Any, stream: int, counts: bool = True) -> None:
        """What the innermost phase under way did until here."""
        phase, first, its_stream, gradients = self.open[-1]
        if its_stream != stream:
            step.fault = "a phase began and ended on different streams"
        elif counts:
            step.parts.append((phase, first, event, gradients))

    def _record(self, step: Step, now: int) -> _At:
        """An event of this moment: at the begin of a phase the one at the end of the phase before, if nothing can lie
        between."""
        current, stream = self.stream.get()
        if not self.open and self.newest and self.newest[1] == stream and now - self.newest_ns < _SHARED_NS:
            return self.newest
        if len(step.events) >= _MOST_OF_STEP:
            step.fault = "too many phases in a step"
        event = self.free.pop() if self.free else self._new()
        step.events.append(event)
        event.record(current)
        step.newest[stream] = event
        self.newest, self.newest_ns = (event, stream), monotonic_ns()
        return self.newest

    def _new(self) -> Any:
        if self.made >= MOST_EVENTS:
            self.short_of_events()
            if self.free:
                return self.free.pop()
        self.made += 1
        return self.cuda.Event(enable_timing=True)

    def end_step(self) -> Optional[Step]:
        """The step that was timed, if one was, as far as it is known by now."""
        step, self.step = self.step, None
        if step is not None:
            if self.open:
                step.fault = step.fault or "a step ended within a phase"
            step.interrupted = step.interrupted or flow.looks - step.looks > step.lone
        self.open.clear()
        return step

    def begin_step(self, now: int, before: Optional[Step], ended_ns: int) -> None:
        """Times the step that begins. `before`: the one that ended, if it was timed."""
        step = Step(now, flow.looks)
        at = self._end_of(before, ended_ns)
        if at is None and now - ended_ns < _LATE_NS and not self.cuda.is_current_stream_capturing():
            at = self._record(step, now)
        if at is not None and before is not None and at[0] in before.events:
            before.events.remove(at[0])  # it goes back with this step, which is read later
            step.events.append(at[0])
            step.newest[at[1]] = at[0]
        self.anchor, self.closes, self.gaps = at, _AFTER_STEP, []
        self.step = step

    def _end_of(self, before: Optional[Step], ended_ns: int) -> Optional[_At]:
        """The event at the end of a step's work: of its optimizer, or, where a step ends without one, of its last backward
        pass."""
        if before is None:
            return None
        at = self.newest if self.newest_ns >= ended_ns else self.anchor
        return at if at is not None and at[0] in before.events else None
