"""The marks that a training script makes. No exception leaves this file but the script's own."""

from __future__ import annotations

import atexit
import os
from time import monotonic_ns
from ._calm import let_through
from ._form import marks
from ._session import Session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, Iterable, Iterator, TypeVar, Union
    from typing import Generic as _Of

    _T = TypeVar("_T")
else:
    _T = None

    class _Of:
        """In place of typing.Generic, which takes longer to import than all of this package."""

        __slots__ = ()

        def __class_getitem__(cls, item):
            return cls

_session = Session()
notes: Dict[str, str] = {}  # what `info` says besides

annotate = marks.annotate
annotation_begin = marks.annotation_begin
annotation_end = marks.annotation_end
end_step = marks.end_step
metric = marks.metric
phase = marks.phase
record = marks.record
span = marks.span
step = marks.step


def adopt(session: Session) -> None:
    """Lets all marks go through this session from now on."""
    global _session
    _session = session
    marks.use(session)


def skip(duration_ns: int, by_hand: bool = False) -> None:
    """The open step stood still for so long: its wall time will not contain it. A step that `step` ends
    is left alone unless `by_hand`."""
    ring = _session.local.ring
    if ring is not None and ring.start and _session.by_hand is by_hand:
        ring.start += duration_ns


def add_facts(facts: Dict[str, str]) -> None:
    """Tells the agent what is worth knowing once; it hears of it with one of the next marks."""
    if not _session.off or _session.seeking:
        _session.add_facts(facts)


class loader(_Of[_T]):
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


class _Waits(_Of[_T]):
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
    if _session.off and not _session.seeking:
        return
    try:
        facts: Dict[str, str] = {}
        for name in ("num_workers", "batch_size", "prefetch_factor", "pin_memory"):
            value = getattr(iterable, name, None)
            if type(value) in (int, bool):
                facts["loader_" + name] = str(value)
        if facts:
            add_facts(facts)
    except Exception as problem:
        let_through(problem)


def info() -> Dict[str, Union[str, int, bool]]:
    """What this library does in this process: whether it is enabled and connected, and why not; the
    form it runs in; how many marks were dropped because the agent did not fetch them, and how many metrics
    were refused because of their name or value."""
    try:
        return {**_session.info(), **notes}
    except Exception as problem:
        let_through(problem)
        return {"enabled": False, "reason": str(problem)}


def _begin_child() -> None:
    """A forked child shares nothing with its parent's session and registers anew when it marks."""
    try:
        _session.abandon()
        adopt(Session())
    except Exception as problem:
        let_through(problem)


if not _session.off or _session.seeking:
    marks.use(_session)
    os.register_at_fork(after_in_child=_begin_child)
    atexit.register(lambda: _session.bye())
