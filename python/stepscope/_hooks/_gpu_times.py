"""How long phases ran on the GPU, where STEPSCOPE_GPU_TIMES=1 asks for it: CUDA events at the edges of what is timed.

The annotation "gpu forward" stands beside the phase "forward": it begins when the host began to launch, and lasts from
event to event on the current stream of the current device. Nothing waits for the GPU: each phase asks whether the
events of earlier ones have come by. Where nobody asked for this, the calls stay what they are.
"""

from __future__ import annotations

import atexit
import os
from collections import deque
from threading import get_ident
from time import monotonic_ns
from typing import Any, Callable, Deque, Optional, Tuple

from .. import _marks
from ._compile import compiling, readers
from ._flow import flow
from ._frames import leave, unseen
from ._patch import Unavailable

_MOST_PENDING = 256  # pairs of events; of a GPU that is further behind, or hangs, the oldest are given up

_Began = Tuple[int, Any]  # ns of the host, event
_pending: Deque[Tuple[str, int, Any, Any]] = deque()  # name, ns of the host, events
_given_up = 0


def wanted() -> bool:
    return os.environ.get("STEPSCOPE_GPU_TIMES", "") not in ("", "0")


def install(torch: Any) -> None:
    """The calls that `around` made work by themselves: this says whether there is a device that they can time."""
    if not torch.cuda.is_initialized():
        raise Unavailable("no device is in use")
    atexit.register(close)


@unseen
def around(torch: Any, phase: str, call: Any, busy: str = "inside", counts: Optional[Callable[[Any], bool]] = None) -> Any:
    """The call with events at its edges. Not that of another one that is under way, which `busy` of the flow says, nor one
    whose result does not count."""
    if not wanted():
        return call
    reading, name = compiling(torch), "gpu " + phase

    def timed(*args: Any, **named: Any) -> Any:
        if (readers and reading()) or getattr(flow, busy):
            return call(*args, **named)
        began = _begin(torch)
        try:
            result = call(*args, **named)
        except BaseException as problem:
            leave(problem)
            raise
        if began is not None and (counts is None or counts(result)):
            _end(torch, name, began)
        return result

    return timed


def _begin(torch: Any) -> Optional[_Began]:
    """The event at which a time begins; None in an evaluation, without a training, or while a graph is captured."""
    if get_ident() != flow.owner or _marks._session.off or not (flow.proven or _marks._session.by_hand):
        return None
    try:
        cuda = torch.cuda
        if not cuda.is_initialized() or not torch.is_grad_enabled() or cuda.is_current_stream_capturing():
            return None
        start = monotonic_ns()
        return start, _event(cuda)
    except Exception as problem:
        _give_up(problem)
        return None


def _end(torch: Any, name: str, began: _Began) -> None:
    try:
        _pending.append((name, *began, _event(torch.cuda)))
        if len(_pending) > _MOST_PENDING:
            _pending.popleft()
            _give_up("the GPU was too far behind")
        _read()
    except Exception as problem:
        _give_up(problem)


def _event(cuda: Any) -> Any:
    event = cuda.Event(enable_timing=True)
    event.record()
    return event


def _read() -> None:
    """Marks what has come by. The GPU works in order, so the first pair that it has not done is the last one to ask."""
    while _pending and _pending[0][3].query():
        name, start, first, last = _pending.popleft()
        duration = int(first.elapsed_time(last) * 1e6)
        _marks.span(start, start + duration, name)


def _give_up(problem: object) -> None:
    global _given_up
    _given_up += 1
    _marks.notes["gpu_times"] = f"{_given_up} times are not known: {problem}"


def close() -> None:
    """Tells at the end of the process the times that are there by now: events do not outlive the device."""
    try:
        _read()
    except Exception as problem:
        _give_up(problem)
    forget()


def forget() -> None:
    global _given_up
    _pending.clear()
    _given_up = 0
