"""Windows of operators: a few steps that PyTorch's own profiler records when the agent, or the script, asks for them.

While no window waits, a step looks at one word. A window begins where the step before it has ended and ends with its
last step, on the thread that ends steps. The profiler's own writer makes the file; its descriptor goes to the agent.
Nothing leaves here but that: no exception, no output, and no file that has a name.
"""

from __future__ import annotations

import re
from threading import get_ident
from time import monotonic_ns
from typing import Any, Dict, List, Optional

from .. import _marks, _wire
from . import _capture_limits as limits
from .._calm import let_through
from ._capture_file import why_no_room, written
from ._capture_others import OtherProfilers
from ._capture_pace import Pace
from ._capture_window import Window
from ._cuda_graphs import graphs

_ASKED = re.compile(r"window (\d{1,6}) steps from step (\d{1,16}) for window (\d{1,6})( with shapes)?")
_MOST_KNOWN = 64  # windows of which the outcome is remembered, for an agent that was started again
_MOST_WAITING = 8
_AT_ONCE = "start_profiling"


class Capture:
    """What this process records. One window at a time; only the thread that ends steps begins and ends one."""

    def __init__(self, torch: Any) -> None:
        self._torch = torch
        self._window: Optional[Window] = None  # the one that is recorded
        self._waiting: List[Window] = []  # by their first step
        self._outcomes: Dict[str, str] = {}
        self._others = OtherProfilers(torch, lambda: self._let_pass("the training began a profiler of its own"))
        self._dear = ""  # why no further window is recorded
        self._pace = Pace()
        graphs.at_capture = lambda: self._let_pass("the training began to capture a CUDA graph")

    def ask(self, number: int, text: str) -> str:
        """Takes a request of the agent; returns why it is refused, or "". Called by the session, which answers a
        refusal. Window 0 is of the agent's own schedule: the service gives it its number when the trace arrives."""
        asked = _ASKED.fullmatch(text)
        if asked is None:
            return "the request has no steps and no number: is the agent of another version?"
        steps, first, window = map(int, asked.groups()[:3])
        wanted = Window(window, "" if window else "schedule", first, steps, shapes=asked[4] is not None)
        wanted.number = number
        for known in self._known():
            if known.key() == wanted.key():
                known.number = number  # another agent asks for it now
                return ""
        if wanted.key() in self._outcomes:
            return self._outcomes[wanted.key()] or "it was recorded, and the file went to the agent before this one"
        return self._add(wanted)

    def want(self, first: int, steps: int, shapes: bool) -> str:
        """Takes a request of the script; returns why it is refused, or "". A negative step is the next one to begin."""
        return self._add(Window(0, "script", first, steps, shapes))

    def start(self) -> str:
        """Records from now on, on the calling thread; returns why not, or ""."""
        ring = _marks._session.local.ring
        reason = self._why_not(1)
        if not reason and self._window is not None:
            reason = "another window is recorded"
        if reason or ring is None:
            return reason or self._add(Window(0, _AT_ONCE, -1, limits.MOST_STEPS))
        reason = limits.why_not_now(self._torch, self._others.any()) or why_no_room()
        if not reason:
            self._begin(Window(0, _AT_ONCE, int(ring.number), limits.MOST_STEPS))
        return reason

    def stop(self) -> None:
        """Ends what `start` began: at once on its thread, else with the step that is under way."""
        self._waiting = [each for each in self._waiting if each.by != _AT_ONCE]
        window = self._window
        if window is None or window.by != _AT_ONCE:
            self._look_at_steps()
        elif get_ident() == window.thread:
            self._end("" if window.done else "no step ended before stop_profiling()")
        else:
            window.steps = window.done + 1

    def _known(self) -> List[Window]:
        return self._waiting + ([self._window] if self._window else [])

    def _why_not(self, steps: int) -> str:
        return self._dear or limits.why_never(self._torch, steps)

    def _add(self, window: Window) -> str:
        for known in self._known():
            if known.overlaps(window):
                return f"{known} waits or is recorded"
        reason = self._why_not(window.steps)
        if not reason and len(self._waiting) >= _MOST_WAITING:
            reason = f"{_MOST_WAITING} windows wait, which are the most"
        if not reason:
            self._waiting = sorted([*self._waiting, window], key=lambda each: each.first)
            self._look_at_steps()
        return reason

    def _look_at_steps(self) -> None:
        """Steps are looked at only while there is a reason."""
        wanted = self._window is not None or self._waiting or self._pace.watches
        _marks._session.at_window = self._step_ended if wanted else None
        if not wanted:
            self._pace.pause()

    def _step_ended(self, number: int) -> None:
        window = self._window
        try:
            if window is None:
                self._pace.step_ended()
            else:
                if get_ident() != window.thread:
                    return
                self._go_on(window, number)
            if self._window is None:
                self._await(number)
        except Exception as problem:
            let_through(problem)
            self._refuse(str(problem) or repr(problem))

    def _await(self, number: int) -> None:
        while self._waiting and 0 <= self._waiting[0].first <= number:
            late = self._waiting.pop(0)
            self._answer(late, f"step {late.first} had begun")
        if self._waiting and self._waiting[0].first <= number + 1:
            window = self._waiting.pop(0)
            window.first = number + 1
            reason = self._dear or limits.why_not_now(self._torch, self._others.any()) or why_no_room()
            if reason:
                self._answer(window, reason)
            else:
                self._begin(window)
        self._look_at_steps()

    def _begin(self, window: Window) -> None:
        began = monotonic_ns()
        profiler = self._torch.profiler
        kinds = [profiler.ProfilerActivity.CPU]
        if self._torch.cuda.is_available() and self._torch.cuda.is_initialized():
            kinds.append(profiler.ProfilerActivity.CUDA)
        window.thread = get_ident()
        self._window = window
        recorder = profiler.profile(activities=kinds, record_shapes=window.shapes)
        self._others.start(recorder)
        window.profiler, window.grown = recorder, limits.memory_bytes()
        window.step = _mark(self._torch, window.first)
        window.began = monotonic_ns()
        window.start_ns = window.began - began
        self._look_at_steps()

    def _go_on(self, window: Window, number: int) -> None:
        window.done = number - window.first + 1
        note = window.note if window.done >= window.steps else limits.why_no_longer(window.began, window.grown)
        if window.by == _AT_ONCE and window.done >= limits.MOST_STEPS:
            note = f"stop_profiling() had not come after {limits.MOST_STEPS} steps, which are the most"
        if note or window.done >= window.steps:
            self._end(note)
            return
        window.step.__exit__(None, None, None)
        window.step = _mark(self._torch, number + 1)

    def _end(self, note: str) -> None:
        """Ends what is recorded, and hands it over; the note says why it is less than what was asked for."""
        window, self._window = self._window, None
        if window is None:
            return
        try:
            self._hand_over(window, note)
        except Exception as problem:
            let_through(problem)
            self._answer(window, str(problem) or repr(problem))
        finally:
            window.ended.set()
        self._pace.window_ended()
        self._look_at_steps()

    def _hand_over(self, window: Window, note: str) -> None:
        stopping = monotonic_ns()
        window.step.__exit__(None, None, None)
        window.profiler.stop()
        writing = monotonic_ns()
        if not window.done:
            self._answer(window, note)
            return
        fd = written(window.profiler)
        done = monotonic_ns()
        costs = [ns // 1000 for ns in (window.start_ns, writing - stopping, done - writing)]
        self._dear = limits.why_too_dear(sum(costs))
        self._remember(window.key(), "")
        slower_us = self._pace.slower_us(window.done, stopping - window.began)
        session = _marks._session
        session.post(_wire.trace(window.window, window.first, window.done, (costs[0], costs[1], costs[2]), note, window.by, slower_us), fd)
        self._say(window, False, note)

    def _refuse(self, reason: str) -> None:
        window, self._window = self._window, None
        if window is not None:
            window.ended.set()
            self._answer(window, reason)
        self._look_at_steps()

    def _answer(self, window: Window, reason: str) -> None:
        self._remember(window.key(), reason)
        self._say(window, True, reason)

    def _say(self, window: Window, refused: bool, text: str) -> None:
        """To the agent if it asked, else where the script can read it."""
        if window.number:
            _marks._session.post(_wire.answer(window.number, refused, text))
            return
        outcome = f"refused: {text}" if refused else f"recorded: {window}" + (f", {text}" if text else "")
        _marks.notes["window"] = outcome
        _marks.add_facts({"window": outcome})

    def _remember(self, key: str, reason: str) -> None:
        self._outcomes[key] = reason
        while len(self._outcomes) > _MOST_KNOWN:
            del self._outcomes[next(iter(self._outcomes))]

    def _give_way(self, reason: str) -> None:
        """Ends the window before its time, where something begins that must not meet it. What there is of it goes to the
        agent if it has a whole step."""
        window = self._window
        try:
            if window is None or get_ident() != window.thread:
                return
            self._end(reason)
        except Exception as problem:
            let_through(problem)
            self._refuse(str(problem) or repr(problem))

    def _let_pass(self, reason: str) -> None:
        """Ends the window before something that would meet an error beside it. A profiler can be ended only on its own
        thread: any other one waits for the end of the step that is under way, but not for ever, since that step may wait
        for the caller."""
        window = self._window
        if window is None:
            return
        if get_ident() == window.thread:
            self._give_way(reason)
            return
        window.steps, window.note = min(window.steps, window.done + 1), reason
        window.ended.wait(limits.MOST_WAIT_SECONDS)

    def before_fork(self) -> None:
        self._give_way("the process forked: a child would go on recording")

    def in_child(self) -> None:
        self._window = None
        self._waiting = []
        self._others.in_child()

    def forget(self) -> None:
        """Begins anew: for tests."""
        self.close()
        self._outcomes.clear()
        self._dear = ""
        self._pace = Pace()

    def close(self) -> None:
        """At the end of the process."""
        waiting, self._waiting = self._waiting, []
        for window in waiting:
            self._answer(window, "the training ended before these steps")
        self._give_way("the training ended")


def _mark(torch: Any, number: int) -> Any:
    """An annotation that tells where the step of this number lies."""
    step = torch.profiler.record_function(f"ProfilerStep#{number}")
    step.__enter__()
    return step
