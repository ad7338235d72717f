"""The hot path in Python, for where the C extension (python/native) cannot be built: what is said of a
mark here holds there, and the tests run with both. No exception leaves this file but the script's own.
"""

from __future__ import annotations

from math import ldexp
from struct import Struct
from time import monotonic_ns
from . import _wire
from ._calm import let_through
from ._gate import Flow as Flow, Gate as Gate
from ._ring import Ring as Ring

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Optional, TypeVar

    _F = TypeVar("_F", bound=Callable[..., Any])

_ANNOTATION = _wire.ANNOTATION_MARK << 32
_PHASES = {name: _wire.PHASE_MARK << 32 | i << 48 for i, name in enumerate(_wire.PHASES)}
_OTHER = _PHASES["other"]
_METRIC = _wire.METRIC_MARK << 32
_DOUBLE, _WORD = Struct("<d"), Struct("<Q")


watch: Optional[Callable[..., Any]] = None  # calls are watched by _hooks/_calls.py
await_gpu: Optional[Callable[..., Any]] = None  # functions of C cannot be watched in their place from here
await_gpu_no_longer: Optional[Callable[[], None]] = None

_gate = Gate()


def use(gate: Optional[Gate]) -> None:
    """Makes a gate the one that marks pass."""
    global _gate
    _gate = Gate() if gate is None else gate


def leave() -> None:
    """The ring of the calling thread belongs to another one from now on."""


def _is_alone(gate: Gate, now_ns: int) -> bool:
    """Whether nobody records, also after the look for an agent when that is due."""
    try:
        return now_ns < gate.due or not gate.seek(now_ns)
    except Exception as problem:  # a time that is none
        let_through(problem)
        return True


def is_quiet() -> bool:
    """Whether nobody records, and it is too early to look for an agent again."""
    gate = _gate
    return gate.off and (not gate.seeking or monotonic_ns() < gate.due)


def _spoken(name: object) -> str:
    """Anything can be a name."""
    try:
        return str(name)
    except Exception as problem:
        let_through(problem)
        return "(no name)"


class _Span:
    """A stretch of code for `with` and `@`; the two kinds of it differ in what they record."""

    __slots__ = ("_name", "_start")

    def __init__(self, name: str) -> None:
        self._name = name if type(name) is str else _spoken(name)
        self._start = 0

    def __enter__(self) -> "_Span":
        """Looks for an agent if that is due, since a span may be used again long after it was made."""
        gate = _gate
        self._start = 0
        if not gate.off:
            self._start = monotonic_ns()
        elif gate.seeking:
            now = monotonic_ns()
            if now >= gate.due and not _is_alone(gate, now):
                self._start = now
        return self

    def __exit__(self, kind: object = None, value: object = None, trace: object = None) -> None:
        raise NotImplementedError

    def __call__(self, function: _F) -> _F:
        if _gate.off and not _gate.seeking:
            return function
        from ._decorate import timed  # the modules that it needs take longer to import than this package

        return timed(phase if isinstance(self, phase) else annotate, self._name, function, is_quiet)


class annotate(_Span):
    """Times a stretch of code under a name: ``with annotate("augment"):`` or ``@annotate("collate")``.

    The job's page shows count, sum, least and most (seconds) for each name. A process has at most
    511 names; all others become "(other)". As a decorator it times each call; generator functions
    are left as they are.
    """

    __slots__ = ()

    def __exit__(self, kind: object = None, value: object = None, trace: object = None) -> None:
        if self._start:
            span(self._start, monotonic_ns(), self._name)


def span(start_ns: int, end_ns: int, name: str) -> None:
    """Records an annotation that ran from start to end, both of time.monotonic_ns()."""
    gate = _gate
    if gate.off and (not gate.seeking or _is_alone(gate, end_ns)):
        return
    try:
        ring = gate.local.ring
        if ring is None or end_ns >= gate.due:
            ring = gate.ring(end_ns)
            if ring is None:
                return
        number = gate.ids.get(name)
        if number is None:
            number = gate.name(name, end_ns)
        ring.put(start_ns, end_ns, _ANNOTATION | number << 48)
    except Exception as problem:
        let_through(problem)


class phase(_Span):
    """Times a part of the step: data, transfer, forward, loss, backward, communication, optimizer,
    callback, checkpoint, sync, device_to_host or other; any other word counts as other.

    The agent adds the time (ns) to this phase of the step in which it ends. A phase inside another
    one is not counted twice.
    """

    __slots__ = ()

    def __exit__(self, kind: object = None, value: object = None, trace: object = None) -> None:
        if self._start:
            record(self._start, monotonic_ns(), self._name)


