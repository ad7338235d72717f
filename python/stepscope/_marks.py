"""The marks that a training script makes. No exception leaves this file but the script's own."""

from __future__ import annotations

import atexit
import functools
import os
from time import monotonic_ns
from typing import Any, Callable, Dict, Generic, Iterable, Iterator, Optional, TypeVar, Union, cast

from . import _wire
from ._session import Session

_F = TypeVar("_F", bound=Callable[..., Any])
_T = TypeVar("_T")

_session = Session()
_ANNOTATION = _wire.ANNOTATION_MARK << 32
_PHASES = {name: _wire.PHASE_MARK << 32 | i << 48 for i, name in enumerate(_wire.PHASES)}
_OTHER = _PHASES["other"]
notes: Dict[str, str] = {}  # what `info` says besides
_COROUTINE, _GENERATOR, _ASYNC_GENERATOR = 0x80, 0x20, 0x200  # of a code object's flags


class _Span:
    """What `with` and `@` need; the two kinds differ in what they record."""

    __slots__ = ("_name", "_start")

    def __init__(self, name: str) -> None:
        self._name = name

    def __enter__(self) -> "_Span":
        self._start = monotonic_ns()
        return self

    def __exit__(self, kind: object = None, value: object = None, trace: object = None) -> None:
        raise NotImplementedError

    def __call__(self, function: _F) -> _F:
        kind, name = type(self), self._name
        code_flags = getattr(getattr(function, "__code__", None), "co_flags", 0)
        if code_flags & _ASYNC_GENERATOR:
            return function  # its time is its consumer's, too
        if code_flags & _COROUTINE:

            async def wait(*args: Any, **named: Any) -> Any:
                with kind(name):
                    return await function(*args, **named)

            return cast(_F, functools.wraps(function)(wait))
        if code_flags & _GENERATOR:
            return function

        def call(*args: Any, **named: Any) -> Any:
            with kind(name):
                return function(*args, **named)

        return cast(_F, functools.wraps(function)(call))


class annotate(_Span):
    """Times a stretch of code under a name: ``with annotate("augment"):`` or ``@annotate("collate")``.

    The job's page shows count, sum, least and most (seconds) for each name. A process has at most
    511 names; all others become "(other)". As a decorator it times each call; generator functions
    are left as they are.
    """

    __slots__ = ()

    def __exit__(self, kind: object = None, value: object = None, trace: object = None) -> None:
        span(self._start, monotonic_ns(), self._name)


def span(start_ns: int, end_ns: int, name: str) -> None:
    """Records an annotation that ran from start to end, both of time.monotonic_ns()."""
    session = _session
    if session.off:
        return
    try:
        ring = session.local.ring
        if ring is None or end_ns >= session.due:
            ring = session.ring(end_ns)
            if ring is None:
                return
        number = session.ids.get(name)
        if number is None:
            number = session.name(name, end_ns)
        ring.put(start_ns, end_ns, _ANNOTATION | number << 48)
    except Exception:
        pass


class phase(_Span):
    """Times a part of the step: data, transfer, forward, loss, backward, communication, optimizer,
    callback, checkpoint or other; any other word counts as other.

    The agent adds the time (ns) to this phase of the step in which it ends. A phase inside another
    one is not counted twice.
    """

    __slots__ = ()

    def __exit__(self, kind: object = None, value: object = None, trace: object = None) -> None:
        record(self._start, monotonic_ns(), self._name)


def record(start_ns: int, end_ns: int, name: str) -> None:
    """Records a phase that ran from start to end, both of time.monotonic_ns(). Those of a thread are
    recorded in the order in which they end."""
    session = _session
    if session.off:
        return
    try:
        ring = session.local.ring
        if ring is None or end_ns >= session.due:
            ring = session.ring(end_ns)
            if ring is None:
                return
        if not ring.start and ring.fresh:
            ring.start = start_ns
        ring.put(start_ns, end_ns, _PHASES.get(name, _OTHER))
    except Exception:
        pass


