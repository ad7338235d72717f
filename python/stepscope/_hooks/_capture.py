"""Windows of operators: a few steps that PyTorch's own profiler records when the agent asks for them.

While no window waits, a step looks at one word. A window begins where the step before it has ended and ends with its
last step, on the thread that ends steps. The profiler's own writer makes the file; its descriptor goes to the agent.
Nothing leaves here but that: no exception, no output, and no file that has a name.
"""

from __future__ import annotations

import re
from threading import get_ident
from time import monotonic_ns
from typing import Any, Callable, Dict, List, Optional

from .. import _marks, _wire
from . import _capture_limits as limits
from ._capture_file import why_no_room, written

_ASKED = re.compile(r"window (\d{1,6}) steps from step (\d{1,16}) for window (\d{1,6})")
_MOST_KNOWN = 64  # windows of which the outcome is remembered, for an agent that was started again


class Window:
    """A window that was asked for. `number` is that of the command which asks, on this connection."""

    def __init__(self, number: int, window: int, first: int, steps: int) -> None:
        self.number, self.window, self.first, self.steps = number, window, first, steps
        self.profiler: Any = None
        self.step: Any = None  # the annotation of the step that is under way
        self.thread = self.began = self.grown = self.start_ns = 0
        self.done = 0  # steps that are recorded


class Capture:
    """What this process records. One window at a time; only the thread that ends steps begins and ends one."""

    def __init__(self, torch: Any) -> None:
        self._torch = torch
        self._window: Optional[Window] = None
        self._outcomes: Dict[int, str] = {}
        self._restore: List[Callable[[], None]] = []
        self._dear = ""  # why no further window is recorded

    def ask(self, number: int, text: str) -> str:
        """Takes a request; returns why it is refused, or "". Called by the session, which answers a refusal."""
        asked = _ASKED.fullmatch(text)
        if asked is None:
            return "the request has no steps and no number: is the agent of another version?"
        steps, first, window = map(int, asked.groups())
        waiting = self._window
        if waiting is not None and waiting.window == window:
            waiting.number = number  # another agent asks for it now
            return ""
        if waiting is not None:
            return f"window {waiting.window} waits or is recorded"
        if window in self._outcomes:
            return self._outcomes[window] or "it was recorded, and the file went to the agent before this one"
        reason = self._dear or limits.why_never(self._torch, steps)
        if not reason:
            self._window = Window(number, window, first, steps)
            _marks._session.at_window = self._step_ended
        return reason

    def _step_ended(self, number: int) -> None:
        window = self._window
        try:
            if window is None:
                _marks._session.at_window = None
            elif window.profiler is None:
                self._await(window, number)
            elif get_ident() == window.thread:
                self._go_on(window, number)
        except Exception as problem:
            self._refuse(str(problem) or repr(problem))

    def _await(self, window: Window, number: int) -> None:
        if number + 1 < window.first:
            return
        if number + 1 > window.first:
            self._refuse(f"step {window.first} had begun")
            return
        reason = limits.why_not_now(self._torch) or why_no_room()
        if reason:
            self._refuse(reason)
            return
        self._begin(window)

    def _begin(self, window: Window) -> None:
        began = monotonic_ns()
        profiler = self._torch.profiler
        kinds = [profiler.ProfilerActivity.CPU]
        if self._torch.cuda.is_available() and self._torch.cuda.is_initialized():
            kinds.append(profiler.ProfilerActivity.CUDA)
        recorder = profiler.profile(activities=kinds)
        recorder.start()
        window.profiler, window.thread, window.grown = recorder, get_ident(), limits.memory_bytes()
        self._restore = _yielding(self._torch, self._give_way)
        window.step = _mark(self._torch, window.first)
        window.began = monotonic_ns()
        window.start_ns = window.began - began

    def _go_on(self, window: Window, number: int) -> None:
        window.done = number - window.first + 1
        note = "" if window.done >= window.steps else limits.why_no_longer(window.began, window.grown)
        if note or window.done >= window.steps:
            self._end(note)
            return
        window.step.__exit__(None, None, None)
        window.step = _mark(self._torch, number + 1)

    def _end(self, note: str) -> None:
        """Ends what is recorded, and hands it over; the note says why it is less than what was asked for."""
        window, self._window = self._window, None
        _marks._session.at_window = None
        if window is None:
            return
        try:
            self._hand_over(window, note)
        except Exception as problem:
            self._answer(window, str(problem) or repr(problem))

    def _hand_over(self, window: Window, note: str) -> None:
        stopping = monotonic_ns()
        try:
            window.step.__exit__(None, None, None)
            window.profiler.stop()
        finally:
            for restore in self._restore:
                restore()
            self._restore = []
        writing = monotonic_ns()
        if not window.done:
            self._answer(window, note)
            return
        fd = written(window.profiler)
        done = monotonic_ns()
        costs = [ns // 1000 for ns in (window.start_ns, writing - stopping, done - writing)]
        self._dear = limits.why_too_dear(sum(costs))
        self._remember(window.window, "")
        session = _marks._session
        session.post(_wire.trace(window.window, window.first, window.done, (costs[0], costs[1], costs[2]), note), fd)
        session.post(_wire.answer(window.number, False, note))

    def _refuse(self, reason: str) -> None:
        window, self._window = self._window, None
        _marks._session.at_window = None
        if window is not None:
            self._answer(window, reason)

    def _answer(self, window: Window, reason: str) -> None:
        self._remember(window.window, reason)
        _marks._session.post(_wire.answer(window.number, True, reason))

    def _remember(self, window: int, reason: str) -> None:
        self._outcomes[window] = reason
        while len(self._outcomes) > _MOST_KNOWN:
            del self._outcomes[next(iter(self._outcomes))]

    def _give_way(self, reason: str) -> None:
        """Ends the window before its time, where something begins that must not meet it. What there is of it goes to the
        agent if it has a whole step."""
        window = self._window
        try:
            if window is None or window.profiler is None or get_ident() != window.thread:
                return
            self._end(reason)
        except Exception as problem:
            self._refuse(str(problem) or repr(problem))

    def before_fork(self) -> None:
        self._give_way("the process forked: a child would go on recording")

    def in_child(self) -> None:
        self._window = None
        self._restore = []

    def forget(self) -> None:
        """Begins anew: for tests."""
        self.close()
        self._outcomes.clear()
        self._dear = ""

    def close(self) -> None:
        """At the end of the process."""
        if self._window is not None and self._window.profiler is None:
            self._refuse("the training ended before these steps")
        self._give_way("the training ended")


def _mark(torch: Any, number: int) -> Any:
    """An annotation that tells where the step of this number lies."""
    step = torch.profiler.record_function(f"ProfilerStep#{number}")
    step.__enter__()
    return step


def _yielding(torch: Any, give_way: Callable[[str], None]) -> List[Callable[[], None]]:
    """Ends the window before a profiler of the training's own begins, which would meet an error otherwise. Returns what
    takes this back."""
    module = torch.autograd.profiler
    restores: List[Callable[[], None]] = []
    for name in ("_prepare_profiler", "_enable_profiler"):
        original = getattr(module, name)

        def begin(*args: Any, _original: Any = original, **named: Any) -> Any:
            give_way("the training began a profiler of its own")
            return _original(*args, **named)

        def restore(name: str = name, ours: Any = begin, original: Any = original) -> None:
            if getattr(module, name) is ours:
                setattr(module, name, original)

        setattr(module, name, begin)
        restores.append(restore)
    return restores
