"""What is known of one step by the GPU's clock: the events that were recorded in it, and what they say once they have come by."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Tuple

_LONGEST_MS = 3_600_000.0  # an hour; no event is so far from another one of its step

Part = Tuple[int, Any, Any, bool]  # index of the phase, first and last event, whether with gradients


class Refused(Exception):
    """Times that cannot be: they are counted, and not told."""


class Step:
    """Events of a step, in the order in which they were recorded. Of use once it `is_over`."""

    __slots__ = ("number", "start", "events", "newest", "parts", "gaps", "idle_known", "lone", "looks", "interrupted", "fault")

    def __init__(self, start_ns: int, looks: int) -> None:
        self.number = 0
        self.start = start_ns  # ns of the host's clock
        self.events: List[Any] = []  # those that go back to the pool with this step
        self.newest: Dict[int, Any] = {}  # stream -> the event that was recorded there last
        self.parts: List[Part] = []
        self.gaps: List[Tuple[Any, Any]] = []  # events between which the GPU had nothing to do
        self.idle_known = False
        self.lone = 0  # computations without gradients
        self.looks = looks  # the flow's, when the step began
        self.interrupted = False  # by an evaluation
        self.fault = ""  # why its times are not known

    def is_over(self) -> bool:
        """Whether all events have come by. Streams work in their order, so their newest ones are asked. Never waits."""
        return all(event.query() for event in self.newest.values())

    def times(self) -> Tuple[Dict[int, int], Optional[int]]:
        """Nanoseconds of each phase, and those that the GPU was idle, if that is known."""
        if self.fault:
            raise Refused(self.fault)
        phases: Dict[int, int] = {}
        for phase, first, last, trains in self.parts:
            if trains or not self.interrupted:
                phases[phase] = phases.get(phase, 0) + _between(first, last)
        idle = sum(_between(first, last) for first, last in self.gaps)
        return phases, idle if self.idle_known and not self.interrupted else None


def _between(first: Any, last: Any) -> int:
    took = first.elapsed_time(last)
    if not 0 <= took <= _LONGEST_MS:  # also what is no number
        raise Refused(f"an event came {took} ms after another one")
    return int(took * 1e6)
