"""The calls that each step makes, timed: functions to be put in the place of others.

What is said of them here holds for the C extension (python/native/watch.c), which has the same ones; the tests run
with both. What torch.compile may read stays a function of Python, that shows it the call which is watched.
"""

from __future__ import annotations

from threading import get_ident
from time import monotonic_ns
from typing import Any, Callable, Optional

from .. import _marks
from .._calm import let_through
from .._form import marks
from ._compile import compiling, never, readers
from ._flow import Flow
from ._frames import leave, unseen

SETTINGS = "_stepscope_settings"  # an attribute of a loader's iterator, so that it goes with it

_watch: Optional[Callable[..., Any]] = marks.watch
_WAIT, _COMPUTE, _GO_BACK, _STEP = range(4)  # for the C extension


def tell(what: Callable[..., Any], *seen: Any) -> None:
    """Calls a method of the flow. A fault of ours is none of the training's."""
    try:
        what(*seen)
    except Exception as problem:
        let_through(problem)
        _marks.notes["hooks_fault"] = repr(problem)


def begin_edge(flow: Flow, phase: str, gradients: bool) -> Optional[Callable[[Optional[str], bool], bool]]:
    """Tells the GPU's clock that a call begins. Returns what is to hear of its end, where that times it."""
    edge = flow.edge
    return edge if edge is not None and edge(phase, gradients) else None


@unseen
def waiting(flow: Flow, original: Any, gradients: Any) -> Any:
    """An iterator's `__next__`: the wait for a batch."""
    if _watch:
        return _watch(_WAIT, flow, original, gradients, "data", None, None)

    def __next__(self: Any) -> Any:
        if get_ident() != flow.owner:
            flow.elsewhere += 1
            return original(self)
        if flow.inside:
            return original(self)
        over = True
        start = monotonic_ns()
        flow.inside = True
        try:
            batch = original(self)
            over = False
            return batch
        finally:
            flow.inside = False
            end = monotonic_ns()
            tell(waited, self, start, end, over)

    def waited(self: Any, start: int, end: int, over: bool) -> None:
        trains = gradients()
        if not over:
            flow.loader = getattr(self, SETTINGS, None)
            if trains:
                flow.unfed = flow.elsewhere = 0
                if flow.hungry:
                    flow.fed()
        flow.waited(start, end, trains, over)

    return __next__


@unseen
def computing(flow: Flow, own: Any, torch: Any, phase: str, kind: Any) -> Any:
    """The `__call__` of a module's class. What the class has by inheritance (`own` is None) is looked up at each
    call: others may have replaced it since."""
    gradients, reading = torch.is_grad_enabled, compiling(torch)
    if _watch and own is None:
        watch = _watch(_COMPUTE, flow, None, gradients, phase, kind, _behind(kind))
        if reading is never:
            return watch

        def __call__(module: Any, *args: Any, **named: Any) -> Any:
            if readers and reading():
                return super(kind, module).__call__(*args, **named)
            try:
                return watch(module, *args, **named)
            except BaseException as problem:
                leave(problem)
                raise

        return __call__

    def call_timed(module: Any, *args: Any, **named: Any) -> Any:
        call = super(kind, module).__call__ if own is None else own.__get__(module)
        if readers and reading():
            return call(*args, **named)
        try:
            if flow.inside or get_ident() != flow.owner:
                return call(*args, **named)
            trains = gradients()
            edge = begin_edge(flow, phase, trains)
            start = monotonic_ns()
            flow.inside = True
            try:
                return call(*args, **named)
            finally:
                flow.inside = False
                end = monotonic_ns()
                if edge:
                    edge(None, True)
                tell(flow.computed, start, end, phase, trains)
        except BaseException as problem:
            leave(problem)
            raise

    return call_timed


def computing_once(flow: Flow, original: Any, torch: Any, phase: str) -> Any:
    """The `__call__` of a module, for a call that torch.compile does not read."""
    if _watch:
        return _watch(_COMPUTE, flow, original, torch.is_grad_enabled, phase, None, None)
    return computing(flow, original, torch, phase, None)


def _behind(kind: type) -> Optional[type]:
    """The class whose attributes are those of super(kind, object), for an object of this very class."""
    behind = kind.__mro__[1]
    return behind if behind.__mro__ == kind.__mro__[1:] else None


@unseen
def going_back(flow: Flow, original: Any) -> Any:
    """A backward pass."""
    if _watch:
        return _watch(_GO_BACK, flow, original, None, "backward", None, None)

    def backward(*args: Any, **named: Any) -> Any:
        if flow.inside:
            return original(*args, **named)
        edge = begin_edge(flow, "backward", True)
        start = monotonic_ns()
        flow.backing = get_ident()
        flow.inside = True
        try:
            return original(*args, **named)
        finally:
            flow.inside = False
            flow.backing = 0
            end = monotonic_ns()
            if edge:
                edge(None, True)
            tell(flow.went_back, start, end)

    return backward


@unseen
def stepping(flow: Flow, original: Any, torch: Any) -> Any:
    """An optimizer's `step`. Only the outermost one counts: some optimizers are made of others."""
    reading = compiling(torch)
    watch = _watch and _watch(_STEP, flow, original, None, "optimizer", None, None)
    if watch and reading is never:
        return watch

    def step(self: Any, *args: Any, **named: Any) -> Any:
        if readers and reading():
            return original(self, *args, **named)
        try:
            return call(self, *args, **named)
        except BaseException as problem:
            leave(problem)
            raise

    def timed(self: Any, *args: Any, **named: Any) -> Any:
        if flow.stepping:
            return original(self, *args, **named)
        edge = begin_edge(flow, "optimizer", True)
        start = monotonic_ns()
        flow.stepping = True
        try:
            done = original(self, *args, **named)
        finally:
            flow.stepping = False
            end = monotonic_ns()
            if edge:
                edge(None, True)
        tell(flow.stepped, start, end, self)
        return done

    call = watch or timed
    return step