def record(start_ns: int, end_ns: int, name: str) -> None:
    """Records a phase that ran from start to end, both of time.monotonic_ns(). The phases of a thread
    are recorded in the order in which they end."""
    gate = _gate
    if gate.off and (not gate.seeking or _is_alone(gate, end_ns)):
        return
    try:
        ring = gate.local.ring
        if ring is None or end_ns >= gate.due:
            ring = gate.ring(end_ns)
            if ring is None:
                return
        if not ring.start:
            if not ring.fresh:
                return  # the step began before anybody looked
            ring.start = start_ns
        ring.put(start_ns, end_ns, _PHASES.get(name, _OTHER))
    except Exception as problem:
        let_through(problem)


def step(number: Optional[int] = None) -> None:
    """Ends a step of the training, and begins the next one. Call it once in each iteration.

    Steps are numbered from 0; give `number` to go on after a checkpoint: it is that of the step
    that ends. The first step begins with the first phase, or else with the first call. What comes
    after the last call is not a step. Only the first thread that calls it counts steps.
    """
    _gate.by_hand = True
    _end_step(monotonic_ns(), number)


def end_step(end_ns: int) -> None:
    """Ends a step that the script did not mark. Nothing happens once it has called `step` itself."""
    if not _gate.by_hand:
        _end_step(end_ns, None)


def _end_step(end_ns: int, number: Optional[int]) -> None:
    gate = _gate
    if gate.off and (not gate.seeking or _is_alone(gate, end_ns)):
        return
    try:
        ring = gate.local.ring
        if ring is not None and ring.was_called():
            gate.due = 0
        if ring is None or end_ns >= gate.due:
            ring = gate.ring(end_ns)
            if ring is None:
                return
        if ring.end_step(end_ns, number):
            if gate.at_step:
                _tell_step(gate, ring, end_ns)
            if gate.at_window:
                gate.at_window((ring.number - 1) & _wire.STEP_MASK)
    except Exception as problem:
        let_through(problem)


def _tell_step(gate: Gate, ring: Ring, end_ns: int) -> None:
    """Tells whoever has to know that a step ended."""
    number = (ring.number - 1) & _wire.STEP_MASK
    if gate.untimed > 0:
        gate.untimed -= 1
        ring.put_gpu_time(end_ns, -1, _wire.GPU_IDLE, number)
    elif gate.at_step:
        gate.at_step(number, end_ns)


def gpu_time(start_ns: int, length_ns: int, name: int, number: int) -> None:
    """Records a time by the GPU's clock of the step with this number, which ended: the index of a phase, or GPU_IDLE. A
    negative length is not known."""
    gate = _gate
    if gate.off:
        return
    try:
        ring = gate.local.ring
        if ring is not None:
            ring.put_gpu_time(start_ns, length_ns, name, number)
    except Exception as problem:
        let_through(problem)


def metric(name: str, value: float) -> None:
    """Sets a custom metric of this rank: ``metric("samples_per_second", 1480)``.

    The job has it as user.NAME of the device rank0, rank1, ...: at each tick of the agent (half a second)
    the value that was set last, and nothing where none was set since the tick before. The unit is
    yours to put into the name. A name is 1 to 58 letters, digits, "_" and "."; a process has at most
    64. Other names, and values that are no finite numbers, are left out and counted in info(). A
    tensor on a GPU is waited for, as by float().
    """
    if _gate.off and (not _gate.seeking or _is_alone(_gate, monotonic_ns())):
        return
    try:
        number = ldexp(value, 0)  # as the extension converts it: no str, and what it raises comes through
        if number - number:
            raise ValueError("not finite")
        (bits,) = _WORD.unpack(_DOUBLE.pack(number))
    except Exception as problem:
        let_through(problem)
        _gate.refused += 1
        return
    gate = _gate
    if gate.off:
        return
    try:
        now = monotonic_ns()
        ring = gate.local.ring
        if ring is None or now >= gate.due:
            ring = gate.ring(now)
            if ring is None:
                return
        name = name if type(name) is str else _spoken(name)
        named = gate.metrics.get(name)
        if named is None:
            named = gate.metric(name, now)
        if named:
            ring.put(now, now, _METRIC | named << 48, bits)
    except Exception as problem:
        let_through(problem)


def annotation_begin(name: str) -> annotate:
    """Begins an annotation that ends in another function; give the token to annotation_end."""
    token = annotate(name)
    token.__enter__()
    return token


def annotation_end(token: Any) -> None:
    """Ends what annotation_begin began. Anything else, and a second end, is ignored."""
    if isinstance(token, annotate):
        token.__exit__()
        token._start = 0