def step(number: Optional[int] = None) -> None:
    """Ends a step of the training, and begins the next one. Call it once in each iteration.

    Steps are numbered from 0; give `number` to go on after a checkpoint: it is that of the step
    that ends. The first step begins with the first phase, or else with the first call. What comes
    after the last call is not a step. Only the first thread that calls it counts steps.
    """
    _session.by_hand = True
    _end_step(monotonic_ns(), number)


def end_step(end_ns: int) -> None:
    """Ends a step that the script did not mark. Nothing happens once it has called `step` itself."""
    if not _session.by_hand:
        _end_step(end_ns, None)


def _end_step(end_ns: int, number: Optional[int]) -> None:
    session = _session
    if session.off:
        return
    try:
        ring = session.local.ring
        if ring is None or end_ns >= session.due:
            ring = session.ring(end_ns)
            if ring is None:
                return
        ring.end_step(end_ns, number)
    except Exception:
        pass


def skip(duration_ns: int) -> None:
    """The open step stood still for so long: its wall time will not contain it."""
    ring = _session.local.ring
    if ring is not None and ring.start and not _session.by_hand:
        ring.start += duration_ns


def add_facts(facts: Dict[str, str]) -> None:
    """Tells the agent what is worth knowing once; it hears of it with one of the next marks."""
    if not _session.off:
        _session.add_facts(facts)


def annotation_begin(name: str) -> annotate:
    """Begins an annotation that ends in another function; give the token to annotation_end."""
    token = annotate(name)
    token.__enter__()
    return token


def annotation_end(token: Any) -> None:
    """Ends what annotation_begin began. Anything else, and a second end, is ignored."""
    if isinstance(token, annotate) and hasattr(token, "_start"):
        token.__exit__()
        del token._start


class loader(Generic[_T]):
    """Wraps what a training iterates over, so that its wait for each next batch is phase data.

    ``for batch in stepscope.loader(batches):`` gives the same batches in the same order. It has
    the length and the attributes of what it wraps, can be iterated as often, and keeps no batch
    alive.
    """

    def __init__(self, iterable: Iterable[_T]) -> None:
        self._wrapped = iterable
        _note_settings(iterable)

    def __iter__(self) -> Iterator[_T]:
        return _Waits(iter(self._wrapped))

    def __len__(self) -> int:
        return len(self._wrapped)  # type: ignore[arg-type]

    def __bool__(self) -> bool:
        return bool(self._wrapped)

    def __getattr__(self, name: str) -> Any:
        if name == "_wrapped":  # while it is copied or unpickled
            raise AttributeError(name)
        return getattr(self._wrapped, name)


class _Waits(Generic[_T]):
    __slots__ = ("_next",)

    def __init__(self, iterator: Iterator[_T]) -> None:
        self._next = iterator.__next__

    def __iter__(self) -> "_Waits[_T]":
        return self

    def __next__(self) -> _T:
        if _session.off:
            return self._next()
        start = monotonic_ns()
        try:
            return self._next()
        finally:
            record(start, monotonic_ns(), "data")


def _note_settings(iterable: object) -> None:
    """Tells the agent the settings that a data loader shows as plain numbers."""
    if _session.off:
        return
    try:
        facts: Dict[str, str] = {}
        for name in ("num_workers", "batch_size", "prefetch_factor", "pin_memory"):
            value = getattr(iterable, name, None)
            if type(value) in (int, bool):
                facts["loader_" + name] = str(value)
        if facts:
            add_facts(facts)
    except Exception:
        pass


def info() -> Dict[str, Union[str, int, bool]]:
    """What this library does in this process: whether it is enabled and connected, and why not; the
    form it runs in; how many marks were dropped because the agent did not fetch them."""
    try:
        return {**_session.info(), **notes}
    except Exception as problem:
        return {"enabled": False, "reason": str(problem)}


def _begin_child() -> None:
    """A forked child shares nothing with its parent's session and registers anew when it marks."""
    global _session
    try:
        _session.abandon()
        _session = Session()
    except Exception:
        pass


if not _session.off:
    os.register_at_fork(after_in_child=_begin_child)
    atexit.register(lambda: _session.bye())
