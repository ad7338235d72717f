"""Evaluations that interrupt a training.

An evaluation is an iteration, from one wait for data to the next, that computed without gradients and only so, in a
training that has backward passes. What
it waited and computed becomes the annotation "evaluation", and the step that it interrupts has its wall time without
it. A long one is told piece by piece while it goes on, so that it does not look like a training that hangs. The training
thread does so, when a wait or a computation has ended and has turned out to be the evaluation's; the pieces add up to
the whole, and all of them are told before the step ends.
"""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Tuple

from .. import _marks

_PIECE_NS = 10_000_000_000  # an evaluation is told when it has gone on for so long

Held = Tuple[int, int, str]  # start, end, phase


class Evaluation:
    """What the flow has held back, and the evaluation that goes on."""

    held: List[Held]
    idle: int  # how many of the held ones computed without gradients
    proven: bool
    beginning: int
    evaluating: int  # since when it is not told, ns; 0: there is none
    evaluated: int  # until when, as far as is known
    loader: Optional[Dict[str, str]]
    told: Optional[Dict[str, str]]
    _emit: Any

    def _settle(self) -> None:
        """The held rows belong to the training; an evaluation that was set aside before them has ended."""
        if self.evaluating:
            self._end_evaluation()
        self.idle = 0
        if self.proven or _marks._session.by_hand:
            self._emit(self.held)
            self.held.clear()
        if self.loader is not self.told:
            self.told = self.loader
            _marks.add_facts(self.told or {})

    def _set_aside(self) -> None:
        """The newest iteration was an evaluation's: what was before it belongs to the training."""
        at = self._newest_wait()
        if at < 0:
            at = len(self.held) - self.idle
        elif at and self.held[at - 1][0] == self.beginning:
            at -= 1
        if not self.evaluating:
            self.evaluating = self.held[at][0]
            if self.proven:
                self._emit(self.held[:at])
        self.evaluated = self.held[-1][1]
        self.held.clear()
        self.idle = 0
        if self.evaluated - self.evaluating >= _PIECE_NS:
            self._tell_evaluation()

    def _end_evaluation(self) -> None:
        if self.idle and self._newest_wait() < 0:  # the held rows are the evaluation's last computations
            self.evaluated = self.held[-1][1]
            self.held.clear()
        self._tell_evaluation()
        self.evaluating = 0

    def _tell_evaluation(self) -> None:
        """Tells the evaluation up to now. The step that it interrupts stood still meanwhile."""
        if self.proven and self.evaluated > self.evaluating:
            _marks.span(self.evaluating, self.evaluated, "evaluation")
            _marks.skip(self.evaluated - self.evaluating)
        self.evaluating = self.evaluated

    def _newest_wait(self) -> int:
        for at in range(len(self.held) - 1, -1, -1):
            if self.held[at][2] == "data":
                return at
        return -1
